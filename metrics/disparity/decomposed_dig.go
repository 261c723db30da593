package disparity

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"antipode/metrics"

	"antipode/datasets"
	"antipode/datasets/table"
)

var decomposedDIGValues = datasets.Define(datasets.Operation[RegionOptions, metrics.ValueRow]{
	Name: "decomposed-dig-values", Version: 3, // 2 knew no undecided claims
	Title:    "the values of the tables and claims of Decomposed-DIG, from scores by region",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), sections 1, 4 and 5, Table 1",
	Inputs: []metrics.Input{
		{Role: "original", Columns: regionColumns, About: "scores by region of both components, original template"},
		{Role: "changed", Columns: regionColumns, Optional: true, About: "the same with the new template"}},
	Compute: computeDecomposedDIG,
})

// Values returns the values of the items that digin.Printed lists, for [Ledger]: the cells of Table 1
// with their intervals (see [RegionSummary]), its deltas, the ratios of the claims, and the expectations of
// [TrendLines], those of named regions where the scores have them. original and changed are the scores by region of
// object_only and background_only for the two templates; changed may be a zero table.
func Values(original, changed datasets.Table, options ...RegionOptions) datasets.Table {
	return decomposedDIGValues.Table(map[string]datasets.Table{"original": original, "changed": changed}, options...)
}

func computeDecomposedDIG(_ context.Context, call *metrics.Call, o RegionOptions) (_ []metrics.ValueRow, err error) {
	var out metrics.ValueRows
	number := func(item string, value float64) { out.Add(item, metrics.Exact(value), math.NaN()) }
	before, original, err := tableCells(call, &out, o, "original", "Orig.")
	if err != nil {
		return nil, err
	}
	var changed *components
	if call.Inputs["changed"] != nil {
		var after map[string]float64
		if after, changed, err = tableCells(call, &out, o, "changed", "New"); err != nil {
			return nil, err
		}
		for _, row := range slices.Clone(out[:len(before)]) {
			cell := row.Item[len("Table 1, Orig., "):]
			change := changeOf("", "", before[cell], after[cell])
			number("Table 1, Delta, "+cell, change.Delta)
			number("Table 1, Delta (%), "+cell, change.DeltaPercent)
		}
	}
	candidates, err := candidates(*original)
	if err != nil {
		return nil, err
	}
	number("introduction: regional disparity of backgrounds over that of objects", candidates[0].Ratio)
	number("section 4.2: background coverage, best region over worst", candidates[0].Background)
	number("section 4.2: object coverage, best region over worst", candidates[0].Object)
	number("section 4.2: span of regional precision, backgrounds over objects", candidates[2].Ratio)
	scored := func(name string) bool {
		return slices.ContainsFunc(original.BackgroundCoverage, func(v regionScore) bool { return v.Region == name })
	}
	trends, err := trends(*original, changed,
		TrendLinesOptions{AnyRegions: !scored("Africa") || !scored("SouthEastAsia")})
	if err != nil {
		return nil, err
	}
	for _, t := range trends {
		out.AddVerdict(t.Trend, t.Verdict)
	}
	return out, nil
}

// tableCells adds the cells of one template in Table 1 and returns their values.
func tableCells(call *metrics.Call, out *metrics.ValueRows, o RegionOptions, role, template string) (
	map[string]float64, *components, error) {
	f := call.Inputs[role]
	d, err := decomposed(call, role, o.Region)
	if err != nil {
		return nil, nil, err
	}
	values := map[string]float64{}
	for _, c := range []struct {
		vector, score, name string
		of                  []regionScore
	}{
		{"object_only", "precision", "objects", d.ObjectPrecision},
		{"object_only", "coverage", "objects", d.ObjectCoverage},
		{"background_only", "precision", "backgrounds", d.BackgroundPrecision},
		{"background_only", "coverage", "backgrounds", d.BackgroundCoverage},
	} {
		a, err := summarize(c.of)
		if err != nil {
			return nil, nil, bothVectors(err)
		}
		row := regionSummaryRow{Vector: c.vector, Score: c.score, Aggregate: a}
		row.interval(f, o.Region)
		add := func(cell string, value, low, high float64) {
			out.Add("Table 1, "+template+", "+c.name+", "+cell+" "+c.score, metrics.Estimate{Value: value, Low: low,
				High: high}, generatedImages(f, c.vector))
			values[c.name+", "+cell+" "+c.score] = value
		}
		add("average", a.Average, row.AverageLow, row.AverageHigh)
		add("worst", a.Worst, row.WorstLow, row.WorstHigh)
	}
	return values, &d, nil
}

// generatedImages returns the number of generated images that the scores of a vector were computed from.
func generatedImages(f *table.Frame, vector string) float64 {
	counts := f.Numbers("n_generated")
	if counts == nil {
		return math.NaN()
	}
	sum := 0.0
	for i, v := range f.Texts("vector") {
		if v == vector {
			sum += counts[i]
		}
	}
	return sum
}

// decomposed returns the scores by region of objects and of backgrounds.
func decomposed(call *metrics.Call, role, region string) (d components, err error) {
	_, precision, err := byRegion(call, role, region, "precision")
	if err != nil {
		return d, err
	}
	_, coverage, err := byRegion(call, role, region, "coverage")
	return components{
		ObjectPrecision: precision["object_only"], ObjectCoverage: coverage["object_only"],
		BackgroundPrecision: precision["background_only"], BackgroundCoverage: coverage["background_only"],
		Intervals: [4]map[string][2]float64{ends(call, role, region, "object_only", "precision"),
			ends(call, role, region, "background_only", "precision"),
			ends(call, role, region, "background_only", "coverage"),
			ends(call, role, region, "object_only", "coverage")},
	}, err
}

// ends returns the ends of the intervals of a score by region; nil where it has none.
func ends(call *metrics.Call, role, region, vector, score string) map[string][2]float64 {
	f := call.Inputs[role]
	low, high := f.Numbers(score+"_low"), f.Numbers(score+"_high")
	if low == nil || high == nil {
		return nil
	}
	out := map[string][2]float64{}
	for i, name := range f.Texts(region) {
		if f.Texts("vector")[i] == vector {
			out[name] = [2]float64{low[i], high[i]}
		}
	}
	return out
}

// bothVectors adds the fix where the scores of a component are missing.
func bothVectors(err error) error {
	if errors.Is(err, errNoRegions) {
		return fmt.Errorf("%w; combine the scores of object_only and background_only with Concat", err)
	}
	return err
}
