package plots

import (
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/datasets/operation"
)

// Range is a pair of axis limits. The zero Range means: chosen from the data.
type Range struct{ Low, High float64 }

func (r Range) set() bool { return r != Range{} }

// Mark is a reference line: a value on an axis, drawn as a dashed line with a name.
type Mark struct {
	At   float64
	Name string // in the legend
}

// Line is the straight line y = Slope·x + Intercept. A line with a name is dashed and listed in the legend.
type Line struct {
	Slope, Intercept float64
	Name             string
}

// Order maps a column to the order of its values. Values that are not listed follow in table order.
type Order map[string][]string

// Match selects the rows whose text column has a value.
type Match struct{ Column, Value string }

// Box names the number columns with the corners of a box, in pixels of an image that is Size × Size. A row without a
// left corner has no box.
type Box struct {
	Left, Top, Right, Bottom string
	Size                     float64
}

// Side is a part of an image.
type Side int

// The sides of a mask.
const (
	Neither    Side = iota // nothing
	Object                 // where the mask is
	Background             // where it is not
)

// options are the fields of a figure as the drawing code reads them. The zero value of each is the figure's default.
type options struct {
	theme                 Theme
	title, note, interval string
	x, series, label      string
	panelRows, panels     string
	more                  []string          // further value columns
	names                 map[string]string // shown in place of value columns' names
	order                 Order
	xlim, ylim, limits    Range // limits is that of colors
	free                  bool
	xlabel, ylabel        string
	horizontal, sorted    bool
	refs                  []Mark
	bins                  int
	image, mask           string
	captions              []string
	rows, columns, block  string
	limit, perCell        int
	size                  float64
	fade                  Side
	plain                 bool // no outline on whole images
	patches               int
	heads                 [2]string // of a gallery's columns
	box                   Box
	boxes                 string    // text column
	shade, rowValue       string    // number columns: of a scatter's colors, of a grid's rows
	radius                string    // number column of a scatter's circles
	groups                [2]string // text columns: of a heat table's rows and columns
	hatched, crossed      Match
	percent, totals       bool
	stacked, joined       bool
	lines                 []Line
	fits, images          datasets.Table
	print                 bool // images in the theme's resolution, however large the file

	metric *operation.Operation // that computed the table, or nil
	melted []string             // the columns that were made one
	write  func(float64) string // formats the figure's values
	fitted *datasets.Frame      // the rows of fits
}

// check reports fields that contradict each other or have no effect: no field is ignored silently.
func (s *options) check(columns ...string) error {
	for _, r := range []Range{s.xlim, s.ylim, s.limits} {
		if r.set() && !(finite(r.Low) && finite(r.High) && r.Low < r.High) {
			return fmt.Errorf("limits %g to %g: Low must be below High", r.Low, r.High)
		}
	}
	for name := range s.names {
		if !slices.Contains(columns, name) && !slices.Contains(s.more, name) {
			return fmt.Errorf("Names: %q is not a value column of the figure", name)
		}
	}
	if s.theme.DPI < 24 || s.theme.DPI > 1200 {
		return fmt.Errorf("%d dots per inch; set Theme.DPI to 24 to 1200", s.theme.DPI)
	}
	if s.panelRows != "" && s.panels == "" {
		return fmt.Errorf("PanelRows needs Panels, the columns of the panels")
	}
	if s.crossed.Column != "" && s.joined {
		return fmt.Errorf("Crossed replaces the marks of rows, Joined draws several marks in one: set one of them")
	}
	if s.patches > 0 && s.boxes != "" {
		return fmt.Errorf("Boxes are those of the whole image, Patches crops it: set one of them")
	}
	if s.patches > 0 && s.box != (Box{}) {
		return fmt.Errorf("Patches crops to a mask, and Box is drawn instead of one: set one of them")
	}
	if (s.fade != Neither || s.patches > 0) && s.mask == "" && s.box == (Box{}) {
		return fmt.Errorf("Fade and Patches need Outline, the mask column")
	}
	return nil
}
