package plots

import "antipode/datasets"

// settings are what options set. The zero value means: the figure's own default.
type settings struct {
	theme                Theme
	title, note          string
	interval             string
	x, series, label     string
	panels               []string
	values               []string
	order                map[string][]string
	called               map[string]string // names of value columns
	limits, xlim, ylim   *[2]float64
	free                 bool
	xname, yname         string
	horizontal, sorted   bool
	refs                 []reference
	bins                 int
	image, mask          string
	captions             []string
	rows, columns, block string
	limit, perCell       int
	fade                 Side
	plain                bool                 // no outline on whole images
	write                func(float64) string // how the figure's values are written
	patches              int
	heads                []string
	boxes                []string // number columns: left, top, right, bottom
	boxSize              float64
	shade, rowValue      string    // number columns: of a scatter's colours, of a grid's rows
	groups               [2]string // text columns: of a heat table's rows and columns
	hatched              [2]string // a text column and its value
	percent, totals      bool
	stacked, joined      bool
	lines                []straight
	fits                 *datasets.Table
	fitted               *datasets.Frame // the rows of fits
}

// straight is a line y = slope·x + intercept.
type straight struct {
	slope, intercept float64
	name             string
}

type reference struct {
	at   float64
	name string
}

// Option sets something of a figure. An option that a figure has no use for changes nothing.
type Option func(*settings)

// Title sets the title; without it a figure names its columns.
func Title(text string) Option { return func(s *settings) { s.title = text } }

// Note adds a sentence to the caption.
func Note(text string) Option { return func(s *settings) { s.note = text } }

// Style draws with another theme.
func Style(t Theme) Option { return func(s *settings) { s.theme = t } }

// Interval says what the intervals are, for example "95 % half-sampling interval". Without it the text column
// "interval" says so, where the table has it.
func Interval(kind string) Option { return func(s *settings) { s.interval = kind } }

// Percent writes values, their axes and their intervals in per cent: shares and cosines times 100. [Limits], [Reference]
// and [Threshold] are then given in per cent, too; names of axes say so where [XName] and [YName] do.
func Percent() Option { return func(s *settings) { s.percent = true } }

// X names the column of the horizontal positions; for [Bars] the column of the bars' names.
func X(column string) Option { return func(s *settings) { s.x = column } }

// Series names the column whose values get a colour each (in [Scatter] a shape, too).
func Series(column string) Option { return func(s *settings) { s.series = column } }

// Panels splits a figure: one column gives a row of panels, two columns a row of panels for each value of the first and
// a column of panels for each value of the second. Panels share their axes unless [FreeLimits] is given.
func Panels(columns ...string) Option { return func(s *settings) { s.panels = columns } }

// Values adds value columns to the first one. They become rows, told apart by the text column "score" that can be
// given to [X], [Series] and [Panels] of [Bars], [Forest] and [Lines].
func Values(columns ...string) Option { return func(s *settings) { s.values = columns } }

// Called gives a value column of [Values], or the first one beside them, another name in the legend and above panels.
func Called(column, name string) Option {
	return func(s *settings) {
		if s.called == nil {
			s.called = map[string]string{}
		}
		s.called[column] = oneLine(name)
	}
}

// Label names the column that names points ([Scatter]) or rows ([Forest]). In [Scatter] it gives colours and shapes, too,
// unless [Series] or [Shade] does.
func Label(column string) Option { return func(s *settings) { s.label = column } }

// Order puts values of a column in an order; values not listed come after, in table order.
func Order(column string, values ...string) Option {
	return func(s *settings) {
		if s.order == nil {
			s.order = map[string][]string{}
		}
		s.order[column] = values
	}
}

// Limits sets the ends of the value axis (both axes of [Scatter], the colours of [Heat]).
func Limits(low, high float64) Option { return func(s *settings) { s.limits = &[2]float64{low, high} } }

// XLimits sets the ends of the horizontal axis.
func XLimits(low, high float64) Option { return func(s *settings) { s.xlim = &[2]float64{low, high} } }

// YLimits sets the ends of the vertical axis.
func YLimits(low, high float64) Option { return func(s *settings) { s.ylim = &[2]float64{low, high} } }

// FreeLimits gives every panel limits of its own; the caption warns of it.
func FreeLimits() Option { return func(s *settings) { s.free = true } }

// XName names the horizontal axis, with its unit: "precision (share of generated images)".
func XName(text string) Option { return func(s *settings) { s.xname = text } }

// YName names the vertical axis, with its unit.
func YName(text string) Option { return func(s *settings) { s.yname = text } }

// Horizontal lays bars on their side. Bars whose names do not fit below them lie down without it.
func Horizontal() Option { return func(s *settings) { s.horizontal = true } }

// Sorted orders bars or rows by value, largest first, those without data last. With [Limit], [Bars] shows the first ones.
func Sorted() Option { return func(s *settings) { s.sorted = true } }

// Reference draws a named line across a value axis, for example the zero of a gap.
func Reference(at float64, name string) Option {
	return func(s *settings) { s.refs = append(s.refs, reference{at, name}) }
}

// Line draws the named line y = slope·x + intercept into every panel of [Scatter]: Line(1, 0, "equal in both") is the
// diagonal.
func Line(slope, intercept float64, name string) Option {
	return func(s *settings) { s.lines = append(s.lines, straight{slope, intercept, name}) }
}

// Fits writes into each panel of [Scatter] what another table says of it: the row whose columns of [Panels] match (its
// only row without panels), its columns pearson, r_squared and n_used as text, and a line where it has slope and
// intercept. A table of the metric cococrola-correlations is one.
func Fits(t datasets.Table) Option { return func(s *settings) { s.fits = &t } }

// Shade colours the marks of [Scatter] by a number column, with its scale in the legend.
func Shade(column string) Option { return func(s *settings) { s.shade = column } }

// Stacked puts the bars of a histogram's series on top of each other.
func Stacked() Option { return func(s *settings) { s.stacked = true } }

// Joined puts the marks of a row of [Forest] on one line and joins them, first series to last: how far apart they are is
// the length of the line.
func Joined() Option { return func(s *settings) { s.joined = true } }

// Groups puts rows and columns of [Heat] together that have the same value in a column, one for the rows and one for
// the columns ("" = none), with a line between groups.
func Groups(ofRows, ofColumns string) Option {
	return func(s *settings) { s.groups = [2]string{ofRows, ofColumns} }
}

// Hatched strikes out those cells of [Heat] whose text column has a value: their number is of another kind, as the
// diagonal of a table of pairs is.
func Hatched(column, value string) Option {
	return func(s *settings) { s.hatched = [2]string{column, value} }
}

// Totals adds the sums of rows and of columns to [Heat], for tables of counts; they are not coloured. Where rows and
// columns have the same names the caption says what share of all lies on the diagonal.
func Totals() Option { return func(s *settings) { s.totals = true } }

// RowValue names the number column whose value, the same in all images of a row, stands below the row's name in [Grid];
// with [Sorted] the rows go by it, largest first.
func RowValue(column string) Option { return func(s *settings) { s.rowValue = column } }

// Threshold is [Reference], as histograms call it.
func Threshold(at float64, name string) Option { return Reference(at, name) }

// Bins sets the number of a histogram's bins.
func Bins(n int) Option { return func(s *settings) { s.bins = n } }

// Images names the image column; "image" without it.
func Images(column string) Option { return func(s *settings) { s.image = column } }

// Outline draws the border of a mask column in red on its image.
func Outline(column string) Option { return func(s *settings) { s.mask = column } }

// Boxes draws a box in red on each image: the number columns of its corners, in pixels of a picture that is size × size. A
// row without a left corner has no box.
func Boxes(size float64, left, top, right, bottom string) Option {
	return func(s *settings) { s.boxes, s.boxSize = []string{left, top, right, bottom}, size }
}

// Side is a part of an image.
type Side int

// The sides of a mask.
const (
	Neither    Side = iota // nothing
	Object                 // where the mask is
	Background             // where it is not
)

// Fade pales one side of the outline.
func Fade(side Side) Option { return func(s *settings) { s.fade = side } }

// Patches draws the outline along the border between object and background patches, as a vision transformer with
// side × side patches sees a square crop around the centre: 14 for 224-pixel input and 16-pixel patches.
func Patches(side int) Option { return func(s *settings) { s.patches = side } }

// Captions names text and number columns whose values stand under an image.
func Captions(columns ...string) Option { return func(s *settings) { s.captions = columns } }

// Rows names the column whose values are the rows of a grid, gallery or heat table.
func Rows(column string) Option { return func(s *settings) { s.rows = column } }

// Columns names the column whose values are the columns of a grid or heat table.
func Columns(column string) Option { return func(s *settings) { s.columns = column } }

// Blocks names the column whose values are the blocks of a gallery or grid, one below the other.
func Blocks(column string) Option { return func(s *settings) { s.block = column } }

// Limit sets how many images (sorted bars, in each panel) a figure shows at most; it says how many it leaves out.
func Limit(n int) Option { return func(s *settings) { s.limit = n } }

// PerCell sets how many images stand in one cell of a grid with rows and columns, or beside one reference of a gallery.
func PerCell(n int) Option { return func(s *settings) { s.perCell = n } }

// Heads names the two columns of a gallery, for example "GeoDE" and "LDM".
func Heads(reference, matches string) Option {
	return func(s *settings) { s.heads = []string{reference, matches} }
}
