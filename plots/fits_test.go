package plots_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

// TestFitsPanels finds the row of each panel by two columns, as the metric cococrola-correlations names its
// languages, and without panels the only row.
func TestFitsPanels(t *testing.T) {
	points := made(texts("language_a", "ES", "ES", "ZH"), texts("language_b", "DE", "JA", "JA"),
		table.NumberColumn("x", []float64{0.1, 0.5, 0.9}), table.NumberColumn("y", []float64{0.2, 0.3, 0.8}))
	fits := made(texts("language_a", "ZH", "ES", "ES", "DE"), texts("language_b", "JA", "JA", "DE", "HE"),
		table.NumberColumn("pearson", []float64{0.11, 0.22, 0.33, 0.44}))
	words := labels(drawSVG(t, plots.Scatter{
		Table:     points,
		X:         "x",
		Y:         "y",
		PanelRows: "language_a",
		Panels:    "language_b",
		Fits:      fits,
	}))
	var order []string
	for _, w := range words {
		if strings.HasPrefix(w, "r = ") {
			order = append(order, w)
		}
	}
	// ES–DE, ES–JA; ZH–JA; no panel for DE–HE
	must.Equal(t, strings.Join(order, ", "), "r = 0.33, r = 0.22, r = 0.11", "text of the panels")
	one := made(table.NumberColumn("pearson", []float64{-1}))
	words = labels(drawSVG(t, plots.Scatter{Table: points, X: "x", Y: "y", Fits: one}))
	must.Equal(t, count(words, "r = -1.00"), 1, "without panels", words)
	// four fits for one panel
	must.Fail(failure(plots.Scatter{Table: points, X: "x", Y: "y", Fits: fits}))(t, "is the second")
}

// TestCrowdedPanelsAreHorizontal draws two panels with 23 of 24 names each: their bars are horizontal.
func TestCrowdedPanelsAreHorizontal(t *testing.T) {
	tab := frame("object:text", "vector:text", "v:number")
	for p := range 2 {
		for i := range 24 {
			if i != 23*p {
				tab.Add([]string{fmt.Sprintf("object %c", 'A'+i), fmt.Sprint("panel ", p)}, 0.5)
			}
		}
	}
	svg := drawSVG(t, plots.Bars{
		Table:  datasets.FromFrame(tab),
		X:      "object",
		Y:      "v",
		Panels: "vector",
	})
	must.True(t, !strings.Contains(svg, "rotate(-45") && strings.Count(svg, `text-anchor="end">object `) == 24,
		"the bars of crowded panels are vertical, or their names are not listed once at the left")
}

// TestAllPointsDrawn counts the marks of ViSAGe's Figure 5: 135 identities, and a key for each of 8 regions.
func TestAllPointsDrawn(t *testing.T) {
	svg := string(galleryImages(t)["visage-figure-5.svg"])
	must.Equal(t, strings.Count(svg, `stroke="#ffffff" stroke-width="1.2"`), 135+8, "marks")
	must.Has(t, svg, "n = 135 points.") // the caption counts the points
}

// TestHistogramHoldsAllRows measures the area below a histogram: it is the number of rows.
func TestHistogramHoldsAllRows(t *testing.T) {
	const bins = 12
	var v []float64
	for i := range 193 {
		v = append(v, 0.5+0.4*wave(i))
	}
	svg := drawSVG(t, plots.Histogram{
		Table:   made(small(v...)),
		X:       "v",
		Bins:    bins,
		XLimits: plots.Range{High: 1},
		YLimits: plots.Range{High: 100},
	})
	one := drawSVG(t, plots.Histogram{Table: made(small(v...)), X: "v", Bins: 1})
	must.Has(t, svg, "n = 193 rows in 12 bins.")
	must.Has(t, one, "n = 193 rows in 1 bin.")
	area := regexp.MustCompile(`<path d="M([^"]+)Z" fill="#0d64a1" fill-opacity`).FindStringSubmatch(svg)
	if area == nil {
		t.Fatal("no area")
	}
	var at [][2]float64
	for _, p := range strings.Split(area[1], "L") {
		var x, y float64
		_ = must.Get(fmt.Sscan(p, &x, &y))(t)
		at = append(at, [2]float64{x, y})
	}
	base, wide := at[0][1], at[len(at)-1][0]-at[0][0]
	sum := 0.0
	for i := 1; i < len(at); i++ {
		if at[i][1] == at[i-1][1] {
			sum += (at[i][0] - at[i-1][0]) * (base - at[i][1])
		}
	}
	const high = 220.0 // of the panel: 100 rows
	must.Near(t, sum/(wide/bins)/(high/100), 193, 0.5, "the area holds", "rows")
}
