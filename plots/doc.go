// Package plots draws tables: figures, image grids and printed tables, inline in a notebook or to a file.
//
// Plots draw; they never compute a score. A figure names a table and its columns; making one does no work. The table
// runs, and is checked, in [Figure.SVG], [Figure.PNG], [Figure.HTML], [Figure.Show] and [Figure.Save]:
//
//	plots.Bars(scores, "coverage", plots.X("region"), plots.Series("setup")).Show()
//
// # What every figure says
//
// A title, the name of each axis (give the unit with [XName] and [YName]), how many images stand behind a value (from
// the columns n_real, n_generated, n_used, n) and what its interval is ([Interval], or the text column "interval"). A
// value v is drawn with the interval of the columns v_low and v_high where the table has them. A missing value is
// marked "no data", never drawn as zero.
//
// # Figures of numbers
//
// [Bars] (grouped, horizontal, sorted, in panels), [Scatter] (a mark for each row, with named lines and the fits of another
// table, in panels), [Heat] (rows × columns with the number in the cell, in panels of one scale, grouped, with totals),
// [Forest] (values with intervals against a reference line, or marks joined), [Histogram] (with thresholds, stacked, in
// panels), [Lines] (over numbers or names).
//
// # Figures of images
//
// [Grid] (images by block, row and column, ranked by a number, with the outline of a mask or a box and captions),
// [Segments] (an image taken apart by its mask), [Gallery] (a reference image and what matched it). Thumbnails are inline
// and stay under 190 KB in total, 84 KB for 24 images; [Figure.SaveImages] copies the originals.
//
// # Printed tables
//
// [Table] prints columns as HTML, text, Markdown, CSV and LaTeX; [TableView.Wide], [TableView.Blocks] and
// [TableView.Spans] give it the layout of papers.
//
// # What a notebook stores
//
// A shown figure is stored in three forms, of which each front end chooses one. HTML is the full drawing: an <img> with
// the SVG on white, or a table of images; JupyterLab shows it in notebooks that it does not trust too, which it refuses
// for a bare SVG. PNG is for what shows no HTML, such as LaTeX: 96 dots per inch with a palette, less where that would
// take more than 24 KB. Text is one line. A printed table is HTML and aligned text. HTML sets no text color, so that it can be read on
// light and dark pages.
//
// # The figures and tables of five papers
//
// A figure of a paper is one call with options. Each has an Example of that name, whose picture is in docs/gallery.md. What
// is not listed is a drawing of a method.
//
//	Decomposed-DIG  Figure 2, 7, 14   Grid(t, Rows("region"), Columns("template"), Outline("mask"), Patches(14), Fade(Background))
//	                Figure 3, 9       Bars(t, "precision", Values("coverage"), X("score"), Series("setup"), Panels("template"))
//	                Figure 4, 12      Scatter(t, "precision", "coverage", Label("region"), Panels("setup")); Panels("template", "setup")
//	                Figure 5, 6, 13   Gallery(t, Blocks("object"), Rows("setup"), Captions("distance"))
//	                Figure 8          Segments(t)
//	                Figure 10, 11     Bars(t, "coverage", X("object"), Panels("setup"), Horizontal(), Sorted(), FreeLimits())
//	                Table 1           Table(t).Spans(", ").Decimals(3)
//	ViSAGe          Figure 2, 8       Bars(t, "n_stereotypes", X("identity"), Panels("region"), Horizontal(), Sorted(), Limit(8))
//	                Figure 3          Bars(t, "score", X("attribute"), Panels("identity", "source"), Horizontal(), Sorted(), FreeLimits())
//	                Figure 4          Grid(t, Rows("identity"), Columns("prompt"), PerCell(3))
//	                Figure 5          Scatter(t, "pull", "s_s_ns", Series("region"), Label("identity"))
//	                Figure 6          Bars(t, "share", X("label"), Limits(0, 25))
//	                Figure 7          Grid(t, Boxes(512, "box_left", "box_top", "box_right", "box_bottom"), Captions("identity", "attribute"))
//	                Table 1, 2        Table(t).Decimals(2)
//	                Table 3, 4, 5     Table(t).Decimals(4); as a diagram Forest(t, "s_d_s", Values("s_d_ns", "s_s_ns"), Joined())
//	ENTIGEN         Figure 3          Bars(t, "bias", Panels("model", "axis"), X("attribute"), Series("prompt"), Limits(-1, 1))
//	                Figure 4 to 8     Grid(t, Rows("prompt"), PerCell(9))
//	                Table 1, 2, 6     Table(t).Spans(", ")
//	                Table 3           Table(t); as marks Forest(t, "quality_usable", Series("model"), Joined(), XLimits(0, 9))
//	CoCo-CroLa      Figure 1, 3, 8, 10  Grid(t, Rows("model"), Columns("language"))
//	                Figure 6          Histogram(t, "cross_consistency", Panels("language", "model"), Bins(50), XLimits(0, 1))
//	                Figure 7          Scatter(t, "first", "second", Panels("pair"), Shade("gap"), Line(1, 0, "equal in both"), Fits(correlations))
//	                Figure 9          Histogram(t, "inverse_distinctiveness", Panels("language"), Bins(50), XLimits(0, 1))
//	                Table 2           Table(t).Spans(" ")
//	IndicTTI        Figure 1, 5 to 7, 10 to 13  Grid(t, Blocks("script"), Rows("language"), Columns("model"), Captions("prompt", "english"))
//	                Figure 3          Heat(t, "scal", Rows("language_a"), Columns("language_b"), Panels("model"), Hatched("kind", "SCWL"), Percent())
//	                Figure 4, 9       Lines(t, "language", "scwl", Values("dwl"), Series("model"), Panels("score"), Percent())
//	                Figure 8          Bars(t, "rating", X("language"), Limits(1, 5), Reference(3, "same in the main points"))
//	                Table 2 to 4, 6 to 11  Table(t).Wide("model", "language", "igc").Blocks(15, "model", "en").Percent().Decimals(2)
//
// # Text
//
// All text from data is escaped. SVG keeps text as text, with a chain of fonts and the writing direction, so that a browser
// shapes any script. PNG shapes text itself, in Liberation Sans, the fonts that `antipode data pull fonts` brings (Indic
// scripts, Arabic, Hebrew, Thai, Chinese, Japanese, Korean) and those of the system; characters that none of them has are
// left out, and a line at the foot says of which script, how many, and what to do. The style of all figures is one [Theme],
// safe for colour-blind readers.
package plots
