package significance

import (
	"cmp"
	"context"
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
