package plots_test

import "antipode/plots"

// Figure 2: images by region and source, with the border of a mask in red and the background paled.
func ExampleGrid_decomposedDigFigure2() {
	fig := plots.Grid(photos(), plots.Rows("region"), plots.Columns("source"), plots.PerCell(3),
		plots.Outline("mask"), plots.Fade(plots.Background), plots.Captions("object", "distance"),
		plots.Title("Photos and sampled pictures of two islands"))
	picture("grid", fig)
	// Output: as in grid.svg
}

// Figures 3 and 9: two measures beside each other, one panel for each prompt template; Figure 3 has one.
func ExampleBars_decomposedDigFigure9() {
	fig := plots.Bars(averages(), "precision", plots.Values("coverage"),
		plots.X("score"), plots.Series("setup"), plots.Panels("template"),
		plots.Title("Average over islands, by template"), plots.YName("share of images"))
	picture("bars-panels", fig)
	// Output: as in bars-panels.svg
}

// Figure 4: precision and coverage of each region, one panel for each set-up.
func ExampleScatter_decomposedDigFigure4() {
	fig := plots.Scatter(pick(scores(), "template", "thing in island"), "precision", "coverage",
		plots.Label("region"), plots.Panels("setup"),
		plots.XName("precision (share of generated images)"), plots.YName("coverage (share of real images)"),
		plots.Title("Islands by realism and diversity"))
	picture("scatter", fig)
	// Output: as in scatter.svg
}

// Figures 5 and 6: real images and the generated ones within their reach, for each set-up.
func ExampleGallery() {
	fig := plots.Gallery(matched(), plots.Blocks("block"), plots.Rows("setup"), plots.Heads("real", "generated"),
		plots.Captions("distance"), plots.Outline("mask"),
		plots.Title("Backgrounds that were never generated"))
	picture("gallery", fig)
	// Output: as in gallery.svg
}

// Figures 7 and 14: generated pictures in no real ball; the outline follows the patches of a vision transformer: a square
// crop, 14 × 14 patches.
func ExampleGrid_decomposedDigFigure7() {
	fig := plots.Grid(photos(), plots.Outline("mask"), plots.Patches(14), plots.Fade(plots.Object), plots.Limit(6),
		plots.Title("What the background features see"))
	picture("grid-patches", fig)
	// Output: as in grid-patches.svg
}

// Figure 8: an image, its object and its background.
func ExampleSegments() {
	fig := plots.Segments(photos(), plots.Limit(2))
	picture("segments", fig)
	// Output: as in segments.svg
}

// Figures 10 and 11: many names, so bars lie down; sorted within each panel, with scales of their own. A missing value is
// marked.
func ExampleBars_decomposedDigFigure10() {
	fig := plots.Bars(objects(), "coverage", plots.X("object"), plots.Panels("setup"),
		plots.Horizontal(), plots.Sorted(), plots.FreeLimits(),
		plots.Title("Coverage of each object"), plots.XName("coverage (share of real images)"))
	picture("bars-objects", fig)
	// Output: as in bars-objects.svg
}

// Figure 12: templates down, set-ups across.
func ExampleScatter_decomposedDigFigure12() {
	fig := plots.Scatter(scores(), "precision", "coverage", plots.Label("region"), plots.Panels("template", "setup"),
		plots.XName("precision (share of generated images)"), plots.YName("coverage (share of real images)"),
		plots.Title("Both templates, whole image and its parts"))
	picture("scatter-panels", fig)
	// Output: as in scatter-panels.svg
}

// Figure 13: references alone, with a count.
func ExampleGallery_decomposedDigFigure13() {
	fig := plots.Gallery(hubs(), plots.Captions("inside"), plots.Title("Real images that hold the most generated ones"))
	picture("gallery-hubs", fig)
	// Output: as in gallery-hubs.svg
}

// Table 1: average and worst region of both templates, as printed.
func ExampleTable_decomposedDigTable1() {
	plots.Table(printedAverages()).Spans(", ").Decimals(3).Titled("Averages and worst regions").Noted("Sureddy et al. 2024, Table 1").Show()
	// Output:
	// Averages and worst regions
	//                               Obj-only                                          BG-only
	// template  avg. prec.  worst prec.  avg. covg.  worst covg.  avg. prec.  worst prec.  avg. covg.  worst covg.
	// Orig.          0.617        0.564       0.377        0.352       0.481        0.363       0.383        0.278
	// New            0.665        0.609       0.390        0.344       0.466        0.389       0.461        0.423
	// Delta          0.048        0.045       0.013       -0.008      -0.015        0.026       0.078        0.145
	// Sureddy et al. 2024, Table 1
}
