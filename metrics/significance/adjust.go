package significance

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// AdjustOptions are the options of [AdjustP].
type AdjustOptions struct {
	P     string   `json:"p,omitempty" default:"p" help:"column of the p-values"`
	By    []string `json:"by,omitempty" help:"text columns that define the families; empty = the whole table"`
	Alpha float64  `json:"alpha,omitempty" default:"0.05" help:"adjusted p-value up to which a test is a finding"`
}

var adjustP = datasets.Define(datasets.Operation[AdjustOptions, struct{}]{
	Name: "adjust-p", Title: "p-values corrected for multiple tests", Version: 1,
	Citation: "Holm 1979; Benjamini and Hochberg 1995",
	Inputs:   []datasets.Input{{Role: "in", About: "a table with a column of p-values"}}, Frame: adjust,
})

// AdjustP returns the table with p_holm, p_bh, found_holm and found_bh (yes if at most Alpha) next to its column of
// p-values. A family of tests is a group of Options.By, or the whole table; n_tests is its size. Rows without a p-value
// are in no family. See [Holm] and [BenjaminiHochberg].
func AdjustP(t datasets.Table, options ...AdjustOptions) datasets.Table {
	return adjustP.Of(t, options...)
}

func adjust(_ context.Context, call *datasets.Call, o AdjustOptions) (*table.Frame, error) {
	in := tabular.Read(call, "in")
	f, p, groups := in.Frame, in.Numbers(o.P), in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	holm, bh, tests := slices.Repeat([]float64{math.NaN()}, f.Len()), slices.Repeat([]float64{math.NaN()}, f.Len()),
		make([]float64, f.Len())
	for row, v := range p {
		if v < 0 || v > 1 {
			return nil, tabular.BadRow(f, row, o.P, "%g is not a probability", v)
		}
	}
	for _, g := range groups {
		family := slices.DeleteFunc(g.Rows, func(row int) bool { return math.IsNaN(p[row]) })
		tested := make([]float64, len(family))
		for i, row := range family {
			tested[i] = p[row]
		}
		h, b, err := adjusted(tested)
		if err != nil {
			return nil, err
		}
		for i, row := range family {
			holm[row], bh[row], tests[row] = h[i], b[i], float64(len(family))
		}
	}
	found := func(p []float64) []string {
		out := make([]string, len(p))
		for i, v := range p {
			switch {
			case v <= o.Alpha:
				out[i] = "yes"
			case v > o.Alpha:
				out[i] = "no"
			}
		}
		return out
	}
	return f.With(table.NumberColumn("p_holm", holm), table.NumberColumn("p_bh", bh),
		table.TextColumn("found_holm", found(holm)), table.TextColumn("found_bh", found(bh)),
		table.NumberColumn("n_tests", tests)), nil
}

func adjusted(p []float64) (holm, bh []float64, err error) {
	holm, err1 := Holm(p)
	bh, err2 := BenjaminiHochberg(p)
	return holm, bh, cmp.Or(err1, err2)
}

// MeanOptions are the options of [ClusteredMeans].
type MeanOptions struct {
	Value string   `json:"value,omitempty" default:"value" help:"column of the values"`
	Over  string   `json:"over,omitempty" help:"column of denominators: Σ value / Σ over; empty = the mean"`
	By    []string `json:"by,omitempty" help:"text columns that define the groups"`
	Unit  string   `json:"unit,omitempty" help:"column of what is resampled, e.g. prompt_id; empty = rows"`
	metrics.Intervals
}

// MeanRow is a row of [ClusteredMeans].
type MeanRow struct {
	Group    metrics.Group
	Value    metrics.Estimate `column:"value"`
	Rows     int              `column:"n_rows" unit:"rows"`
	Units    int              `column:"n_units" unit:"units"`
	Missing  int              `column:"n_missing" unit:"rows" help:"rows without a value"`
	Interval string           `column:"interval"`
}

var clusteredMean = metrics.Define(metrics.Definition[MeanOptions, MeanRow]{
	Name: "clustered-mean", Title: "mean, or ratio of two sums, with an interval over whole units", Version: 2,
	Unit: "the values'", Range: "the values'", Direction: "none", Citation: "Efron and Tibshirani 1993",
	Inputs: input, Compute: clustered,
})

// ClusteredMeans is the metric clustered-mean: the mean of a column, or with Over the ratio Σ value / Σ over, for each
// group of Options.By, with a bootstrap interval that resamples whole units. With fewer than two units there is no
// interval.
func ClusteredMeans(t datasets.Table, options ...MeanOptions) datasets.Table {
	return clusteredMean.Of(t, options...)
}

func clustered(_ context.Context, call *metrics.Call, o MeanOptions) ([]MeanRow, error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	values, over, units := finiteNumbers(in, o.Value), finiteNumbers(in, o.Over), in.Texts(o.Unit)
	groups := in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	if over == nil {
		over = slices.Repeat([]float64{1}, len(values))
	}
	var rows []MeanRow
	for _, g := range groups {
		var numerators, denominators []float64
		var clusters []string
		for _, row := range g.Rows {
			if math.IsNaN(values[row]) || math.IsNaN(over[row]) {
				continue
			}
			numerators, denominators = append(numerators, values[row]), append(denominators, over[row])
			if units != nil {
				clusters = append(clusters, units[row])
			}
		}
		n := len(numerators)
		if units != nil {
			n = len(slices.Compact(slices.Sorted(slices.Values(clusters))))
		}
		v := metrics.Exact(finiteOrNaN(sum(numerators) / sum(denominators)))
		if o.Resamples > 0 && n > 1 {
			r, err := interval.BootstrapRatio(numerators, denominators, clusters, o.Bootstrap())
			if err != nil {
				return nil, fmt.Errorf("%s%w", prefix(g.By), err)
			}
			v = metrics.Estimate{Value: r.Value, Low: r.Low, High: r.High}
		}
		rows = append(rows, MeanRow{g.By, v, len(numerators), n, len(g.Rows) - len(numerators), o.Label(cmp.Or(o.Unit,
			"rows"))})
	}
	return rows, nil
}

// finiteOrNaN returns x, or NaN if it is infinite.
func finiteOrNaN(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// resampled returns a function of sums with its bootstrap interval.
func resampled(parts [][]float64, clusters []string, boot interval.BootstrapOptions,
	of func([]float64) float64) (metrics.Estimate, error) {
	r, err := interval.BootstrapOf(parts, clusters, of, boot)
	return metrics.Estimate{Value: r.Value, Low: r.Low, High: r.High}, err
}

// sums returns the rows' terms of two means: Σ a, number of a, Σ b, number of b. A unit of both groups is one cluster.
func sums(a, b sample, named bool) (parts [][]float64, clusters []string) {
	parts = make([][]float64, 4)
	for side, s := range []sample{a, b} {
		for _, u := range s.units {
			row := []float64{0, 0, 0, 0}
			row[2*side], row[2*side+1] = u.value, 1
			for p := range parts {
				parts[p] = append(parts[p], row[p])
			}
			if named {
				clusters = append(clusters, u.name)
			}
		}
	}
	return parts, clusters
}
