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
// [Bars] (grouped, horizontal, sorted, in panels), [Scatter] (one labelled mark per region, in panels), [Heat] (rows ×
// columns with the number in the cell), [Forest] (values with intervals against a reference line), [Histogram] (with
// thresholds), [Lines].
//
// # Figures of images
//
// [Grid] (images by row and column, with the outline of a mask and captions), [Segments] (an image taken apart by its
// mask), [Gallery] (a reference image and what matched it). Thumbnails are inline and stay under 200 KB in total;
// [Figure.SaveImages] copies the originals.
//
// # Printed tables
//
// [Table] prints columns as HTML, text, Markdown, CSV and LaTeX.
//
// # Text
//
// All text from data is escaped. SVG keeps text as text, with a chain of fonts and the writing direction, so that a browser
// shapes any script. PNG shapes text itself, in Liberation Sans, the fonts that `antipode data pull fonts` brings (Indic
// scripts, Arabic, Hebrew, Thai, Chinese, Japanese, Korean) and those of the system; characters that none of them has are
// left out, and a line at the foot says of which script, how many, and what to do. The style of all figures is one [Theme],
// safe for colour-blind readers.
package plots
