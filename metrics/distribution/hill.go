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
	Against           []string `json:"against,omitempty" help:"groups that the others are compared with, values of several columns joined with /; empty = all"`
	metrics.Intervals `resamples:"200"`
}

// hillRow is a row of the result of [HillNumbers].
type hillRow struct {
	Group    metrics.Group
	Category string           `column:"category" help:"the column of the categories"`
	Order    string           `column:"order"`
	At       string           `column:"at" help:"size, coverage or infinity"`
	Interval string           `column:"interval" help:"kind of the intervals"`
	Hill     metrics.Estimate `column:"hill" unit:"effective categories" range:"[1, ∞)"`
	Compared
	Coverage   float64 `column:"coverage" unit:"share of the population" range:"[0, 1]" help:"estimated, of n_each images"`
	Categories int     `column:"n_categories" unit:"categories"`
	Used       int     `column:"n_used" unit:"images" help:"images with a category"`
	Missing    int     `column:"n_missing" unit:"images" help:"images without a category"`
}

var hillNumbers = metrics.Define(metrics.Definition[HillOptions, hillRow]{
	Name: "hill-numbers", Version: 1,
	Inputs: []metrics.Input{{Role: "in", About: "a row for each image, with a category"}},
	Title:  "effective number of categories (Hill numbers) by group, at equal n or coverage, with intervals",
	Unit:   "effective categories", Range: "[1, ∞)", Direction: "higher is more diverse",
	Citation: "Hill 1973; Chao and Jost 2012; Chao et al. 2014",
	Compute:  computeHill,
})

// HillNumbers is the metric hill-numbers: the effective number of categories (answers to a question, clusters,
// labels) of the images of each group, a row for each order: 0 the number of categories, 1 exp(−Σ p log p), 2 1/Σ
// p². All grow with the number of images, the more so the lower the order; At selects how groups are compared:
//
//   - "size": at N images each, by default those of the smallest group: the exact mean of repeated sampling without
//     replacement ([Abundances.At]). Larger N extrapolate, reliably up to twice a group's images.
//   - "coverage": at equal estimated coverage, the share of the population whose category was seen
//     ([Abundances.AtCoverage]). Unlike equal n this is fair to groups with more categories.
//   - "infinity": estimated for infinitely many images ([Abundances.Infinity]), which does not grow with n. Of order 0
//     it is a lower bound.
//
// Without intervals (Resamples -1), N and At the value is that of all images. Intervals are from samples of the
// estimated population ([Abundances.Population]), centered and on the scale of the logarithm; they contain the
// value. For fewer than 50 images, which often miss categories without a sign of it, and for order 0, the upper end
// is at least the largest number of equally likely categories, and the number with one more category, that the
// images do not exclude; it is blank where there is none, as if all images differ.
func HillNumbers(images datasets.Table, options ...HillOptions) datasets.Table {
	return hillNumbers.Of(images, options...)
}

func computeHill(_ context.Context, call *metrics.Call, o HillOptions) (out []hillRow, err error) {
	switch {
	case o.N > 0 && o.At != "size":
		return nil, fmt.Errorf("option n is for at=size, not at=%s", o.At)
	case o.Coverage > 0 && o.At != "coverage":
		return nil, fmt.Errorf("option coverage is for at=coverage, not at=%s", o.At)
	}
	in := tabular.Read(call, "in")
	texts, groups := in.Texts(o.Column), in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	samples, size, coverage := make([]Abundances, len(groups)), math.MaxInt, 1.0
	var notes metrics.GroupNotes
	for i, g := range groups {
		counts, label := map[string]int{}, (&group{values: g.By}).label()
		for _, row := range g.Rows {
			counts[texts[row]]++
		}
		delete(counts, "")
		samples[i] = slices.Sorted(maps.Values(counts)) // the order of the rows does not matter
		if n := samples[i].Size(); n > 0 {
			size, coverage = min(size, n), min(coverage, samples[i].Coverage(2*n))
			if o.N > 2*n {
				notes.Add(fmt.Sprintf("extrapolated to %d images, more than twice those of the group", o.N), label)
			}
		} else {
			notes.Add("no image has a category", label)
		}
	}
	if o.Coverage > 0 {
		coverage = o.Coverage
	}
	for _, order := range o.Order {
		var results []*result
		for i, g := range groups {
			a, n := samples[i], samples[i].Size()
			r := &result{group: &group{values: g.By}, value: none, Scored: Scored{Compared: Compared{Gap: none, N: n}}}
			results = append(results, r)
			if o.At == "size" && o.N > 0 {
				r.N = o.N
			} else if o.At == "size" && o.Resamples > 0 && len(o.By) > 0 {
				r.N = min(n, size)
			}
			value, most := r.valueAt(o.At, a, order, coverage)
			row := hillRow{Group: g.By, Category: o.Column, Order: order, At: o.At, Coverage: math.NaN(),
				Categories: len(a), Used: n, Missing: len(g.Rows) - n}
			if n > 0 {
				row.Coverage = a.Coverage(r.N)
				if err := r.hill(o.Intervals, a, order, most, value); err != nil {
					return nil, err
				}
			}
			out = append(out, row)
		}
		if err := compare(results, o.By, o.Against, o.Level); err != nil {
			return nil, err
		}
		for i, r := range results {
			row := &out[len(out)-len(results)+i]
			row.Hill, row.Compared, row.Interval = r.value, r.Compared, r.interval
		}
	}
	notes.AddTo(call, o.By...)
	return out, nil
}

// valueAt returns what is computed of a sample, and the largest possible value.
func (r *result) valueAt(at string, a Abundances, order string, coverage float64) (of func(Abundances) float64,
	most float64) {
	switch {
	case at == "size":
		return func(a Abundances) float64 { return a.At(order, r.N) }, float64(r.N)
	case at == "coverage" && a.Size() > 0:
		_, n := a.AtCoverage(order, coverage)
		r.N = int(math.Round(n))
		return func(a Abundances) float64 { hill, _ := a.AtCoverage(order, coverage); return hill }, math.Inf(1)
	}
	return func(a Abundances) float64 { return a.Infinity(order) }, math.Inf(1)
}

// few is the number of images below which samples of the estimated population do not bound a Hill number from above.
const few = 50

// hill fills in a Hill number with its interval, from samples of the estimated population; most is the largest possible
// value.
func (r *result) hill(o metrics.Intervals, a Abundances, order string, most float64,
	value func(Abundances) float64) error {
	n, hill := a.Size(), value(a)
	if math.IsInf(hill, 1) {
		return nil
	}
	r.value = metrics.Exact(hill)
	if o.Resamples == 0 || n < 2 {
		return nil
	}
	rng, population, logs := tabular.Random(o.Seed, "hill\x00"+r.label()), a.Population(), make([]float64, o.Resamples)
	for i := range logs {
		logs[i] = math.Log(value(draw(rng, population, n)))
	}
	options := o.Bootstrap()
	options.Centered = !slices.Contains(logs, math.Inf(1)) // infinite values have no mean
	b, err := interval.NewBootstrap(options, n)
	if err != nil {
		return err
	}
	low, high := b.Ends(math.Log(hill), logs)
	low, high = max(1, min(hill, math.Exp(low))), max(hill, math.Exp(high))
	if n < few || order == "0" { // one more rare category can never be excluded
		high = max(high, a.bound(order, (1-o.Level)/2))
	}
	if high = min(high, most); math.IsInf(high, 1) {
		high = math.NaN()
	}
	r.value.Low, r.value.High, r.interval = low, high, o.Bootstrap().Label("the estimated population")
	return nil
}
