package agreement

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Options are the options of [Scores].
type Options struct {
	By    []string `json:"by,omitempty" help:"text columns that define the groups"`
	Item  string   `json:"item,omitempty" default:"image_id" help:"column of the rated item"`
	Label string   `json:"label,omitempty" default:"label" help:"column of the ratings, text or number"`
	Scale Scale    `json:"scale,omitempty" default:"nominal" values:"nominal,ordinal,interval" help:"for alpha"`
	Order []string `json:"order,omitempty" help:"labels of an ordinal scale from low to high; numbers are in ascending order without it"`
	metrics.Intervals
}

// Row is a row of [Scores]: the agreement in a group of ratings.
type Row struct {
	Group    metrics.Group
	Percent  metrics.Estimate `column:"percent" unit:"share of pairs" range:"[0, 1]"`
	Kappa    metrics.Estimate `column:"kappa" range:"[-1, 1]" help:"Fleiss' kappa"`
	Alpha    metrics.Estimate `column:"alpha" range:"(-∞, 1]" help:"Krippendorff's alpha"`
	Items    int              `column:"n_items" unit:"items" help:"items with two ratings or more"`
	Ratings  int              `column:"n_ratings" unit:"ratings"`
	LeftOut  int              `column:"n_left_out" unit:"items" help:"items with fewer than two ratings"`
	Scale    string           `column:"scale" help:"scale of the labels"`
	Interval string           `column:"interval"`
}

var agreement = metrics.Define(metrics.Definition[Options, Row]{
	Name: "agreement", Title: "agreement of annotators: percent agreement, Fleiss' kappa, Krippendorff's alpha",
	Version: 3, // 2 resampled items with fewer than two ratings
	Unit:    "share; chance-corrected", Range: "[0, 1]; [-1, 1]; (-∞, 1]",
	Direction: "higher is more agreement",
	Citation:  "Fleiss, Psychological Bulletin 76, 1971; Krippendorff, Content Analysis, 2004",
	Inputs: []metrics.Input{{Role: "in", About: "a row for each rating, with a column for the item and one for the " +
		"label; an empty label is no rating"}},
	Compute: compute,
})

// Scores is the metric agreement: the agreement of the labels within items, a row for each group of Options.By.
func Scores(ratings datasets.Table, options ...Options) datasets.Table {
	return agreement.Of(ratings, options...)
}

func compute(_ context.Context, call *metrics.Call, o Options) ([]Row, error) {
	items, labels, values, err := read(call.Inputs["in"], o)
	if err != nil {
		return nil, err
	}
	in := tabular.Read(call, "in")
	groups := in.SortedGroups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	var rows []Row
	var notes metrics.GroupNotes
	for _, g := range groups {
		at, counts := map[string]int{}, Counts{}
		for _, row := range g.Rows {
			i, known := at[items[row]]
			if !known {
				i = len(counts)
				at[items[row]], counts = i, append(counts, make([]int, len(values)))
			}
			if l := labels[row]; l >= 0 {
				counts[i][l]++
			}
		}
		s, err := Compute(counts, o.Scale, values)
		if err != nil {
			return nil, err
		}
		b, err := ComputeIntervals(counts, o.Scale, values, o.Bootstrap(g.By...))
		if err != nil {
			return nil, err
		}
		if math.IsNaN(s.Kappa) && !math.IsNaN(s.Alpha) {
			notes.Add("items have different numbers of ratings: Fleiss' kappa is not defined, alpha is",
				strings.Join(g.By, "/"))
		}
		estimate := func(value float64, r [2]float64) metrics.Estimate {
			return metrics.Estimate{Value: value, Low: r[0], High: r[1]}
		}
		percent := estimate(s.Percent, b.Percent)
		rows = append(rows, Row{g.By, percent, estimate(s.Kappa, b.Kappa), estimate(s.Alpha, b.Alpha), s.Items,
			s.Ratings, len(counts) - s.Items, o.Scale, o.Intervals.Label("items", percent)})
	}
	notes.AddTo(call, o.By...)
	return rows, nil
}

// read returns the item of each row, the index of its label (−1 = no rating), and the labels' values.
func read(f *table.Frame, o Options) (items []string, labels []int, values []float64, err error) {
	for _, name := range []string{o.Item, o.Label} {
		if c := f.Column(name); c == nil || c.Kind != table.KindText && c.Kind != table.KindNumber {
			return nil, nil, nil, fmt.Errorf("no text or number column %q; columns: %s", name,
				table.NameList(f.Specs()))
		}
	}
	for i := range f.Len() {
		items = append(items, f.Column(o.Item).CSV(i))
		if items[i] == "" {
			return nil, nil, nil, tabular.BadRow(f, i, o.Item, "it is blank; every rating needs its item")
		}
	}
	numbers := f.Numbers(o.Label)
	if o.Scale == Interval && numbers == nil {
		return nil, nil, nil, fmt.Errorf("scale interval needs numbers; %q is a text column", o.Label)
	}
	if numbers != nil && (len(o.Order) == 0 || o.Scale == Interval) {
		for i, v := range numbers {
			if math.IsInf(v, 0) {
				return nil, nil, nil, tabular.BadRow(f, i, o.Label, "the label is infinite")
			}
			if !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		values = slices.Compact(values)
		for _, v := range numbers {
			label, found := slices.BinarySearch(values, v)
			if !found {
				label = -1
			}
			labels = append(labels, label)
		}
		return items, labels, values, nil
	}
	if len(o.Order) == 0 && o.Scale == Ordinal {
		return nil, nil, nil, errors.New("scale ordinal needs the order of the labels; set order to LOW,…,HIGH")
	}
	names := slices.Clone(o.Order)
	for i := range f.Len() {
		v := f.Column(o.Label).CSV(i)
		label := slices.Index(names, v)
		if label < 0 && v != "" {
			if len(o.Order) > 0 {
				return nil, nil, nil, tabular.BadRow(f, i, o.Label, "the label %q is not in order=%s", v,
					strings.Join(o.Order, ","))
			}
			label = len(names)
			names = append(names, v)
		}
		labels = append(labels, label)
	}
	return items, labels, make([]float64, len(names)), nil
}
