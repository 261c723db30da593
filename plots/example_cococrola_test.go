package plots_test

import (
	"antipode/datasets/cococrola"
	"antipode/plots"
)

// Figures 1, 3, 8 and 10: pictures by model and language. A cell without a picture says so.
func ExampleGrid_cococrolaFigure1() {
	fig := plots.Grid(byModelAndLanguage(), plots.Rows("model"), plots.Columns("language"), plots.PerCell(1),
		plots.Title("One concept, by model and language"))
	picture("cococrola-figure-1", fig)
	// Output: as in cococrola-figure-1.svg
}

// Figure 6: histograms of cross-consistency, a column for each model and a row for each language; mass to the right is
// better coverage.
func ExampleHistogram_cococrolaFigure6() {
	fig := plots.Histogram(concepts(), "cross_consistency", plots.Panels("language", "model"), plots.Bins(50), plots.XLimits(0, 1),
		plots.Order("language", "EN", "ES", "DE", "ZH", "JA", "HE", "ID"),
		plots.Title("Coverage of concepts by model and language"), plots.XName("cross-consistency Xc"), plots.YName("concepts"))
	picture("cococrola-figure-6", fig)
	// Output: as in cococrola-figure-6.svg
}

// Figure 9: inverse distinctiveness, all models and concepts of a language together; mass to the right is less distinct.
func ExampleHistogram_cococrolaFigure9() {
	fig := plots.Histogram(concepts(), "inverse_distinctiveness", plots.Panels("language"), plots.Bins(50), plots.XLimits(0, 1),
		plots.Order("language", "EN", "ES", "DE", "ZH", "JA", "HE", "ID"),
		plots.Title("Inverse distinctiveness by language"), plots.XName("inverse distinctiveness"), plots.YName("concepts × models"))
	picture("cococrola-figure-9", fig)
	// Output: as in cococrola-figure-9.svg
}

// Section 5.6: the rule of possession as thresholds on a histogram whose series are stacked.
func ExampleHistogram_stacked() {
	fig := plots.Histogram(pick(concepts(), "model", "SD 2"), "cross_consistency", plots.Series("language"), plots.Stacked(), plots.Bins(40),
		plots.Threshold(0.35, "not possessed below"), plots.Threshold(0.7, "possessed with certainty above"),
		plots.Title("Concepts of one model"), plots.XName("cross-consistency Xc"), plots.YName("concepts, all languages"))
	picture("histogram-stacked", fig)
	// Output: as in histogram-stacked.svg
}

// Figure 7: scores in one language against another, a mark for each concept and model, with the correlation and the
// least-squares line that the metric cococrola-correlations gives. Colour says how far apart the two are; on the diagonal they are equal.
func ExampleScatter_cococrolaFigure7() {
	fig := plots.Scatter(facing(), "first", "second", plots.Panels("pair"), plots.Shade("gap"), plots.Line(1, 0, "equal in both"),
		plots.Fits(correlations()), plots.Limits(0, 1),
		plots.Title("Coverage in two languages"), plots.XName("Xc in the first language"), plots.YName("Xc in the second"))
	picture("cococrola-figure-7", fig)
	// Output: as in cococrola-figure-7.svg
}

// Section 5.5: as on the paper's demonstration page, concepts ranked by a score, with their pictures.
func ExampleGrid_cococrolaRanking() {
	fig := plots.Grid(ranked(), plots.Rows("concept"), plots.RowValue("Xc"), plots.Sorted(), plots.PerCell(4),
		plots.Title("Concepts by cross-consistency, best first"))
	picture("cococrola-ranking", fig)
	// Output: as in cococrola-ranking.svg
}

// Table 2: two scores below each language, as printed; the metric cococrola-table gives the same columns.
func ExampleTable_cococrolaTable2() {
	plots.Table(tableTwo(cococrola.PrintedTable())).Spans(" ").Titled("Mean correctness ×100").Show()
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
