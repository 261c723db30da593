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

// A heat table with the number in each cell. A cell without a row is hatched.
func ExampleHeat() {
	fig := plots.Heat(languages(12), "similarity", plots.Rows("object"), plots.Columns("language"),
		plots.Title("Similarity of images, by language of the prompt"))
	picture("heat", fig)
	// Output: as in heat.svg
}

// Gaps around a reference: colours part there.
func ExampleHeat_reference() {
	fig := plots.Heat(gaps(), "gap", plots.Rows("setup"), plots.Columns("region"), plots.Reference(0, "no gap"),
		plots.Title("Gap in coverage to the mean of the controls"))
	picture("heat-reference", fig)
	// Output: as in heat-reference.svg
}

// Gaps with simultaneous intervals against the line of no gap.
func ExampleForest() {
	fig := plots.Forest(gaps(), "gap", plots.Label("region"), plots.Series("setup"), plots.Reference(0, "no gap"),
		plots.Title("Gap in coverage to the mean of the controls"), plots.XName("gap (share of real images)"))
	picture("forest", fig)
	// Output: as in forest.svg
}

// How many rows have which value, and a threshold.
func ExampleHistogram() {
	fig := plots.Histogram(distances(), "distance", plots.Series("source"), plots.Bins(24), plots.Threshold(21.5, "median radius"),
		plots.Title("Distance to the nearest real image"), plots.XName("Euclidean distance"), plots.YName("images"))
	picture("histogram", fig)
	// Output: as in histogram.svg
}

// A score over a number, with bands for its intervals; a missing value breaks the line.
func ExampleLines() {
	fig := plots.Lines(growth(), "n", "width", plots.Series("score"), plots.YLimits(0, 0.25),
		plots.Title("How many images does it take?"), plots.XName("images per island"), plots.YName("width of the interval"))
	picture("lines", fig)
	// Output: as in lines.svg
}

// Images in lines, as they come.
func ExampleGrid_lines() {
	fig := plots.Grid(photos(), plots.Captions("object", "region"), plots.Limit(8), plots.Title("The first pictures"))
	picture("grid-lines", fig)
	// Output: as in grid-lines.svg
}

// A printed table: text here, HTML in a notebook, .md .csv .tex .html to a file.
func ExampleTable() {
	plots.Table(averages(), "template", "setup", "precision", "n_real").Titled("Average over islands").Show()
	// Output:
	// Average over islands
	// template                setup                    precision  n_real
	// thing in island         full             0.62 [0.60, 0.66]     240
	// thing in island         object_only      0.55 [0.52, 0.59]     240
	// thing in island         background_only  0.48 [0.45, 0.52]     240
	// island adjective thing  full             0.62 [0.59, 0.65]     240
	// island adjective thing  object_only      0.55 [0.52, 0.58]     240
	// island adjective thing  background_only  0.47 [0.44, 0.51]     240
}
