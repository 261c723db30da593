package distribution

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// HillOptions are the options of [HillNumbers].
type HillOptions struct {
	Column            string   `json:"column,omitempty" required:"true" help:"text column of the categories: answers, clusters, labels; blank = none"`
	By                []string `json:"by,omitempty" help:"text columns that define the groups"`
	Order             []string `json:"order,omitempty" default:"1" values:"0,1,2" help:"orders: 0 number of categories, 1 exponential of the entropy, 2 inverse Simpson concentration"`
	At                string   `json:"at,omitempty" default:"size" values:"size,coverage,infinity" help:"compare groups at equal numbers of images, at equal coverage of the population, or as estimated for infinitely many images"`
	N                 int      `json:"n,omitempty" min:"0" help:"number of images; 0 = all, and with intervals as many in every group as the smallest has"`
	Coverage          float64  `json:"coverage,omitempty" min:"0" max:"<1" help:"coverage; 0 = the least of the groups at twice their number of images"`
	Against           []string `json:"against,omitempty" help:"groups that the others are compared with; empty = all"`
	metrics.Intervals `resamples:"200"`
}

// HillRow is a row of the result of [HillNumbers].
type HillRow struct {
	Group    metrics.Group
	Category string           `column:"category" help:"the column of the categories"`
	Order    string           `column:"order"`
	At       string           `column:"at" help:"size, coverage or infinity"`
	Interval string           `column:"interval" help:"kind of the intervals"`
	Hill     metrics.Estimate `column:"hill" unit:"effective categories" range:"[1, ∞)"`
	Compared
	Coverage   float64 `column:"coverage" unit:"share of the population" range:"[0, 1]" help:"estimated, at n_each"`
	N          float64 `column:"n_each" unit:"images" help:"images that the Hill number refers to; blank = infinitely many"`
	Categories int     `column:"n_categories" unit:"categories"`
	Used       int     `column:"n_used" unit:"images" help:"images with a category"`
	Missing    int     `column:"n_missing" unit:"images" help:"images without a category"`
}

var hillNumbers = metrics.Define(metrics.Definition[HillOptions, HillRow]{
	Name: "hill-numbers", Version: 1, Inputs: []metrics.Input{{Role: "in", About: "a row for each image, with a category"}},
	Title: "effective number of categories (Hill numbers) by group, at equal n or coverage, with intervals",
	Unit:  "effective categories", Range: "[1, ∞)", Direction: "higher is more diverse",
	Citation: "Hill 1973; Chao and Jost 2012; Chao et al. 2014",
	Compute:  computeHill,
})

// HillNumbers is the metric hill-numbers: the effective number of categories (answers to a question, clusters, labels) of
// the images of each group, a row for each order:
//
//	order 0: number of categories    1: exp(−Σ p log p)    2: 1/Σ p²
//
// All grow with the number of images, the more so the lower the order; At selects how groups are compared:
//
//   - "size": at N images each, by default those of the smallest group: the exact mean of repeated sampling without
//     replacement ([Abundances.At]). Larger N extrapolate, reliably up to twice a group's images.
//   - "coverage": at equal estimated coverage, the share of the population whose category was seen
//     ([Abundances.AtCoverage]). Unlike equal n this is fair to groups with more categories.
//   - "infinity": estimated for infinitely many images ([Abundances.Infinity]), which does not grow with n. Of order 0
//     it is a lower bound.
//
// Without intervals (Resamples -1) and At the value is that of all images. Intervals are from samples of the estimated
// population ([Abundances.Population]), centered and on the scale of the logarithm. They contain the value. For fewer
// than 50 images, which often miss categories without a sign of it, and for order 0, the upper end is at least the largest
// number of equally likely categories, and the number with one more category, that the images do not exclude; it is blank
// where there is none, as if all images differ. TestCalibrationOfHillNumbers counts how often 95 % intervals of the
// estimate for infinitely many images contain the known number of five populations (4 to 12 categories, equal and not):
//
//	n             5          10         20         50         200
//	At infinity   93–100 %   89–100 %   89–100 %   91–100 %   94–100 %
//	plain         0–79 %     0–89 %     18–95 %    47–98 %    74–100 %
func HillNumbers(images datasets.Table, options ...HillOptions) datasets.Table {
	return hillNumbers.Of(images, options...)
}

func computeHill(_ context.Context, call *metrics.Call, o HillOptions) (out []HillRow, err error) {
	in := tabular.Read(call, "in")
	texts, groups := in.Texts(o.Column), in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	samples, missing := make([]Abundances, len(groups)), make([]int, len(groups))
	size, coverage := math.MaxInt, 1.0
	for i, g := range groups {
		counts := map[string]int{}
		for _, row := range g.Rows {
			if text := texts[row]; text != "" {
				counts[text]++
			} else {
				missing[i]++
			}
		}
		samples[i] = slices.Sorted(maps.Values(counts)) // the order of the rows does not matter
		if n := samples[i].Size(); n > 0 {
			size, coverage = min(size, n), min(coverage, samples[i].Coverage(2*n))
		}
	}
	if o.N > 0 {
		size = o.N
	}
	if o.Coverage > 0 {
		coverage = o.Coverage
	}
	var notes metrics.GroupNotes
	noted := map[string]bool{}
	note := func(text string, r *result) { // once, not for each order
		if !noted[text+r.label()] {
			notes.Add(text, r.label())
		}
		noted[text+r.label()] = true
	}
	for _, order := range o.Order {
		results := make([]*result, len(groups))
		for i, g := range groups {
			a, none := samples[i], metrics.Exact(math.NaN())
			r := &result{group: &group{values: g.By}, value: none, Compared: Compared{Gap: none}}
			results[i] = r
			row := HillRow{Group: g.By, Category: o.Column, Order: order, At: o.At, Coverage: math.NaN(), N: math.NaN(),
				Categories: len(a), Used: a.Size(), Missing: missing[i]}
			n := a.Size()
			r.n = n
			if n == 0 {
				note("no image has a category", r)
				out = append(out, row)
				continue
			}
			m := size
			if o.N == 0 && (o.Resamples == 0 || len(o.By) == 0) {
				m = n
			}
			if o.At == "size" && m > 2*n {
				note(fmt.Sprintf("extrapolated to %d images, more than twice those of the group", m), r)
			}
			value := func(a Abundances) (hill, size float64) {
				switch o.At {
				case "size":
					return a.At(order, m), float64(m)
				case "coverage":
					return a.AtCoverage(order, coverage)
				}
				return a.Infinity(order), math.NaN()
			}
			hill, at := value(a)
			row.N, row.Coverage = at, 1
			if !math.IsNaN(at) {
				row.Coverage = a.Coverage(int(math.Round(at)))
			}
			most := math.Inf(1)
			if o.At == "size" {
				most = float64(m)
			}
			if r.value, err = r.resample(o.Intervals, a, order, hill, most, value); err != nil {
				return nil, err
			}
			if math.IsNaN(hill) {
				note("no estimate: no two images share a category", r)
			}
			out = append(out, row)
		}
		if err := compare(results, o.By, o.Against, o.Level); err != nil {
			return nil, err
		}
		for i, r := range results {
			row := &out[len(out)-len(results)+i]
			row.Hill, row.Compared = r.value, r.Compared
			if !math.IsNaN(r.value.Low) {
				row.Interval = o.Bootstrap().Label("the estimated population")
			}
		}
	}
	notes.AddTo(call, o.By...)
	return out, nil
}

// resample returns the Hill number with its interval, from samples of the estimated population; most is the largest
// possible value.
func (r *result) resample(o metrics.Intervals, a Abundances, order string, hill, most float64,
	value func(Abundances) (hill, size float64)) (metrics.Estimate, error) {
	e, n := metrics.Exact(hill), a.Size()
	if o.Resamples == 0 || n < 2 || math.IsNaN(hill) {
		return e, nil
	}
	rng, population := tabular.Random(o.Seed, "hill\x00"+r.label()), a.Population()
	var logs []float64
	for range o.Resamples {
		x, _ := value(draw(rng, population, n))
		if math.IsNaN(x) {
			x = math.Inf(1)
		}
		logs = append(logs, math.Log(x))
	}
	options := o.Bootstrap()
	options.Centered = !slices.Contains(logs, math.Inf(1)) // infinite values have no mean
	b, err := interval.NewBootstrap(options, n)
	if err != nil {
		return e, err
	}
	low, high := b.Ends(math.Log(hill), logs)
	e.Low, e.High = max(1, min(hill, math.Exp(low))), max(hill, math.Exp(high))
	if n < few || order == "0" { // one more rare category can never be excluded
		e.High = max(e.High, a.bound(order, (1-o.Level)/2))
	}
	if e.High = min(e.High, most); math.IsInf(e.High, 1) {
		e.High = math.NaN()
	}
	return e, nil
}
