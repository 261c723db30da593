package disparity

import (
	"math"
	"strconv"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/interval"
)

// TestPercent: changes that no percentage says, or one too small. Those of Table 1 are in TestDecomposedDIGValues.
func TestPercent(t *testing.T) {
	must.Equal(t, changeOf("", "", 0, 1).Percent, "n/a", "from 0")
	must.Equal(t, changeOf("", "", 1, 0.999).Percent, "0%", "-0.1 %")
}

func values(v map[string]float64) (out []regionScore) {
	for region, x := range v {
		out = append(out, regionScore{region, x})
	}
	return out
}

func nearTo(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestSummarize(t *testing.T) {
	a := must.Get(summarize(values(map[string]float64{"b": 0.2, "a": 0.4, "d": 0.2, "c": 0.6})))(t)
	if a.Worst != 0.2 || a.WorstRegion != "b" || a.Best != 0.6 || a.BestRegion != "c" || a.Regions != 4 {
		t.Errorf("%+v", a)
	}
	for name, c := range map[string][2]float64{"average": {a.Average, 0.35}, "ratio": {a.Ratio, 3},
		"span": {a.Span, 0.4}, "variance": {a.Variance, 0.0275}, "sd": {a.SD, math.Sqrt(0.0275)}} {
		if !nearTo(c[0], c[1]) {
			t.Errorf("%s = %v, want %v", name, c[0], c[1])
		}
	}
	must.Near(t, must.Get(summarize([]regionScore{{"a", 0}, {"b", 1}}))(t).Ratio, math.NaN(), 0, "worst 0: ratio")
	for name, v := range map[string][]regionScore{"empty": nil, "nan": {{"a", math.NaN()}}, "twice": {{"a", 1}, {"a",
		2}}} {
		if _, err := summarize(v); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The worst region may change: the two minima and the same region are both reported.
func TestCompare(t *testing.T) {
	c := must.Get(compareTemplates([]regionScore{{"x", 0.2}, {"y", 0.4}, {"z", 0.6}}, []regionScore{{"z", 0.6}, {"y",
		0.3}, {"x", 0.5}}))(t)
	if worst, was := c[1], c[2]; worst.Region != "x, then y" || !nearTo(worst.Delta, 0.1) ||
		!nearTo(worst.DeltaPercent, 50) || was.Region != "x" || !nearTo(was.Delta, 0.3) ||
		!nearTo(was.DeltaPercent, 150) {
		t.Errorf("%+v", c)
	}
	if len(c) != 6 || c[4].Region != "y" || !nearTo(c[4].Delta, -0.1) {
		t.Errorf("%+v", c)
	}
	for name, new := range map[string][]regionScore{"other": {{"x", 1}, {"y", 1}, {"w", 1}}, "fewer": {{"x", 1}}} {
		if _, err := compareTemplates([]regionScore{{"x", 1}, {"y", 1}, {"z", 1}}, new); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// paper is a set of scores with the averages and extremes that the paper prints or implies for the original template.
func paper() components {
	six := func(v ...float64) (out []regionScore) {
		for i, x := range v {
			out = append(out, regionScore{Paper().Regions[i], x})
		}
		return out
	}
	return components{ // Africa, Americas, EastAsia, Europe, SouthEastAsia, WestAsia
		ObjectPrecision: six(0.564, 0.62, 0.62, 0.64, 0.65, 0.608), ObjectCoverage: six(0.352, 0.37, 0.38, 0.42, 0.38,
			0.36),
		BackgroundPrecision: six(0.56, 0.5, 0.5, 0.48, 0.483, 0.363), BackgroundCoverage: six(0.278, 0.36, 0.38, 0.37,
			0.556, 0.354),
	}
}

func add(v []regionScore, x float64) (out []regionScore) {
	for _, r := range v {
		out = append(out, regionScore{r.Region, r.Value + x})
	}
	return out
}

// TestPaperLimit: of 1020 images of a class, 100 without a mask are within the limit and 101 are not.
func TestPaperLimit(t *testing.T) {
	var objects, regions, outcomes []string
	for i, object := range []string{"jug", "hand soap"} {
		for n := range 1020 {
			objects, regions = append(objects, object), append(regions, "r"+strconv.Itoa(n%6))
			outcomes = append(outcomes, map[bool]string{true: "unmasked", false: "ok"}[n < 100+i])
		}
	}
	f, _, err := evaluate(t, ask{Metric: "class-filter"}, &table.Frame{Columns: []table.Column{
		table.TextColumn("object", objects), table.TextColumn("region", regions),
		table.TextColumn("outcome", outcomes)}})
	if err != nil || f.Len() != 12 {
		t.Fatalf("%v, %v", f, err)
	}
	kept, failed, images := f.Texts("kept"), f.Numbers("n_unmasked"), f.Numbers("n_images")
	if kept[0] != "no" || kept[6] != "yes" || failed[0] != 17 || failed[5] != 16 || images[0] != 170 ||
		f.Numbers("class_unmasked")[0] != 101 || f.Numbers("class_images")[6] != 1020 {
		t.Errorf("%v, %v of %v images", kept, failed, images)
	}
}

// With intervals that allow both, every expectation about a difference is undecided; those of tight ones are as
// without.
func TestUndecided(t *testing.T) {
	for half, want := range map[float64]string{0.4: interval.Undecided, 1e-9: interval.Pass} {
		orig := paper()
		new := orig
		for i, list := range [][]regionScore{orig.ObjectPrecision, orig.BackgroundPrecision, orig.BackgroundCoverage,
			orig.ObjectCoverage} {
			orig.Intervals[i] = map[string][2]float64{}
			for _, v := range list {
				orig.Intervals[i][v.Region] = [2]float64{v.Value - half, v.Value + half}
			}
		}
		new.ObjectPrecision = add(orig.ObjectPrecision, 0.04)
		new.BackgroundCoverage = add(orig.BackgroundCoverage, 0.04)
		new.Intervals = orig.Intervals
		for i := range new.Intervals {
			list := [][]regionScore{new.ObjectPrecision, new.BackgroundPrecision, new.BackgroundCoverage,
				new.ObjectCoverage}[i]
			new.Intervals[i] = map[string][2]float64{}
			for _, v := range list {
				new.Intervals[i][v.Region] = [2]float64{v.Value - half, v.Value + half}
			}
		}
		trends := must.Get(trends(orig, &new, TrendLinesOptions{}))(t)
		for _, x := range trends {
			if x.Verdict != want && x.Trend != "best/worst coverage larger for background" {
				t.Errorf("±%g: %+v, want %s", half, x, want)
			}
		}
	}
}
