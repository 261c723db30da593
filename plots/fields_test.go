package plots_test

import (
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/plots"
)

// TestFieldsWithoutEffect sets fields that contradict each other or would have no effect: each is an error that names
// them.
func TestFieldsWithoutEffect(t *testing.T) {
	tab := made(texts("a", "x", "y"), texts("b", "p", "q"), small(1, 2))
	for want, f := range map[string]plots.Figure{
		"Y is empty; name a column of the table (there are: a, b, v)": plots.Bars{Table: tab},
		"Value is empty":           plots.Heat{Table: tab},
		"Limit needs Sorted":       plots.Bars{Table: tab, Y: "v", Limit: 2},
		"PanelRows needs Panels":   plots.Lines{Table: tab, X: "a", Y: "v", PanelRows: "b"},
		"limits 1 to 0":            plots.Scatter{Table: tab, X: "v", Y: "v", XLimits: plots.Range{Low: 1}},
		"Radius needs axes of one": plots.Scatter{Table: tab, X: "v", Y: "v", Radius: "v", FreeLimits: true},
		`Names: "w" is not`:        plots.Forest{Table: tab, X: "v", Names: map[string]string{"w": "W"}},
		"Sorted and RowGroups both": plots.Heat{Table: tab, Value: "v", Rows: "a", Columns: "b", RowGroups: "b",
			Sorted: true},
		"Sorted and Percent need":        plots.Grid{Table: photos(), Sorted: true},
		"Fade and Patches need Outline":  plots.Gallery{Table: matched(), Rows: "setup", Patches: 14},
		"5 dots per inch; set Theme.DPI": plots.Histogram{Table: tab, X: "v", Theme: plots.Theme{DPI: 5}},
		"an image has one outline": plots.Grid{Table: photos(), Outline: "mask",
			Box: plots.Box{Left: "distance"}},
		"Crossed replaces the marks": plots.Forest{Table: tab, X: "v", Crossed: plots.Match{Column: "b"},
			Joined: true},
		`Order: no such column: "aa"`: plots.Bars{Table: tab, Y: "v", Order: plots.Order{"aa": {"x"}}},
		"Patches crops to a mask":     plots.Grid{Table: photos(), Box: plots.Box{Left: "distance"}, Patches: 14},
		`"nosuch"`:                    plots.Segments{Table: photos(), Mask: "nosuch"},
	} {
		must.Fail(failure(f))(t, want)
	}
}

// TestPartialTheme sets one field of the theme: the others are those of the default.
func TestPartialTheme(t *testing.T) {
	tab := made(texts("a", "x", "y"), small(1, 2))
	wide := plots.DefaultTheme()
	wide.Width = 900
	part := drawSVG(t, plots.Bars{Table: tab, Y: "v", Theme: plots.Theme{Width: 900}})
	whole := drawSVG(t, plots.Bars{Table: tab, Y: "v", Theme: wide})
	must.True(t, part == whole && strings.Contains(part, `width="900"`),
		"a theme with one field is not the default theme with that field")
}

// TestNamedValue names the value column: its axis has that name.
func TestNamedValue(t *testing.T) {
	tab := made(texts("a", "x", "y"), small(1, 2))
	must.Equal(t, count(labels(drawSVG(t, plots.Bars{Table: tab, Y: "v", Names: map[string]string{"v": "value of v"}})),
		"value of v"), 1, "axis")
}
