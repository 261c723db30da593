package disparity

import (
	"antipode/metrics"
	"context"

	"antipode/datasets"
)

// TrendLinesOptions are the options of [TrendLines].
type TrendLinesOptions struct {
	Region     string  `json:"region,omitempty" default:"region" help:"column that names the regions"`
	Equal      float64 `json:"equal,omitempty" default:"0.05" min:">0" help:"numbers at most this far apart are about equal"`
	Clearly    float64 `json:"clearly,omitempty" default:"0.02" min:">0" help:"an increase of at least this is clear"`
	Low        string  `json:"low,omitempty" default:"Africa" help:"region expected to have the smallest background coverage"`
	High       string  `json:"high,omitempty" default:"SouthEastAsia" help:"region expected to have the largest background coverage"`
	AnyRegions bool    `json:"any_regions,omitempty" help:"leave out expectations of named regions, for other regions than GeoDE's"`
}

// trendLineRow is a row of the result of [TrendLines].
type trendLineRow struct {
	Trend   string  `column:"trend"`
	Verdict string  `column:"verdict" help:"pass, FAIL or undecided"`
	AName   string  `column:"a_name"`
	BName   string  `column:"b_name"`
	Rule    string  `column:"rule"`
	Line    string  `column:"line" help:"the row as one line of text"`
	A       float64 `column:"a"`
	B       float64 `column:"b"`
	Low     float64 `column:"difference_low" help:"interval of the difference that the rule is about"`
	High    float64 `column:"difference_high"`
}

var trendLines = datasets.Define(datasets.Operation[TrendLinesOptions, trendLineRow]{
	Name: "trend-lines", Version: 3, // 1 knew no undecided expectations
	Inputs: []metrics.Input{{Role: "original", Columns: regionColumns,
		About: "scores by region of object_only and background_only, original template"},
		{Role: "changed", Columns: regionColumns, Optional: true, About: "the same with the new template"}},
	Title:    "the findings of Decomposed-DIG as expectations of a new run: pass, FAIL or undecided",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), sections 4 and 5, Table 1",
	Compute: func(_ context.Context, call *metrics.Call, o TrendLinesOptions) (out []trendLineRow, err error) {
		original, err := decomposed(call, "original", o.Region)
		if err != nil {
			return nil, err
		}
		var changed *components
		if call.Inputs["changed"] != nil {
			d, err := decomposed(call, "changed", o.Region)
			if err != nil {
				return nil, err
			}
			changed = &d
		}
		out, err = trends(original, changed, o)
		return out, bothVectors(err)
	},
})

// TrendLines compares a new run with the findings of Decomposed-DIG, by sign and order: a row for each expectation
// with its two numbers and pass, FAIL or, where the scores have intervals, undecided if the interval of the difference
// allows both (see interval.Bounded). original holds the scores by region of object_only and background_only for
// the template "{object} in {region}", results of [PrecisionCoverage] (Concat):
//
//	average precision of objects above that of backgrounds; average coverage of both about equal
//	best/worst coverage larger for backgrounds
//	smallest background coverage in Africa, largest in SouthEastAsia;
//	Africa's precision about equal in both components
//
// changed holds the scores of the new template, "{adjective} {object}", with the expected change: average and worst
// background coverage clearly up, average background precision little changed, average object precision up. It may be a
// zero table.
func TrendLines(original, changed datasets.Table, options ...TrendLinesOptions) datasets.Table {
	return trendLines.Table(map[string]datasets.Table{"original": original, "changed": changed}, options...)
}
