package plots_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

// found returns the numbers that a pattern captures in a drawing, a list for each match.
func found(svg, pattern string) (out [][]float64) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(svg, -1) {
		var row []float64
		for _, s := range m[1:] {
			v, _ := strconv.ParseFloat(s, 64)
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out
}

// withIntervals is a table with a row for each name and series, in order, and values with intervals.
func withIntervals(names, series []string, v ...float64) datasets.Table {
	low, high := make([]float64, len(v)), make([]float64, len(v))
	for i := range v {
		low[i], high[i] = v[i]-0.2, min(v[i]+0.3, 1)
	}
	return made(texts("name", names...), texts("kind", series...), table.NumberColumn("my_share", v),
		table.NumberColumn("my_share_low", low), table.NumberColumn("my_share_high", high))
}

// TestSaid: names, heads and reference lines are where a figure has place for them, and its caption says what it leaves
// out.
func TestSaid(t *testing.T) {
	places := func(row, column []string) datasets.Table {
		return made(texts("row", row...), texts("column", column...), texts("name", "first", "second", "third"),
			small(1, 2, 3))
	}
	grid := func(tab datasets.Table) plots.Figure {
		return plots.Bars{Table: tab, X: "name", Y: "v", Horizontal: true, Panels: "column", PanelRows: "row"}
	}
	kinds := made(texts("name", "a", "b"), texts("interval", "bootstrap 95 %", ""), small(1, 2),
		table.NumberColumn("v_low", []float64{0, math.NaN()}), table.NumberColumn("v_high", []float64{2, math.NaN()}))
	for want, f := range map[string]plots.Figure{ // NUMBER × TEXT; TEXT is a label, or a part of the drawing
		"1 × right":  grid(places([]string{"a", "a", "b"}, []string{"left", "right", "left"})),
		"1 × left":   grid(places([]string{"a", "b", "b"}, []string{"right", "right", "left"})),
		"2 × second": grid(places([]string{"a", "b", "b"}, []string{"left", "right", "right"})),
		"2 × x": plots.Heat{Table: made(texts("m", "1", "1", "2", "2"), texts("r", "x", "y", "x", "y"),
			texts("c", "c", "c", "c", "c"), small(1, 2, 2, 1)), Value: "v", Rows: "r", Columns: "c",
			Panels: "m", Sorted: true},
		"1 × n = 4 rows in 5 bins.": plots.Histogram{Table: made(small(0.3, 0.3, 0.5, 0.9)), X: "v"},
		"1 × 1 points are outside": plots.Lines{Table: made(small(5, 10, 20)), X: "v", Y: "v",
			XLimits: plots.Range{Low: 10, High: 20}},
		"1 × 1000002": plots.Bars{Table: made(table.NumberColumn("seed", []float64{1000001, 1000002}), small(1,
			2)), X: "seed", Y: "v"},
		"1 × 10": plots.Bars{Table: made(table.NumberColumn("n", []float64{10, 0.25}), small(1, 2)), X: "n",
			Y: "v"},
		"2 × stroke-dasharray": plots.Bars{Table: made(texts("a", "x"), small(2.4)), Y: "v",
			References: []plots.Mark{{At: 3, Name: "most"}}},
		"1 × 1 values or intervals": plots.Heat{Table: made(texts("r", "x"), texts("c", "y"), small(0.9)),
			Value: "v", Rows: "r", Columns: "c", Limits: plots.Range{High: 0.5}},
		"1 × Whiskers: bootstrap 95 %.": plots.Bars{Table: kinds, Y: "v"},
		"1 × 1 rows without a country":  plots.Map{Table: made(texts("iso3", "KEN", "-"), small(1, 2)), Value: "v"},
		"0 × \u202e":                    plots.Bars{Table: made(texts("a", "x\u2069\u202e"), small(1)), Y: "v"},
		"1 × up to 2 rows are cut off": plots.Histogram{Table: made(small(1, 1)), X: "v",
			YLimits: plots.Range{High: 1}},
	} {
		svg := drawSVG(t, f)
		number, text, _ := strings.Cut(want, " × ")
		n := count(labels(svg), text)
		if n == 0 {
			_, drawing, _ := strings.Cut(svg, "</desc>")
			n = strings.Count(drawing, text)
		}
		must.Equal(t, fmt.Sprint(n), number, text, labels(svg))
	}
	must.Fail(plots.Render(plots.Scatter{Table: made(texts("s", strings.Split("a b c d e f g", " ")...),
		small(1, 2, 3, 4, 5, 6, 7)), X: "v", Y: "v", Series: "s",
		Theme: plots.Theme{Series: plots.DefaultTheme().Series[:3]}}, "svg"))(t, "at most 6 marks")
}

// TestSparseBarsAreAtTheirNames draws one bar of two series at each name: it is level with the name. The axis of values
// is named in words and ends at 1.
func TestSparseBarsAreAtTheirNames(t *testing.T) {
	svg := drawSVG(t, plots.Bars{
		Table:      withIntervals([]string{"a", "b", "c"}, []string{"k", "l", "k"}, 0.5, 0.7, 0.9),
		Y:          "my_share",
		X:          "name",
		Series:     "kind",
		Horizontal: true,
	})
	names := found(svg, `y="([0-9.]+)" font-size="12" fill="#222222" text-anchor="end">[abc]<`)
	bars := found(svg, `<path d="M[0-9.]+ ([0-9.]+)L[0-9.]+ [0-9.]+L[0-9.]+ ([0-9.]+)L[^"]*Z" fill="#(?:0d64a1|e19300)"/>`)
	if len(names) != 3 || len(bars) != 3+2 {
		t.Fatalf("%d names, %d bars", len(names), len(bars))
	}
	slices.Reverse(names)
	for i, n := range names {
		bar := bars[2+i] // after those of the legend
		middle := (bar[0] + bar[1]) / 2
		must.True(t, math.Abs(middle-(n[0]-0.36*12)) <= 1, "bar %d is at %g, its name at %g", i, middle, n[0])
	}
	words := labels(svg)
	must.True(t, count(words, "my share") == 1 && count(words, "1.0") == 1, "axis: %q", words)
}

// TestNumbersClearOfWhiskers draws four series with intervals: no number is within 7 pixels of the whisker of
// another bar.
func TestNumbersClearOfWhiskers(t *testing.T) {
	var names, kinds []string
	var v []float64
	for i := range 20 {
		names, kinds = append(names, fmt.Sprint("n", i/4)), append(kinds, fmt.Sprint("k", i%4))
		v = append(v, 0.7*wave(i))
	}
	svg := drawSVG(t, plots.Bars{
		Table:      withIntervals(names, kinds, v...),
		Y:          "my_share",
		X:          "name",
		Series:     "kind",
		Horizontal: true,
	})
	numbers := found(svg, `<text x="([0-9.]+)" y="([0-9.]+)" font-size="11" fill="#222222">-?[0-9.]+</text>`)
	whiskers := found(svg, `<path d="M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)" stroke="#222222" stroke-width="1.3"/>`)
	if len(numbers) != 20 || len(whiskers) != 60 {
		t.Fatalf("%d numbers, %d lines", len(numbers), len(whiskers))
	}
	for _, n := range numbers {
		const wide, cap = 20, 8 // of a number
		for _, w := range whiskers {
			if w[2] > n[0] && w[0] < n[0]+wide && max(w[1], w[3]) > n[1]-cap-7 && min(w[1], w[3]) < n[1]+7 {
				t.Errorf("the number at %v is near the line %v", n, w)
			}
		}
	}
}

// TestAxesOfShares compares the ends of axes of values that do not go beyond 0, 1 or 100.
func TestAxesOfShares(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		percent bool
		want    string
	}{
		{[]float64{0.75, 0.99}, false, "0.70 … 1.00"},
		{[]float64{0.75, 0.99}, true, "70 … 100"},
		{[]float64{0.01, 0.02}, false, "0.008 … 0.022"},
		{[]float64{-0.99, 0.3}, false, "-1.0 … 0.5"},
		{[]float64{0.9, 1.3}, false, "0.8 … 1.4"},
	} {
		tab := made(table.NumberColumn("x", []float64{1, 2}), small(c.values...))
		svg := drawSVG(t, plots.Scatter{Table: tab, X: "x", Y: "v", Percent: c.percent})
		var at []string
		for _, m := range regexp.MustCompile(`text-anchor="end">([-0-9.]+)<`).FindAllStringSubmatch(svg, -1) {
			at = append(at, m[1])
		}
		must.Equal(t, at[0]+" … "+at[len(at)-1], c.want, c.values, "the axis")
	}
}

// TestManyColumns names 14 columns of images: every word is whole, and the figure is as wide as they are.
func TestManyColumns(t *testing.T) {
	words := strings.Fields("lantern boat kite kettle umbrella drum mushroom windmill shore meadow forest peak " +
		"market square")
	f := must.Get(photos().Rows(context.Background()))(t)
	grid := plots.Grid{
		Table:   datasets.FromFrame(f.Pick(all(len(words))).With(table.TextColumn("concept", words))),
		Columns: "concept",
		Rows:    "object",
	}
	for _, named := range found(must.Get(plots.Text(grid, "html"))(t), `min-width:([0-9.]+)px;overflow-wrap:anywhere">`) {
		must.True(t, named[0] >= 40, "in HTML a row's name has %g pixels", named[0])
	}
	svg := drawSVG(t, grid)
	drawn := labels(svg)
	for _, w := range words {
		if !slices.Contains(drawn, w) {
			t.Errorf("%q is not whole: %q", w, drawn[:20])
		}
	}
	width := found(svg, `viewBox="0 0 ([0-9.]+) `)[0][0]
	for _, image := range found(svg, `<image x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)"`) {
		if image[0]+image[1] > width {
			t.Errorf("an image ends at %g of %g", image[0]+image[1], width)
		}
	}
}

func all(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// TestPanelTitlesWrap finds whole titles above narrow panels.
func TestPanelTitlesWrap(t *testing.T) {
	svg := drawSVG(t, plots.Bars{Table: scores(), Y: "coverage", X: "region", Series: "vector", Panels: "template",
		Theme: plots.Theme{Width: 312}})
	words := strings.Join(labels(svg), " ")
	must.True(t, strings.Contains(words, "island adjective thing") && !strings.Contains(words, "…"),
		"titles: %s", words)
}
