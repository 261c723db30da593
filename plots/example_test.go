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
	fig := plots.Grid(photos(), plots.Rows("region"), plots.Columns("source"), plots.PerCell(3),
		plots.Outline("mask"), plots.Fade(plots.Background), plots.Captions("object", "distance"),
		plots.Title("Photos and sampled pictures of two islands"))
	picture("grid", fig)
	// Output: as in grid.svg
}

// Two measures beside each other, one panel for each prompt template, as in Figures 3 and 9 of the Decomposed-DIG paper.
func ExampleBars_panels() {
	fig := plots.Bars(averages(), "precision", plots.Values("coverage"),
		plots.X("score"), plots.Series("setup"), plots.Panels("template"),
		plots.Title("Average over islands, by template"), plots.YName("share of images"))
	picture("bars-panels", fig)
	// Output: as in bars-panels.svg
}

// Many names: bars lie down; here sorted within each panel, with scales of their own, as in Figures 10 and 11. A missing
// value is marked.
func ExampleBars_objects() {
	fig := plots.Bars(objects(), "coverage", plots.X("object"), plots.Panels("setup"),
		plots.Horizontal(), plots.Sorted(), plots.FreeLimits(),
		plots.Title("Coverage of each object"), plots.XName("coverage (share of real images)"))
	picture("bars-objects", fig)
	// Output: as in bars-objects.svg
}

// Precision and coverage of each region, one panel for each set-up, as in Figure 4.
func ExampleScatter() {
	fig := plots.Scatter(pick(scores(), "template", "thing in island"), "precision", "coverage",
		plots.Label("region"), plots.Panels("setup"),
		plots.XName("precision (share of generated images)"), plots.YName("coverage (share of real images)"),
		plots.Title("Islands by realism and diversity"))
	picture("scatter", fig)
	// Output: as in scatter.svg
}

// Templates down, set-ups across, as in Figure 12.
func ExampleScatter_panels() {
	fig := plots.Scatter(scores(), "precision", "coverage", plots.Label("region"), plots.Panels("template", "setup"),
		plots.XName("precision (share of generated images)"), plots.YName("coverage (share of real images)"),
		plots.Title("Both templates, whole image and its parts"))
	picture("scatter-panels", fig)
	// Output: as in scatter-panels.svg
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
	fig := plots.Grid(photos(), plots.Captions("object", "region"), plots.Limit(14), plots.Title("The first pictures"))
	picture("grid-lines", fig)
	// Output: as in grid-lines.svg
}

// The outline follows the patches of a vision transformer: a square crop, 14 × 14 patches.
func ExampleGrid_patches() {
	fig := plots.Grid(photos(), plots.Outline("mask"), plots.Patches(14), plots.Fade(plots.Object), plots.Limit(6),
		plots.Title("What the background features see"))
	picture("grid-patches", fig)
	// Output: as in grid-patches.svg
}

// An image, its object and its background, as in Figure 8.
func ExampleSegments() {
	fig := plots.Segments(photos(), plots.Limit(2))
	picture("segments", fig)
	// Output: as in segments.svg
}

// Real images and the generated ones within their reach, for each set-up, as in Figures 5 and 6.
func ExampleGallery() {
	fig := plots.Gallery(matched(), plots.Blocks("block"), plots.Rows("setup"), plots.Heads("real", "generated"),
		plots.Captions("distance"), plots.Outline("mask"),
		plots.Title("Backgrounds that were never generated"))
	picture("gallery", fig)
	// Output: as in gallery.svg
}

// References alone, with a count, as in Figure 13.
func ExampleGallery_hubs() {
	fig := plots.Gallery(hubs(), plots.Captions("inside"), plots.Title("Real images that hold the most generated ones"))
	picture("gallery-hubs", fig)
	// Output: as in gallery-hubs.svg
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
