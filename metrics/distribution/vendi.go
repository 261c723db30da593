package distribution

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"

	"gonum.org/v1/gonum/floats"
)

// VendiOptions are the options of [VendiScore].
type VendiOptions struct {
	Order    []string `json:"order,omitempty" default:"1" values:"0,1,2,inf" help:"orders of the Rényi entropy: the higher, the less rare kinds count"`
	Sampling `resamples:"200"`
}

// vendiRow is a row of the result of [VendiScore].
type vendiRow struct {
	Subject
	Order string           `column:"order"`
	Vendi metrics.Estimate `column:"vendi" unit:"effective images" range:"[1, n]"`
	Compared
	Used     int `column:"n_used" unit:"images" help:"images with a vector"`
	Unmasked int `column:"n_unmasked" unit:"images" help:"images without a vector"`
	Asked    int `column:"n_asked" unit:"images" help:"images requested"`
	Refused  int `column:"n_refused" unit:"images" help:"requests that the generator refused"`
}

var vendi = metrics.Define(metrics.Definition[VendiOptions, vendiRow]{
	Name: "vendi", Version: 2, // 1 had intervals that end above n
	Device: true, Inputs: []metrics.Input{{Role: "in", About: "images with a vector"}},
	Title: "effective number of different images (Vendi score) by group, at equal n, with intervals",
	Unit:  "effective images", Range: "[1, n]", Direction: "higher is more diverse",
	Citation: "Friedman and Dieng 2023; Pasarkar and Dieng 2024",
	Compute:  computeVendi,
})

// VendiScore is the metric vendi: the [Vendi] score of the images of each group, a row for each order. With object_only
// or background_only as vector it is the diversity of objects or of backgrounds.
//
// The score grows with n and is at most n. With intervals and By, groups are therefore compared at the n of the
// smallest one, as the mean over samples of n images; compare scores of different tables at equal N only.
func VendiScore(images datasets.Table, options ...VendiOptions) datasets.Table {
	return vendi.Of(images, options...)
}

func computeVendi(ctx context.Context, call *metrics.Call, o VendiOptions) (out []vendiRow, err error) {
	known := map[string][][]float64{} // by group: all orders have the same samples
	for i, order := range o.Order {
		if i == 1 { // notes are about the images, not about the order
			once := *call
			once.Note, once.Read, call = nil, nil, &once
		}
		m := measure{name: "vendi", least: 1, within: fromOne, most: true, score: func(g *group) (scorer, error) {
			return func(ctx context.Context, pairs []pair) ([]float64, error) {
				key := strings.Join(g.values, "\x00")
				if known[key] == nil {
					known[key] = make([][]float64, len(pairs))
				}
				return each(ctx, len(pairs), func(i int) (float64, error) {
					spectra, err := known[key], error(nil)
					if spectra[i] == nil {
						spectra[i], err = spectrum(pairs[i].of(g.vectors).Generated)
					}
					return effective(spectra[i], order), err
				})
			}, nil
		}}
		results, err := o.run(ctx, call, m, "in")
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			out = append(out, vendiRow{r.subject(o.Sampling), order, r.value, r.Compared, r.Used, r.Unmasked, r.Asked,
				r.Refused})
		}
	}
	return out, nil
}

// Vendi returns the Vendi score of vectors, the effective number of different ones, in [1, n]: the exponential of the
// Rényi entropy of the eigenvalues λ of K/n, where K are the cosines:
//
//	order 0: the number of λ above 0    1: exp(−Σ λ log λ)    2: 1/Σ λ²    inf: 1/max λ
//
// A λ counts as above 0 from n·2⁻⁵² times the largest. (vendi-score counts what rounding leaves, too: its order 0 is
// not the rank.) Errors: no rows, vectors of unequal length or with NaN, a vector of length 0, an unknown order.
func Vendi(rows [][]float32, order string) (float64, error) {
	if !slices.Contains([]string{"0", "1", "2", "inf"}, order) {
		return 0, fmt.Errorf("order is %q; it must be 0, 1, 2 or inf", order)
	}
	values, err := spectrum(rows)
	return effective(values, order), err
}

// spectrum returns the eigenvalues above 0 of K/n.
func spectrum(rows [][]float32) ([]float64, error) {
	if err := (Vectors{rows, rows}).check(1); err != nil {
		return nil, err
	}
	units := dense(rows)
	for i, v := range rows {
		unit, reason := tabular.Unit(v)
		if reason != "" {
			return nil, fmt.Errorf("vector %d: %s", i+1, reason)
		}
		units.SetRow(i, unit)
	}
	values, err := eigenvalues(gram(units, len(rows) > len(rows[0])))
	if err != nil {
		return nil, err
	}
	least := floats.Max(values) * float64(len(rows)) * 0x1p-52
	values = slices.DeleteFunc(values, func(x float64) bool { return x <= least })
	floats.Scale(1/float64(len(rows)), values)
	return values, nil
}

// effective returns the effective number of a distribution.
func effective(p []float64, order string) float64 {
	switch {
	case len(p) == 0:
		return math.NaN()
	case order == "0":
		return float64(len(p))
	case order == "2":
		return 1 / floats.Dot(p, p)
	case order == "inf":
		return 1 / floats.Max(p)
	}
	return math.Exp(entropy(p))
}
