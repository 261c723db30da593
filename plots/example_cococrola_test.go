package plots_test

import (
	"antipode/datasets/cococrola"
	"antipode/plots"
)

// Figures 1, 3, 8 and 10: images by model and language. A cell without an image is marked.
func ExampleGrid_cococrolaFigure1() {
	fig := plots.Grid{
		Table:   byModelAndLanguage(),
		Rows:    "model",
		Columns: "language",
		PerCell: 1,
		Title:   "One concept, by model and language",
	}
	golden("cococrola-figure-1", fig)
	// Output: as in cococrola-figure-1.svg
}

// Figure 6: histograms of cross-consistency, a column for each model and a row for each language; mass to the right is
// better coverage.
func ExampleHistogram_cococrolaFigure6() {
	fig := plots.Histogram{
		Table:     concepts(),
		X:         "cross_consistency",
		PanelRows: "language",
		Panels:    "model",
		Order:     plots.Order{"language": {"EN", "ES", "DE", "ZH", "JA", "HE", "ID"}},
		Bins:      50,
		XLimits:   plots.Range{High: 1},
		Title:     "Coverage of concepts by model and language",
		XLabel:    "cross-consistency Xc",
		YLabel:    "concepts",
	}
	golden("cococrola-figure-6", fig)
	// Output: as in cococrola-figure-6.svg
}

// Figure 9: inverse distinctiveness, all models and concepts of a language together; mass to the right is less
// distinct.
func ExampleHistogram_cococrolaFigure9() {
	fig := plots.Histogram{
		Table:   concepts(),
		X:       "inverse_distinctiveness",
		Panels:  "language",
		Order:   plots.Order{"language": {"EN", "ES", "DE", "ZH", "JA", "HE", "ID"}},
		Bins:    50,
		XLimits: plots.Range{High: 1},
		Title:   "Inverse distinctiveness by language",
		XLabel:  "inverse distinctiveness",
		YLabel:  "concepts × models",
	}
	golden("cococrola-figure-9", fig)
	// Output: as in cococrola-figure-9.svg
}

// Section 5.6: the rule of possession as thresholds on a histogram whose series are stacked.
func ExampleHistogram_stacked() {
	fig := plots.Histogram{
		Table:   pick(concepts(), "model", "SD 2"),
		X:       "cross_consistency",
		Series:  "language",
		Bins:    40,
		Stacked: true,
		References: []plots.Mark{{At: 0.35, Name: "not possessed below"},
			{At: 0.7, Name: "possessed with certainty above"}},
		Title:  "Concepts of one model",
		XLabel: "cross-consistency Xc",
		YLabel: "concepts, all languages",
	}
	golden("histogram-stacked", fig)
	// Output: as in histogram-stacked.svg
}

// Figure 7: scores in one language against another, a mark for each concept and model, with the correlation and the
// least-squares line that the metric cococrola-correlations returns. The color is the difference of the two.
func ExampleScatter_cococrolaFigure7() {
	fig := plots.Scatter{
		Table:   facing(),
		X:       "first",
		Y:       "second",
		Shade:   "gap",
		Panels:  "pair",
		XLimits: plots.Range{High: 1},
		YLimits: plots.Range{High: 1},
		Lines:   []plots.Line{{Slope: 1, Name: "equal in both"}},
		Fits:    correlations(),
		Title:   "Coverage in two languages",
		XLabel:  "Xc in the first language",
		YLabel:  "Xc in the second",
	}
	golden("cococrola-figure-7", fig)
	// Output: as in cococrola-figure-7.svg
}

// Section 5.5: as on the paper's demonstration page, concepts ranked by a score, with their images.
func ExampleGrid_cococrolaRanking() {
	fig := plots.Grid{
		Table:    ranked(),
		Rows:     "concept",
		RowValue: "Xc",
		Sorted:   true,
		PerCell:  4,
		Title:    "Concepts by cross-consistency, best first",
	}
	golden("cococrola-ranking", fig)
	// Output: as in cococrola-ranking.svg
}

// Table 2: two scores below each language, as printed; the metric cococrola-table returns the same columns.
func ExampleTable_cococrolaTable2() {
	plots.Show(plots.Table{Table: tableTwo(cococrola.PrintedTable()), Title: "Mean correctness ×100", Span: " "})
	// Output:
	// Mean correctness ×100
	//                    en      es      de      zh      ja      he      id          Avg
	// model            Xc  Wc  Xc  Wc  Xc  Wc  Xc  Wc  Xc  Wc  Xc  Wc  Xc  Wc       Xc       Wc
	// DALL-E Mega      81  28  65  26  64  26  29  21  32  21  28  19  51  25       50       24
	// DALL-E Mini      78  27  59  25  50  23  33  21  31  21  34  20  49  24       48       23
	// SD 1.1           69  26  52  23  46  22  32  19  37  21  28  17  39  21       43       21
	// SD 1.2           71  26  48  23  44  22  28  19  35  21  24  17  37  21       41       21
	// SD 1.4           69  26  46  23  40  22  26  20  34  21  24  17  34  21       39       21
	// SD 2             76  27  54  24  51  24  34  19  31  21  29  17  37  21       45       22
	// CogView 2        37  20  42  20  39  20  62  25  40  21  38  20  42  20       43       21
	// DALL-E 2         61  27  55  27  54  26  44  25  42  22  36  19  42  25       48       24
	// AltDiffusion m9  64  26  59  25  49  22  55  25  55  25  38  20  43  22       52       23
	// Avg              67  26  53  24  49  23  38  22  38  21  31  18  42  22  no data  no data
}
