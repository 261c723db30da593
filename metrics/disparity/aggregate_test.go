package disparity

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

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
		d := changeOf(table1.orig[c], table1.new[c])
		if got := strconv.FormatFloat(d.Delta, 'f', 3, 64); got != strconv.FormatFloat(table1.delta[c], 'f', 3, 64) {
			t.Errorf("column %d: delta %s, printed %.3f", c+1, got, table1.delta[c])
		}
		if d.PercentText() != table1.percent[c] {
			t.Errorf("column %d: %s, printed %s", c+1, d.PercentText(), table1.percent[c])
		}
	}
	if got := changeOf(0, 1).PercentText(); got != "n/a" {
		t.Errorf("from 0: %s", got)
	}
	if got := changeOf(1, 0.999).PercentText(); got != "0%" {
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
	if c.OrigWorst != "x" || c.NewWorst != "y" || !nearTo(c.Worst.Delta, 0.1) || !nearTo(c.Worst.Percent, 50) ||
		!nearTo(c.SameRegion.Delta, 0.3) || !nearTo(c.SameRegion.Percent, 150) {
		t.Errorf("%+v", c)
	}
	if len(c.Regions) != 3 || c.Regions[1].Region != "y" || !nearTo(c.Regions[1].delta.Delta, -0.1) {
		t.Errorf("%+v", c.Regions)
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
		if math.Abs(x.Value-want[x.Name]) > 1e-9 {
			t.Errorf("%s = %v, want %v", x.Name, x.Value, want[x.Name])
		}
	}
	if len(c) != 3 || fmt.Sprintf("%.1f", c[0].Value) != "1.7" {
		t.Errorf("%+v", c)
	}
}

func TestTrends(t *testing.T) {
	orig := paper()
	new := components{ObjectPrecision: add(orig.ObjectPrecision, 0.04), ObjectCoverage: orig.ObjectCoverage,
		BackgroundPrecision: add(orig.BackgroundPrecision, -0.01), BackgroundCoverage: add(orig.BackgroundCoverage,
			0.1)}
	list := must.Get(trends(orig, &new, trendOptions{}))(t)
	if len(list) != 10 {
		t.Fatalf("%d trends", len(list))
	}
	for _, x := range list {
		if x.Verdict != interval.Pass {
			t.Errorf("%v", x)
		}
	}
	if line := list[3].String(); line != "pass  smallest background coverage in Africa: Africa 0.278, smallest "+
		"(Africa) 0.278 (the same)" {
		t.Error(line)
	}
	// Turned round, every expectation that has a direction fails.
	turned := components{ObjectPrecision: orig.BackgroundPrecision, ObjectCoverage: add(orig.BackgroundCoverage, 0.2),
		BackgroundPrecision: add(orig.ObjectPrecision, 0.1), BackgroundCoverage: orig.ObjectCoverage}
	down := components{ObjectPrecision: add(turned.ObjectPrecision, -0.04), ObjectCoverage: orig.ObjectCoverage,
		BackgroundPrecision: add(turned.BackgroundPrecision, -0.1), BackgroundCoverage: add(turned.BackgroundCoverage,
			-0.1)}
	list = must.Get(trends(turned, &down, trendOptions{LowRegion: "Europe", HighRegion: "WestAsia"}))(t)
	for _, x := range list {
		if x.Verdict == interval.Pass {
			t.Errorf("%v", x)
		}
	}
	if few, err := trends(orig, nil, trendOptions{SkipRegions: true}); err != nil || len(few) != 3 {
		t.Errorf("%d trends, %v", len(few), err)
	}
	if _, err := trends(orig, nil, trendOptions{LowRegion: "Atlantis"}); err == nil ||
		!strings.Contains(err.Error(), "Atlantis") {
		t.Errorf("%v", err)
	}
}

func add(v []regionScore, x float64) (out []regionScore) {
	for _, r := range v {
		out = append(out, regionScore{r.Region, r.Value + x})
	}
	return out
}

func TestMeansOfObjects(t *testing.T) {
	means := meansOfObjects([]objectScore{{"car", "S", 0.5}, {"bag", "N", math.NaN()}, {"car", "N", 0.25},
		{"car", "W", math.NaN()}})
	if len(means) != 2 || !math.IsNaN(means[0].Mean) || means[1].Mean != 0.375 ||
		!slices.Equal(means[1].Missing, []string{"W"}) || means[1].Regions[0] != (regionScore{"N", 0.25}) {
		t.Errorf("%+v", means)
	}
}

// TestFailures: of 1020 images of a class, 100 without a mask are within the limit and 101 are not.
// CountCells includes empty cells.
func TestFailures(t *testing.T) {
	l := rowLabels{}
	var unmasked []bool
	for i, object := range []string{"jug", "hand soap"} {
		for n := range 1020 {
			l.IDs = append(l.IDs, object+strconv.Itoa(n))
			l.Objects, l.Regions = append(l.Objects, object), append(l.Regions, "r"+strconv.Itoa(n%6))
			unmasked = append(unmasked, n < 100+i)
		}
	}
	table, err := failures(l, unmasked, paperLimit)
	if err != nil || len(table) != 2 {
		t.Fatalf("%+v, %v", table, err)
	}
	if table[0].Object != "hand soap" || !table[0].Excluded || table[0].Failed != 101 || table[0].Total != 1020 ||
		table[1].Excluded || table[1].Failed != 100 {
		t.Errorf("%+v", table)
	}
	if r := table[0].Regions; len(r) != 6 || r[0].Total != 170 || r[0].Failed != 17 || r[5].Failed != 16 {
		t.Errorf("%+v", r)
	}
	counts, err := countCells(rowLabels{[]string{"1", "2"}, []string{"jug", "bag"}, []string{"N", "S"}})
	if err != nil || len(counts) != 4 || counts[0] != (cellCount{"bag", "N", 0}) || counts[1].Rows != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	if _, err := failures(l, unmasked[1:], paperLimit); err == nil {
		t.Error("too few flags: no error")
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
		trends := must.Get(trends(orig, &new, trendOptions{}))(t)
		for _, x := range trends {
			if x.Verdict != want && x.Name != "best/worst coverage larger for background" {
				t.Errorf("±%g: %v, difference %+v, want %s", half, x, x.Difference, want)
			}
		}
	}
}
