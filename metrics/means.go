package metrics

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
)

// MeanOptions are the options of [Means].
type MeanOptions struct {
	Value string   `json:"value,omitempty" default:"value" help:"column of the values"`
	Over  string   `json:"over,omitempty" help:"column of denominators: Σ value / Σ over; empty = the mean"`
	By    []string `json:"by,omitempty" help:"text columns that define the groups"`
	Unit  string   `json:"unit,omitempty" help:"column of what is resampled, e.g. prompt_id; empty = rows"`
	Intervals
}

// meanRow is a row of [Means].
type meanRow struct {
	Group    Group
	Value    Estimate `column:"value"`
	Rows     int      `column:"n_rows" unit:"rows"`
	Units    int      `column:"n_units" unit:"units"`
	Missing  int      `column:"n_missing" unit:"rows" help:"rows without a value"`
	Interval string   `column:"interval"`
}

var clusteredMean = Define(Definition[MeanOptions, meanRow]{
	Name: "clustered-mean", Title: "mean, or ratio of two sums, with an interval over whole units", Version: 3,
	Unit: "the values'", Range: "the values'", Direction: "none", Citation: "Efron and Tibshirani 1993",
	Inputs: []Input{{Role: "in", About: "a row for each value, with a column of numbers"}}, Compute: computeMeans,
})

// Means is the metric clustered-mean: the mean of a column, or with Over the ratio Σ value / Σ over, for each group of
// Options.By, with a bootstrap interval that resamples whole units. With fewer than two units there is no interval.
func Means(t datasets.Table, options ...MeanOptions) datasets.Table {
	return clusteredMean.Of(t, options...)
}

func computeMeans(_ context.Context, call *Call, o MeanOptions) (out []meanRow, err error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	values, over, units := in.Numbers(o.Value), in.Numbers(o.Over), in.Texts(o.Unit)
	groups := in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	for _, c := range []struct {
		name   string
		values []float64
	}{{o.Value, values}, {o.Over, over}} {
		if row := slices.IndexFunc(c.values, func(v float64) bool { return math.IsInf(v, 0) }); row >= 0 {
			return nil, tabular.BadRow(in.Frame, row, c.name, "the value is infinite")
		}
	}
	if over == nil {
		over = slices.Repeat([]float64{1}, len(values))
	}
	for _, g := range groups {
		var parts [2][]float64 // of the ratio
		var clusters []string
		for _, row := range g.Rows {
			if math.IsNaN(values[row]) || math.IsNaN(over[row]) {
				continue
			}
			parts[0], parts[1] = append(parts[0], values[row]), append(parts[1], over[row])
			if units != nil {
				clusters = append(clusters, units[row])
			}
		}
		n, rows := len(parts[0]), len(parts[0])
		if units != nil {
			n = len(slices.Compact(slices.Sorted(slices.Values(clusters))))
		}
		mean := Exact(floats.Sum(parts[0]) / floats.Sum(parts[1]))
		if math.IsInf(mean.Value, 0) {
			mean = Exact(math.NaN())
		}
		if n > 1 && o.Resamples > 0 {
			r, err := interval.BootstrapRatio(parts[0], parts[1], clusters, o.Bootstrap())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(g.By, ", "), err)
			}
			mean = Estimate{Value: r.Value, Low: r.Low, High: r.High}
		}
		out = append(out, meanRow{g.By, mean, rows, n, len(g.Rows) - rows, o.Label(cmp.Or(o.Unit, "rows"), mean)})
	}
	return out, nil
}

// PerImage returns the mean of a function of an image in each group, with an interval: a metric of one's own.
//
//	metrics.PerImage(images, "brightness", func(img image.Image) float64 { … }, metrics.By("region"))
//
// The column name has the means and name_low and name_high their intervals; the other columns are those of [Means].
// Images are decoded and values stored as [datasets.Table.ApplyImage] does, which returns the values themselves.
// options are those of [Means], at most one; Value and By are set.
func PerImage(t datasets.Table, name string, f func(image.Image) float64, by []string,
	options ...MeanOptions) datasets.Table {
	return meansOf(t.ApplyImage(name, f), name, by, options)
}

// PerRow is [PerImage] for a function of a row; see [datasets.Table.Apply].
func PerRow(t datasets.Table, name string, f func(datasets.Row) float64, by []string,
	options ...MeanOptions) datasets.Table {
	return meansOf(t.Apply(name, f), name, by, options)
}

func meansOf(t datasets.Table, name string, by []string, options []MeanOptions) datasets.Table {
	o, err := table.One(options)
	if err != nil {
		return datasets.Extend(t).Fail(fmt.Errorf("%s: %w", name, err)).Table
	}
	o.Value, o.By = name, by
	means := Means(t, o)
	for _, part := range []string{"", "_low", "_high"} {
		means = means.Rename("value"+part, name+part)
	}
	return means
}
