package distribution

import (
	"context"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// VendiOptions are the options of [VendiScore].
type VendiOptions struct {
	Vector   string   `json:"vector,omitempty" default:"full" help:"vector column"`
	Order    []string `json:"order,omitempty" default:"1" values:"0,1,2,inf" help:"orders of the Rényi entropy: the higher, the less rare kinds count"`
	Sampling `resamples:"200"`
}

// VendiRow is a row of the result of [VendiScore].
type VendiRow struct {
	Group    metrics.Group
	Vector   string           `column:"vector"`
	Order    string           `column:"order"`
	Interval string           `column:"interval" help:"kind of the intervals"`
	Vendi    metrics.Estimate `column:"vendi" unit:"effective images" range:"[1, n]"`
	Compared
	N        int `column:"n_each" unit:"images" help:"images in a score"`
	Used     int `column:"n_used" unit:"images" help:"images with a vector"`
	Unmasked int `column:"n_unmasked" unit:"images" help:"images without a vector"`
	Asked    int `column:"n_asked" unit:"images" help:"images requested"`
	Refused  int `column:"n_refused" unit:"images" help:"requests that the generator refused"`
}

var vendi = metrics.Define(metrics.Definition[VendiOptions, VendiRow]{
	Name: "vendi", Version: 1, Inputs: []metrics.Input{{Role: "in", About: "images with a vector"}},
	Title: "effective number of different images (Vendi score) by group, at equal n, with intervals",
	Unit:  "effective images", Range: "[1, n]", Direction: "higher is more diverse",
	Citation: "Friedman and Dieng 2023; Pasarkar and Dieng 2024",
	Compute:  computeVendi,
})

// VendiScore is the metric vendi: the [Vendi] score of the images of each group, a row for each order. With object_only
// or background_only as vector it is the diversity of objects or of backgrounds.
//
// The score grows with n: of any number of images it is at most n, and that of n images is a biased estimate of that of
// more. With intervals and By, groups are therefore compared at the n of the smallest one, as the mean over samples of
// n images (see [Sampling]); compare scores of different tables at equal N only.
func VendiScore(images datasets.Table, options ...VendiOptions) datasets.Table {
	return vendi.Of(images, options...)
}

func computeVendi(ctx context.Context, call *metrics.Call, o VendiOptions) (out []VendiRow, err error) {
	groups, vectors, err := gatherVectors(ctx, call, o.Sampling, o.Vector, "in")
	if err != nil {
		return nil, err
	}
	spectra := map[*group][][]float64{} // all orders have the same samples
	for _, order := range o.Order {
		results, err := o.run(ctx, call, groups, measure{name: "vendi", least: 1,
			within: interval.Range{Min: 1, Max: math.Inf(1)}, score: func(g *group) (scorer, error) {
				rows := pick(vectors["in"], g.generated.rows)
				return func(ctx context.Context, pairs []pair) ([]float64, error) {
					known := spectra[g]
					if known == nil {
						known = make([][]float64, len(pairs))
					}
					values, err := each(ctx, len(pairs), func(i int) (_ float64, err error) {
						if known[i] == nil {
							if known[i], err = spectrum(pick(rows, pairs[i].generated)); err != nil {
								return 0, err
							}
						}
						return effective(known[i], order), nil
					})
					spectra[g] = known
					return values, err
				}, nil
			}})
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			out = append(out, VendiRow{r.values, o.Vector, order, r.interval, r.value, r.Compared, r.n, r.used,
				r.unmasked, r.asked, r.refused})
		}
	}
	return out, nil
}

// Vendi returns the Vendi score of vectors, the effective number of different ones, in [1, n]: the exponential of the
// Rényi entropy of the eigenvalues λ of K/n, where K are the cosines:
//
//	order 0: the number of λ above 0    1: exp(−Σ λ log λ)    2: 1/Σ λ²    inf: 1/max λ
//
// A λ counts as above 0 from n·2⁻⁵² times the largest. (vendi-score counts what rounding leaves, too, so that its order 0
// is not the rank.) Errors: no rows, rows of unequal length, a vector of length 0, an unknown order.
func Vendi(rows [][]float32, order string) (float64, error) {
	switch order {
	case "0", "1", "2", "inf":
	default:
		return 0, fmt.Errorf("order is %q; it must be 0, 1, 2 or inf", order)
	}
	values, err := spectrum(rows)
	return effective(values, order), err
}

// spectrum returns the eigenvalues above 0 of K/n.
func spectrum(rows [][]float32) ([]float64, error) {
	if _, err := (Vectors{rows, rows}).check(1); err != nil {
		return nil, err
	}
	n, d := len(rows), len(rows[0])
	units := mat.NewDense(n, d, nil)
	for i, v := range rows {
		unit, reason := tabular.Unit(v)
		if reason != "" {
			return nil, fmt.Errorf("vector %d: %s", i+1, reason)
		}
		units.SetRow(i, unit)
	}
	k := mat.NewSymDense(min(n, d), nil)
	if n <= d {
		gram(k, 1/float64(n), units)
	} else {
		gram(k, 1/float64(n), units.T())
	}
	values, err := eigenvalues(k)
	if err != nil {
		return nil, err
	}
	least := floats.Max(values) * float64(n) * 0x1p-52
	above := values[:0]
	for _, v := range values {
		if v > least {
			above = append(above, v)
		}
	}
	return above, nil
}

// effective returns the effective number of a distribution.
func effective(p []float64, order string) float64 {
	if len(p) == 0 {
		return math.NaN()
	}
	sum := 0.0
	switch order {
	case "0":
		return float64(len(p))
	case "2":
		return 1 / floats.Dot(p, p)
	case "inf":
		return 1 / floats.Max(p)
	}
	for _, x := range p {
		sum -= x * math.Log(x)
	}
	return math.Exp(sum)
}
