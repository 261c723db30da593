package plots_test

import (
	"antipode/plots"
)

// Bars by region, a colour for each set-up, whiskers from the interval columns.
func ExampleBars() {
	fig := plots.Bars(pick(scores(), "template", "thing in island"), "coverage",
		plots.X("region"), plots.Series("setup"),
		plots.Title("Coverage of each island, by part of the picture"),
		plots.YName("coverage (share of real images)"))
	picture("bars", fig)
	// Output: as in bars.svg
}

// Images by row and column, with the border of a mask in red and the background paled.
func ExampleGrid() {
	fig := plots.Grid(photos(), plots.Rows("region"), plots.Columns("source"), plots.PerCell(2),
		plots.Outline("mask"), plots.Fade(plots.Background), plots.Captions("id", "distance"),
		plots.Title("Real and generated things"))
	picture("grid", fig)
	// Output: as in grid.svg
}
