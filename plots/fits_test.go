package plots_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"antipode/kernel/client"
	"antipode/plots"
)

// TestFitsPanels finds the row of each panel by two columns, as the metric cococrola-correlations names its languages, and without panels the only row.
func TestFitsPanels(t *testing.T) {
	points := made(texts("language_a", "ES", "ES", "ZH"), texts("language_b", "DE", "JA", "JA"), client.NumberColumn("x", []float64{0.1, 0.5, 0.9}), client.NumberColumn("y", []float64{0.2, 0.3, 0.8}))
	fits := made(texts("language_a", "ZH", "ES", "ES", "DE"), texts("language_b", "JA", "JA", "DE", "HE"), client.NumberColumn("pearson", []float64{0.11, 0.22, 0.33, 0.44}))
	words := said(drawSVG(t, plots.Scatter(points, "x", "y", plots.Panels("language_a", "language_b"), plots.Fits(fits))))
	var order []string
	for _, w := range words {
		if strings.HasPrefix(w, "r = ") {
			order = append(order, w)
		}
	}
	if got := strings.Join(order, ", "); got != "r = 0.33, r = 0.22, r = 0.11" { // ES–DE, ES–JA; ZH–JA; no panel for DE–HE
		t.Errorf("panels say %q", got)
	}
	one := plots.Fits(made(client.NumberColumn("pearson", []float64{-1})))
	if words := said(drawSVG(t, plots.Scatter(points, "x", "y", one))); count(words, "r = -1.00") != 1 {
		t.Errorf("without panels: %q", words)
	}
	if _, err := plots.Scatter(points, "x", "y", plots.Fits(fits)).SVG(context.Background()); err == nil || !strings.Contains(err.Error(), "is the second") {
		t.Errorf("four fits for one panel: %v", err)
	}
}

// TestCrowdedPanelsLieDown gives two panels 23 of 24 names each: their bars lie down, as those of one panel do.
func TestCrowdedPanelsLieDown(t *testing.T) {
	var name, panel []string
	var v []float64
	for p := range 2 {
		for i := range 24 {
			if i != 23*p {
				name, panel, v = append(name, fmt.Sprintf("object %c", 'A'+i)), append(panel, fmt.Sprint("panel ", p)), append(v, 0.5)
			}
		}
	}
	svg := drawSVG(t, plots.Bars(made(texts("object", name...), texts("setup", panel...), small(v...)), "v", plots.X("object"), plots.Panels("setup")))
	if strings.Contains(svg, "rotate(-45") || strings.Count(svg, `text-anchor="end">object `) != 24 {
		t.Error("the bars of crowded panels stand, or their names are not listed once at the left")
	}
}
