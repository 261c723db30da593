// Package plots draws tables: figures, image grids and printed tables, inline in a notebook or to a file.
//
// A figure is a struct literal. Its fields name the table and its columns; every field but those has a default:
//
//	plots.Show(plots.Bars{Table: scores, Y: "coverage", X: "region", Series: "vector"})
//
// A figure computes no scores, and a literal does no work: the table runs, and the fields are checked, in the functions
// that take a [Figure]. [Show] displays it, [Save] writes a file, [Render] returns it. Programs use [ShowE] and
// [SaveE], which take a context and return the error.
//
// # Figures of numbers
//
//   - [Bars]: grouped, horizontal, sorted, in panels.
//   - [Scatter]: a mark for each row, with straight lines and the fits of another table.
//   - [Forest]: values with intervals against a reference line, or connected marks.
//   - [Lines]: values over numbers or names, with bands for their intervals.
//   - [Histogram]: with thresholds, stacked.
//   - [Heat]: rows × columns with the number in the cell, grouped, with totals.
//
// Every one has a title, a name for each axis, the number of images behind a value (columns n_real, n_generated,
// n_used, n) and the kind of its interval (text column interval). A value v is drawn with the interval of the columns
// v_low and v_high where the table has them. A missing value is marked "no data", never drawn as zero.
//
// For a metric's result, also after Where, Sort and other verbs that choose rows and columns, the axis of values has
// the column's unit, and the caption describes the column and its direction. A field that is set wins.
//
// # Figures of images
//
//   - [Grid]: images by block, row and column, ranked by a number, with the outline of a mask or a box and captions.
//   - [Segments]: an image split into object and background by its mask.
//   - [Gallery]: reference images and what matched them.
//
// Thumbnails are inline and take less than 190 KB in total, 84 KB for 24 images. [SaveImages] copies the originals, or
// writes reduced ones for publication.
//
// # Figures for a paper
//
// [Save] writes PDF, SVG and PNG; the backend paints PDF and PNG, or a program itself that imports
// antipode/plots/paint. [Theme] has the width, which is that of the column, and Bare, which leaves out title and
// caption; [Caption] returns them for LaTeX. `antipode export NOTEBOOK --to DIR` does so for all figures and tables of
// a notebook.
//
// # Printed tables
//
// [Table] prints columns as HTML, text, Markdown, CSV and LaTeX. Its fields Wide, Block, Span, Names and Decimals
// produce the layouts of papers.
//
// # Figures and tables of the five papers
//
// A figure of a paper is one literal. Each has an Example with its name, and an image in docs/gallery.md. Below they
// are abbreviated: Horizontal stands for Horizontal: true, and {…} for a literal of the field's type.
//
// Decomposed-DIG:
//
//	Figure 2, 7, 14  Grid{Rows: "region", Columns: "template", Outline: "mask", Patches: 14, Fade: Background}
//	Figure 3, 9      Bars{Y: "precision", MoreY: {"coverage"}, X: "score", Series: "vector", Panels: "template"}
//	Figure 4, 12     Scatter{X: "precision", Y: "coverage", Label: "region", PanelRows: "template", Panels: "vector"}
//	Figure 5, 6, 13  Gallery{Blocks: "object", Rows: "vector", Captions: {"distance"}}
//	Figure 8         Segments{}
//	Figure 10, 11    Bars{Y: "coverage", X: "object", Panels: "vector", Horizontal, Sorted, FreeLimits}
//	Table 1          Table{Span: ", ", Decimals: 3}
//
// ViSAGe:
//
//	Figure 2, 8      Bars{Y: "n_stereotypes", X: "identity", Panels: "region", Horizontal, Sorted, Limit: 8}
//	Figure 3         Bars{Y: "score", X: "attribute", PanelRows: "identity", Panels: "source", Sorted, FreeLimits}
//	Figure 4         Grid{Rows: "identity", Columns: "prompt", PerCell: 3}
//	Figure 5         Scatter{X: "pull", Y: "s_s_ns", Series: "region", Label: "identity"}
//	Figure 6         Bars{Y: "share", X: "label", YLimits: {0, 25}}
//	Figure 7         Grid{Box: {"box_left", "box_top", "box_right", "box_bottom", 512}}
//	Table 1, 2       Table{Decimals: 2}
//	Table 3, 4, 5    Table{Decimals: 4}, or Forest{X: "s_d_s", MoreX: {"s_d_ns", "s_s_ns"}, Joined}
//
// ENTIGEN:
//
//	Figure 3         Bars{Y: "bias", X: "attribute", Series: "prompt", PanelRows: "model", Panels: "axis"}
//	Figure 4 to 8    Grid{Rows: "prompt", PerCell: 9}
//	Table 1, 2, 6    Table{Span: ", "}
//	Table 3          Table{}, or Forest{X: "quality_usable", Series: "model", Joined, XLimits: {0, 9}}
//
// CoCo-CroLa:
//
//	Figure 1, 3, 8, 10  Grid{Rows: "model", Columns: "language"}
//	Figure 6, 9         Histogram{X: "cross_consistency", PanelRows: "language", Panels: "model", Bins: 50}
//	Figure 7            Scatter{X: "first", Y: "second", Panels: "pair", Shade: "gap", Fits: correlations}
//	Table 2             Table{Span: " "}
//
// IndicTTI:
//
//	Figure 1, 5 to 7, 10 to 13  Grid{Blocks: "script", Rows: "language", Columns: "model", Captions: {"prompt"}}
//	Figure 3                    Heat{Value: "scal", Rows: "language_a", Columns: "language_b", Panels: "model"}
//	Figure 4, 9                 Lines{X: "language", Y: "scwl", MoreY: {"dwl"}, Series: "model", Panels: "score"}
//	Figure 8                    Bars{Y: "rating", X: "language", References: {{3, "same in the main points"}}}
//	Table 2 to 4, 6 to 11       Table{Wide: {"model", "language", "igc"}, Block: 15, Repeat: {"model", "en"}}
//
// The other figures of the papers are drawings of a method.
//
// # What a notebook stores
//
// A notebook stores a figure in three forms; each front end chooses one. HTML is the full figure: an <img> with the SVG
// on white, or a table of images; JupyterLab shows it in untrusted notebooks too, where it refuses a bare SVG. PNG is
// for front ends without HTML, such as LaTeX: 96 dots per inch with a palette, less where that would take more than
// 24 KB. Text is one line. A printed table is stored as HTML and aligned text. HTML sets no text color, so that it is
// readable on light and dark pages.
//
// # Text and style
//
// All text from data is escaped. SVG stores text as text, with a list of fonts and the writing direction; a browser
// shapes any script. PDF and PNG have shaped text, in Liberation Sans, the fonts that `antipode data pull fonts`
// downloads (Indic scripts, Arabic, Hebrew, Thai, Chinese, Japanese, Korean) and those of the system. Characters that
// none of them has are left out; a line at the bottom counts them by script and suggests a fix. All figures share one
// [Theme], which is safe for color-blind readers.
package plots
