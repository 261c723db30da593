package plots_test

import (
	"antipode/datasets/entigen"
	"antipode/plots"
)

// Figure 3: bias of each attribute before and after an intervention, a row of panels for each model, a column for each
// perceived axis, the same scale everywhere. A missing bar, where no image is usable, is marked.
func ExampleBars_entigenFigure3() {
	fig := plots.Bars{
		Table:     biases(),
		X:         "attribute",
		Y:         "bias",
		Series:    "prompt",
		PanelRows: "model",
		Panels:    "axis",
		YLimits:   plots.Range{Low: -1, High: 1},
		Title:     "Bias by prompt, attribute and perceived axis",
		YLabel:    "bias",
		Note:      "Above zero: perceived as a man, as light-skinned, as Western.",
	}
	golden("entigen-figure-3", fig)
	// Output: as in entigen-figure-3.svg
}

// Figures 4 to 8: all images of a model and attribute, a row for each prompt.
func ExampleGrid_entigenFigure4() {
	fig := plots.Grid{Table: variants(), Rows: "prompt", PerCell: 9, Title: "One attribute, all prompts of a model"}
	golden("entigen-figure-4", fig)
	// Output: as in entigen-figure-4.svg
}

// Tables 1, 2 and 6 as bars: how uneven images are by prompt and model; the human values of Table 1 on perceived
// gender as printed.
func ExampleBars_entigenTable1() {
	fig := plots.Bars{
		Table:   human(entigen.PrintedTables(), 1, entigen.PerceivedGender),
		X:       "prompt_id",
		Y:       "score",
		Series:  "model",
		YLimits: plots.Range{High: 1},
		Title:   "Diversity on perceived gender, professions",
		XLabel:  "prompt",
		YLabel:  "diversity score (lower is more diverse)",
	}
	golden("entigen-table-1", fig)
	// Output: as in entigen-table-1.svg
}

// Table 3 as marks: good images per attribute of each prompt, one mark for each model, joined.
func ExampleForest_entigenTable3() {
	fig := plots.Forest{
		Table:   human(entigen.PrintedTables(), 3, ""),
		X:       "score",
		Y:       "row",
		Series:  "model",
		Joined:  true,
		XLimits: plots.Range{High: 9},
		Title:   "Good images per attribute",
		XLabel:  "images, of 9",
	}
	golden("entigen-table-3", fig)
	// Output: as in entigen-table-3.svg
}

// Agreement of CLIP with annotators: a confusion of labels with its sums, and the share on the diagonal.
func ExampleHeat_entigenAgreement() {
	fig := plots.Heat{
		Table:   votes(),
		Value:   "images",
		Rows:    "human",
		Columns: "CLIP",
		Panels:  "model",
		Totals:  true,
		Title:   "Labels of perceived gender: annotators and CLIP",
		XLabel:  "CLIP",
		YLabel:  "annotators",
	}
	golden("entigen-agreement", fig)
	// Output: as in entigen-agreement.svg
}

// Tables 1, 2 and 6: prompts down, models below each perceived axis; here Table 1 as printed. The metric
// entigen-table returns such columns from ratings.
func ExampleTable_entigenTable1() {
	plots.Show(plots.Table{
		Table: entigenTable(entigen.PrintedTables()),
		Title: "Diversity, professions",
		Span:  ", ",
		Notes: []string{"Bansal et al., EMNLP 2022, Table 1"},
	})
	// Output:
	// Diversity, professions
	//                   perceived gender (clip)                   perceived gender (human)                perceived skin color (human)
	// prompt    minDALL-E  DALL-E-mini  Stable Diffusion  minDALL-E  DALL-E-mini  Stable Diffusion  minDALL-E  DALL-E-mini  Stable Diffusion
	// original  0.68       0.90         0.84              0.5        1            0.82              1          1            1
	// P-G1      0.43       0.80         0.71              0.56       0.63         0.68              1          1            0.56
	// P-G2      0.87       0.82         0.66              0.38       1            0.71              1          0.87         0.85
	// P-S1      0.66       0.96         0.75              1          1            0.71              0.71       0.67         0.5
	// P-S2      0.74       1.0          0.76              0.38       1            0.71              1          1            0.83
	// P-I1      0.62       0.91         0.93              0.6        1            0.53              0.6        1            0.85
	// P-I2      0.54       0.71         0.91              0.67       0.6          0.73              0.75       1            0.73
	// Bansal et al., EMNLP 2022, Table 1
}
