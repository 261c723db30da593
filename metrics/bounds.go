package metrics

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/stat/distuv"
)

// BoundsOptions are the options of [Bounds].
type BoundsOptions struct {
	Value    string   `json:"value,omitempty" default:"value" help:"column of the values: numbers, or texts of which --positive counts 1; rows without one are missing"`
	Positive string   `json:"positive,omitempty" help:"of a column of texts, or of numbers if it is one: the one that counts 1; every other one counts 0"`
	By       []string `json:"by,omitempty" help:"text columns that define the groups"`
	Least    float64  `json:"least,omitempty" help:"least possible value"`
	Most     float64  `json:"most,omitempty" default:"1" help:"largest possible value"`
	Rule     string   `json:"rule,omitempty" default:"none" values:"none,at-least,at-most" help:"what is assumed of what is missing: nothing, or a mean at least, or at most, as large as that of what is there"`
	Level    float64  `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
}

// boundsRow is a row of [Bounds].
type boundsRow struct {
	Group          Group
	Value          Estimate `column:"value" help:"of the rows that are there, as if nothing else was missing"`
	Least          float64  `column:"bound_low" help:"mean if every missing value is the least possible"`
	Most           float64  `column:"bound_high" help:"mean if every missing value is the largest possible"`
	Bounded        Estimate `column:"bounded" help:"middle of the bounds, with an interval that contains the mean, whatever is missing"`
	GapLow         float64  `column:"gap_low" help:"least difference to the mean of the other groups, with its interval"`
	GapHigh        float64  `column:"gap_high" help:"largest difference"`
	Flagged        bool     `column:"flagged" help:"the difference is not 0, whatever is missing"`
	Missing        Estimate `column:"missing" unit:"share of rows" range:"[0, 1]"`
	MissingGap     Estimate `column:"missing_gap" unit:"share of rows" help:"share missing − mean of the other groups"`
	MissingFlagged bool     `column:"missing_flagged" help:"the interval of missing_gap excludes 0"`
	Asked          int      `column:"n_asked" unit:"rows"`
	Refused        int      `column:"n_refused" unit:"rows"`
	Failed         int      `column:"n_failed" unit:"rows" help:"failed or skipped"`
	Unmasked       int      `column:"n_unmasked" unit:"rows" help:"an image without a value: unmasked, or not answered"`
	Used           int      `column:"n_used" unit:"rows"`
	Interval       string   `column:"interval"`
}

var bounds = Define(Definition[BoundsOptions, boundsRow]{
	Name: "bounds", Version: 3, Title: "bounds of rates and means by group, whatever the missing values are",
	Unit: "the values'", Range: "[least, most]", Direction: "none",
	Citation: "Manski, American Economic Review 80, 1990; Imbens and Manski, Econometrica 72, 2004",
	Inputs:   []Input{{Role: "in", About: "a row for each image that was requested, with a value or without"}},
	Compute:  computeBounds,
})

// Bounds is the metric bounds: the rate or mean of a column in each group of Options.By, between the values that it
// has if every missing value is the least and the largest possible one. Missing are images that a generator refused or
// that failed, images without a mask, and answers that a judge did not give. If they are missing for what they show,
// the mean of the others is wrong, and no number of images corrects it; the bounds hold all the same.
//
// The interval contains the mean with the stated probability, whichever it is between the bounds (Imbens and Manski
// 2004). With Rule "at-least" the mean of what is missing is assumed to be at least that of what is there, which raises
// the lower bound to it; "at-most" likewise. The differences to the mean of the other groups hold for all groups at
// once (Šidák), without groups of too few rows for an interval. Shares of missing rows have Wilson's interval.
func Bounds(t datasets.Table, options ...BoundsOptions) datasets.Table {
	return bounds.Of(t, options...)
}

// count counts the rows of a group and returns the values that are there, on the scale from 0 to 1.
func (r *boundsRow) count(f *table.Frame, rows []int, values []float64, o BoundsOptions) (there []float64, _ error) {
	for _, i := range rows {
		outcome, v := tabular.Outcome(f, i), values[i]
		switch {
		case outcome == "refused":
			r.Refused++
		case outcome != "":
			r.Failed++
		case math.IsNaN(v):
			r.Unmasked++
		case v < o.Least || v > o.Most:
			return nil, tabular.BadRow(f, i, o.Value, "%g is not from %g to %g; set the options least and most", v,
				o.Least, o.Most)
		default:
			there = append(there, (v-o.Least)/(o.Most-o.Least))
		}
	}
	r.Used = len(there)
	return there, nil
}

func computeBounds(_ context.Context, call *Call, o BoundsOptions) (out []boundsRow, err error) {
	in := tabular.Read(call, "in")
	groups := in.SortedGroups(o.By)
	values, err := readAnswers(call, in, o.Value, o.Positive)
	if err = cmp.Or(in.Err, err); err != nil {
		return nil, err
	}
	if !(o.Least < o.Most) {
		return nil, &table.Error{Code: table.CodeUsage, Message: fmt.Sprintf("bounds: the least value is %g, the "+
			"largest %g", o.Least, o.Most)}
	}
	none := math.NaN()
	var lows, highs []interval.Powered // means with the missing values at either end, on the scale from 0 to 1
	var compared []int                 // the rows that have them
	var notes GroupNotes
	for _, g := range groups {
		row := boundsRow{Group: g.By, Asked: len(g.Rows), GapLow: none, GapHigh: none, MissingGap: Exact(none)}
		there, err := row.count(in.Frame, g.Rows, values, o)
		if err != nil {
			return nil, err
		}
		missing := row.Asked - row.Used
		low := slices.Concat(there, make([]float64, missing))
		high := slices.Concat(there, slices.Repeat([]float64{1}, missing))
		if len(there) > 0 && o.Rule == "at-least" {
			low = there
		} else if len(there) > 0 && o.Rule == "at-most" {
			high = there
		}
		row.Missing = Estimated(interval.Wilson(missing, row.Asked, o.Level))
		row.Value = Exact(o.unscaled(tabular.Average(there)))
		row.Least, row.Most = o.unscaled(tabular.Average(low)), o.unscaled(tabular.Average(high))
		row.Bounded = Exact((row.Least + row.Most) / 2)
		if len(low) >= 2 && len(high) >= 2 {
			lower, upper := interval.SampleMean(low), interval.SampleMean(high)
			lows, highs, compared = append(lows, lower), append(highs, upper), append(compared, len(out))
			row.Bounded.Low, row.Bounded.High = o.imbensManski(lower, upper)
			row.Interval = fmt.Sprintf("%.4g %% interval of Imbens and Manski", 100*o.Level)
		} else {
			notes.Add("too few rows for an interval", strings.Join(g.By, "/"))
		}
		if len(there) >= 2 {
			row.Value.Low, row.Value.High = o.within(interval.SampleMean(there).Interval(o.Level))
		}
		out = append(out, row)
	}
	notes.AddTo(call, o.By...)
	if len(compared) > 1 {
		o.compare(out, compared, lows, highs)
	}
	return out, nil
}

// unscaled returns a value of the scale from 0, the least possible value, to 1, the largest.
func (o BoundsOptions) unscaled(v float64) float64 { return o.Least + (o.Most-o.Least)*v }

// within ends an interval of that scale at the possible values, and returns it in theirs.
func (o BoundsOptions) within(low, high float64) (float64, float64) {
	return o.unscaled(max(low, 0)), o.unscaled(min(high, 1))
}

// imbensManski returns the interval that contains the mean with the level, whichever it is between the bounds: with
// one-sided quantiles where the bounds are far apart, with two-sided ones where they are equal.
func (o BoundsOptions) imbensManski(lower, upper interval.Powered) (low, high float64) {
	error := math.Sqrt(max(lower.Variance(), upper.Variance()))
	width, normal := (upper.Value-lower.Value)/error, distuv.UnitNormal
	least, most := 0.0, 10.0
	for range 60 {
		if c := (least + most) / 2; normal.CDF(c+width)-normal.CDF(-c) < o.Level {
			least = c
		} else {
			most = c
		}
	}
	level := 2*normal.CDF(most) - 1
	low, _ = lower.Interval(level)
	_, high = upper.Interval(level)
	return o.within(low, high)
}

// compare fills in the differences of some rows to the mean of the others.
func (o BoundsOptions) compare(rows []boundsRow, compared []int, lows, highs []interval.Powered) {
	n := len(compared)
	level := math.Pow(o.Level, 1/float64(n))
	missing, least := make([]interval.Bounded, n), math.MaxInt
	for i, at := range compared {
		missing[i], least = interval.Bounded(rows[at].Missing), min(least, rows[at].Asked)
	}
	for i, at := range compared {
		low, high := slices.Clone(highs), slices.Clone(lows) // the other groups at the other end
		low[i], high[i] = lows[i], highs[i]
		r := &rows[at]
		r.GapLow = (o.Most - o.Least) * interval.PoweredToMean(level, i, low, nil).Low
		r.GapHigh = (o.Most - o.Least) * interval.PoweredToMean(level, i, high, nil).High
		r.Flagged = r.GapLow > 0 || r.GapHigh < 0
		others := slices.Delete(slices.Clone(missing), i, i+1)
		r.MissingGap = Estimate(missing[i].MinusMean(others, n, o.Level, least))
		r.MissingFlagged = r.MissingGap.Low > 0 || r.MissingGap.High < 0
	}
}
