package plots_test

import "antipode/plots"

// Figure 2: images by region and source, with the border of a mask in red and the background pale.
func ExampleGrid_decomposedDigFigure2() {
	fig := plots.Grid{
		Table:    photos(),
		Rows:     "region",
		Columns:  "source",
		Outline:  "mask",
		Fade:     plots.Background,
		Captions: []string{"object", "distance"},
		PerCell:  3,
		Title:    "Photos and sampled images of two islands",
	}
	golden("grid", fig)
	// Output: as in grid.svg
}

// Figures 3 and 9: two measures next to each other, one panel for each prompt template; Figure 3 has one.
func ExampleBars_decomposedDigFigure9() {
	fig := plots.Bars{
		Table:  averages(),
		X:      "score",
		Y:      "precision",
		MoreY:  []string{"coverage"},
		Series: "vector",
		Panels: "template",
		Title:  "Average over islands, by template",
		YLabel: "share of images",
	}
	golden("bars-panels", fig)
	// Output: as in bars-panels.svg
}

// Figure 4: precision and coverage of each region, one panel for each vector.
func ExampleScatter_decomposedDigFigure4() {
	fig := plots.Scatter{
		Table:  pick(scores(), "template", "thing in island"),
		X:      "precision",
		Y:      "coverage",
		Label:  "region",
		Panels: "vector",
		Title:  "Islands by realism and diversity",
		XLabel: "precision (share of generated images)",
		YLabel: "coverage (share of real images)",
	}
	golden("scatter", fig)
	// Output: as in scatter.svg
}

// Figures 5 and 6: real images and the generated images in their balls, for each vector.
func ExampleGallery() {
	fig := plots.Gallery{
		Table:          matched(),
		Rows:           "vector",
		Blocks:         "block",
		Outline:        "mask",
		Captions:       []string{"distance"},
		ReferenceLabel: "real",
		MatchLabel:     "generated",
		Title:          "Backgrounds that were never generated",
	}
	golden("gallery", fig)
	// Output: as in gallery.svg
}

// Figures 7 and 14: generated images in no real ball; the outline follows the patches of a vision transformer: a
// square crop, 14 × 14 patches.
func ExampleGrid_decomposedDigFigure7() {
	fig := plots.Grid{
		Table:   photos(),
		Outline: "mask",
		Fade:    plots.Object,
		Patches: 14,
		Limit:   6,
		Title:   "Background patches of a vision transformer",
	}
	golden("grid-patches", fig)
	// Output: as in grid-patches.svg
}

// Figure 8: an image, its object and its background.
func ExampleSegments() {
	fig := plots.Segments{Table: photos(), Limit: 2}
	golden("segments", fig)
	// Output: as in segments.svg
}

// Figures 10 and 11: many names, so bars are horizontal; sorted within each panel, with separate scales. A missing
// value is marked.
func ExampleBars_decomposedDigFigure10() {
	fig := plots.Bars{
		Table:      objects(),
		X:          "object",
		Y:          "coverage",
		Panels:     "vector",
		Horizontal: true,
		Sorted:     true,
		FreeLimits: true,
		Title:      "Coverage of each object",
		YLabel:     "coverage (share of real images)",
	}
	golden("bars-objects", fig)
	// Output: as in bars-objects.svg
}

// Figure 12: templates down, vectors across.
func ExampleScatter_decomposedDigFigure12() {
	fig := plots.Scatter{
		Table:     scores(),
		X:         "precision",
		Y:         "coverage",
		Label:     "region",
		PanelRows: "template",
		Panels:    "vector",
		Title:     "Both templates, whole image and its parts",
		XLabel:    "precision (share of generated images)",
		YLabel:    "coverage (share of real images)",
	}
	golden("scatter-panels", fig)
	// Output: as in scatter-panels.svg
}

// Figure 13: references alone, with a count.
func ExampleGallery_decomposedDigFigure13() {
	fig := plots.Gallery{
		Table:    hubs(),
		Captions: []string{"inside"},
		Title:    "Real images with the most generated images in their balls",
	}
	golden("gallery-hubs", fig)
	// Output: as in gallery-hubs.svg
}

// Table 1: average and worst region of both templates, as printed.
func ExampleTable_decomposedDigTable1() {
	plots.Show(plots.Table{
		Table:    printedAverages(),
		Title:    "Averages and worst regions",
		Span:     ", ",
		Decimals: 3,
		Notes:    []string{"Sureddy et al. 2024, Table 1"},
	})
	// Output:
	// Averages and worst regions
	//                               Obj-only                                          BG-only
	// template  avg. prec.  worst prec.  avg. covg.  worst covg.  avg. prec.  worst prec.  avg. covg.  worst covg.
	// Orig.          0.617        0.564       0.377        0.352       0.481        0.363       0.383        0.278
	// New            0.665        0.609       0.390        0.344       0.466        0.389       0.461        0.423
	// Delta          0.048        0.045       0.013       -0.008      -0.015        0.026       0.078        0.145
	// Sureddy et al. 2024, Table 1
}
