package plots_test

import (
	"fmt"

	"antipode/plots"
)

// Bars by region, a color for each vector, whiskers from the interval columns.
func ExampleBars() {
	fig := plots.Bars{
		Table:  pick(scores(), "template", "thing in island"),
		X:      "region",
		Y:      "coverage",
		Series: "vector",
		Title:  "Coverage of each island, by part of the image",
		YLabel: "coverage (share of real images)",
	}
	golden("bars", fig)
	// Output: as in bars.svg
}

// A figure for a column of 3.25 inches, without title and caption, which LaTeX sets. plots.Save(fig, "coverage.pdf")
// writes it.
func ExampleCaption() {
	fig := plots.Bars{
		Table:  pick(scores(), "template", "thing in island"),
		X:      "region",
		Y:      "coverage",
		Series: "vector",
		Title:  "Coverage of each island, by part of the image",
		Theme:  plots.Theme{Bare: true, Width: 312},
	}
	fmt.Println(plots.Caption(fig))
	// Output:
	// Coverage of each island, by part of the image. Whiskers: 95 \% half-sampling interval, 200 draws. n per value: 240 real, 233–240 generated. <nil>
}

// A heat table with the number in each cell. A cell without a row is hatched.
func ExampleHeat() {
	fig := plots.Heat{
		Table:   languages(12),
		Value:   "similarity",
		Rows:    "object",
		Columns: "language",
		Title:   "Similarity of images, by language of the prompt",
	}
	golden("heat", fig)
	// Output: as in heat.svg
}

// Gaps around a reference, from which colors diverge.
func ExampleHeat_reference() {
	fig := plots.Heat{
		Table:     gaps(),
		Value:     "gap",
		Rows:      "vector",
		Columns:   "region",
		Reference: plots.Mark{Name: "no gap"},
		Title:     "Gap in coverage to the mean of the controls",
	}
	golden("heat-reference", fig)
	// Output: as in heat-reference.svg
}

// Gaps with simultaneous intervals against the line of no gap.
func ExampleForest() {
	fig := plots.Forest{
		Table:      gaps(),
		X:          "gap",
		Y:          "region",
		Series:     "vector",
		References: []plots.Mark{{Name: "no gap"}},
		Title:      "Gap in coverage to the mean of the controls",
		XLabel:     "gap (share of real images)",
	}
	golden("forest", fig)
	// Output: as in forest.svg
}

// Gaps of which some have another explanation, for example those that errors of the segmentation can explain.
func ExampleForest_crossed() {
	fig := plots.Forest{
		Table:      explained(),
		X:          "gap",
		Y:          "region",
		Panels:     "vector",
		Crossed:    plots.Match{Column: "verdict", Value: "segmentation can explain it"},
		References: []plots.Mark{{Name: "no gap"}},
		Title:      "Gaps, and which of them errors of the segmentation can explain",
		XLabel:     "gap (share of real images)",
	}
	golden("forest-crossed", fig)
	// Output: as in forest-crossed.svg
}

// How many rows have which value, and a threshold.
func ExampleHistogram() {
	fig := plots.Histogram{
		Table:      distances(),
		X:          "distance",
		Series:     "source",
		Bins:       24,
		References: []plots.Mark{{At: 21.5, Name: "median radius"}},
		Title:      "Distance to the nearest real image",
		XLabel:     "Euclidean distance",
		YLabel:     "images",
	}
	golden("histogram", fig)
	// Output: as in histogram.svg
}

// A score over a number, with bands for its intervals; a missing value breaks the line.
func ExampleLines() {
	fig := plots.Lines{
		Table:   growth(),
		X:       "n",
		Y:       "width",
		Series:  "score",
		YLimits: plots.Range{High: 0.25},
		Title:   "How many images does it take?",
		XLabel:  "images per island",
		YLabel:  "width of the interval",
	}
	golden("lines", fig)
	// Output: as in lines.svg
}

// Nearest-neighbor balls: a circle around each reference image, in a plane.
func ExampleScatter_balls() {
	fig := plots.Scatter{
		Table:  balls(),
		X:      "x",
		Y:      "y",
		Radius: "radius",
		Series: "set",
		Panels: "k",
		Title:  "Balls around the reference images",
		XLabel: "first number",
		YLabel: "second number",
	}
	golden("scatter-balls", fig)
	// Output: as in scatter-balls.svg
}

// What a vision transformer attends to: the patches of the object, and those of the background, next to the image.
func ExampleSegments_patches() {
	fig := plots.Segments{
		Table:    photos(),
		Patches:  8,
		Captions: []string{"object"},
		Limit:    1,
		Title:    "Patches that are kept",
		Theme:    plots.Theme{Width: 460},
	}
	golden("segments-patches", fig)
	// Output: as in segments-patches.svg
}

// Images in lines, as they come.
func ExampleGrid_lines() {
	fig := plots.Grid{Table: photos(), Captions: []string{"object", "region"}, Limit: 8, Title: "The first images"}
	golden("grid-lines", fig)
	// Output: as in grid-lines.svg
}

// A printed table: text here, HTML in a notebook, .md .csv .tex .html to a file.
func ExampleTable() {
	plots.Show(plots.Table{
		Table:   averages(),
		Columns: []string{"template", "vector", "precision", "n_real"},
		Title:   "Average over islands",
	})
	// Output:
	// Average over islands
	// template                vector                   precision  n_real
	// thing in island         full             0.62 [0.60, 0.66]     240
	// thing in island         object_only      0.55 [0.52, 0.59]     240
	// thing in island         background_only  0.48 [0.45, 0.52]     240
	// island adjective thing  full             0.62 [0.59, 0.65]     240
	// island adjective thing  object_only      0.55 [0.52, 0.58]     240
	// island adjective thing  background_only  0.47 [0.44, 0.51]     240
}
