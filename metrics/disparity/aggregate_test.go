package disparity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/interval"
)

// table1 is the paper's Table 1 as printed: columns Obj-only average and worst precision, average and worst coverage,
// then BG-only.
var table1 = struct {
	orig, new, delta [8]float64
	percent          [8]string
}{
	orig:    [8]float64{0.617, 0.564, 0.377, 0.352, 0.481, 0.363, 0.383, 0.278},
	new:     [8]float64{0.665, 0.609, 0.390, 0.344, 0.466, 0.389, 0.461, 0.423},
	delta:   [8]float64{0.048, 0.045, 0.013, -0.008, -0.015, 0.026, 0.078, 0.145},
	percent: [8]string{"8%", "8%", "3%", "-2%", "-3%", "7%", "20%", "52%"},
}

// The delta rows of Table 1 follow from its first two rows.
func TestTemplateChange(t *testing.T) {
	for c := range table1.orig {
		d := changeOf("", "", table1.orig[c], table1.new[c])
		if got := strconv.FormatFloat(d.Delta, 'f', 3, 64); got != strconv.FormatFloat(table1.delta[c], 'f', 3, 64) {
			t.Errorf("column %d: delta %s, printed %.3f", c+1, got, table1.delta[c])
		}
		if d.Percent != table1.percent[c] {
			t.Errorf("column %d: %s, printed %s", c+1, d.Percent, table1.percent[c])
		}
	}
	if got := changeOf("", "", 0, 1).Percent; got != "n/a" {
		t.Errorf("from 0: %s", got)
	}
	if got := changeOf("", "", 1, 0.999).Percent; got != "0%" {
		t.Errorf("-0.1 %%: %s", got)
	}
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
	if z, err := summarize([]regionScore{{"a", 0}, {"b", 1}}); err != nil || !math.IsNaN(z.Ratio) {
		t.Errorf("worst 0: ratio %v, %v", z.Ratio, err)
	}
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

func TestCandidates(t *testing.T) {
	c := must.Get(candidates(paper()))(t)
	want := map[string]float64{ // by hand from the numbers above: 2 / 1.193, 0.278 / 0.068, 0.197 / 0.086
		"ratio-of-ratios, coverage": (0.556 / 0.278) / (0.42 / 0.352),
		"span ratio, coverage":      0.278 / 0.068,
		"span ratio, precision":     0.197 / 0.086,
	}
	for _, x := range c {
		if math.Abs(x.Ratio-want[x.Name]) > 1e-9 {
			t.Errorf("%s = %v, want %v", x.Name, x.Ratio, want[x.Name])
		}
	}
	if len(c) != 3 || fmt.Sprintf("%.1f", c[0].Ratio) != "1.7" {
		t.Errorf("%+v", c)
	}
}

func TestTrends(t *testing.T) {
	orig := paper()
	new := components{ObjectPrecision: add(orig.ObjectPrecision, 0.04), ObjectCoverage: orig.ObjectCoverage,
		BackgroundPrecision: add(orig.BackgroundPrecision, -0.01), BackgroundCoverage: add(orig.BackgroundCoverage,
			0.1)}
	list := must.Get(trends(orig, &new, TrendLinesOptions{}))(t)
	if len(list) != 10 {
		t.Fatalf("%d trends", len(list))
	}
	for _, x := range list {
		if x.Verdict != interval.Pass {
			t.Errorf("%v", x)
		}
	}
	if line := list[3].Line; line != "pass  smallest background coverage in Africa: Africa 0.278, smallest "+
		"(Africa) 0.278 (the same)" {
		t.Error(line)
	}
	// Turned round, every expectation that has a direction fails.
	turned := components{ObjectPrecision: orig.BackgroundPrecision, ObjectCoverage: add(orig.BackgroundCoverage, 0.2),
		BackgroundPrecision: add(orig.ObjectPrecision, 0.1), BackgroundCoverage: orig.ObjectCoverage}
	down := components{ObjectPrecision: add(turned.ObjectPrecision, -0.04), ObjectCoverage: orig.ObjectCoverage,
		BackgroundPrecision: add(turned.BackgroundPrecision, -0.1), BackgroundCoverage: add(turned.BackgroundCoverage,
			-0.1)}
	list = must.Get(trends(turned, &down, TrendLinesOptions{Low: "Europe", High: "WestAsia"}))(t)
	for _, x := range list {
		if x.Verdict == interval.Pass {
			t.Errorf("%v", x)
		}
	}
	if few, err := trends(orig, nil, TrendLinesOptions{AnyRegions: true}); err != nil || len(few) != 3 {
		t.Errorf("%d trends, %v", len(few), err)
	}
	must.Fail(trends(orig, nil, TrendLinesOptions{Low: "Atlantis"}))(t, "Atlantis")
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

func TestVectorCopies(t *testing.T) {
	zero := float32(0)
	copies := vectorCopies([][]float32{{1, 2}, {3, 0}, nil, {1, 2}, nil, {4, 5}, {3, -zero}, {1, 2}})
	if !slices.Equal(copies, []int{3, 2, 1, 3, 1, 1, 2, 3}) {
		t.Errorf("%v", copies)
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
