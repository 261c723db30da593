package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
)

// Grid shows the images of a table: in lines in table order, or arranged by the values of Rows, Columns and Blocks. Of
// more images than Limit the first are shown; the caption counts the others. Show other ones with
// [datasets.Table.Sample].
//
// Patches draws the outline along the border between object and background patches, as a vision transformer with
// Patches × Patches patches sees a square crop around the center: 14 for 224-pixel input and 16-pixel patches.
//
// Figure 2 of the Decomposed-DIG paper: Rows: "region", Columns: "template", Outline: "mask", Patches: 14,
// Fade: Background.
type Grid struct {
	Table    datasets.Table
	Rows     string   // column with a row of images for each value
	Columns  string   // column with a column of images for each value
	Blocks   string   // column with a block of rows for each value, one below the other
	Order    Order    // order of the values of columns
	Image    string   // image column (default: image)
	Outline  string   // mask column whose border is drawn in red
	Box      Box      // boxes to draw in red, in place of Outline
	Boxes    string   // text column of a detector's boxes, as Segment adds it, drawn in blue with labels and scores
	Fade     Side     // side of the outline to make pale
	Patches  int      // patches along a side of the image; 0 = the outline follows the mask
	Captions []string // text and number columns to write below each image
	RowValue string   // number column, equal in all images of a row, to write below the row's name
	Percent  bool     // RowValue is times 100
	Sorted   bool     // rows by RowValue, largest first
	Limit    int      // images shown (default: 60)
	PerCell  int      // images shown in each cell (default: as Limit allows)
	Size     float64  // side of an image in CSS pixels (default: at most 200; a single image is as wide as the figure)
	Title    string
	Note     string // first sentence of the caption
	Theme    Theme
}

func (f Grid) figure() drawer {
	return figure{"image grid", f.Table, nil, options{
		rows: f.Rows, columns: f.Columns, block: f.Blocks, order: f.Order, image: f.Image, mask: f.Outline, box: f.Box,
		boxes: f.Boxes, fade: f.Fade, patches: f.Patches, captions: f.Captions, rowValue: f.RowValue,
		percent: f.Percent, sorted: f.Sorted, limit: f.Limit, perCell: f.PerCell, size: f.Size, title: f.Title,
		note: f.Note, theme: f.Theme,
	}, buildGrid}
}

func buildGrid(f *datasets.Frame, s *options) (drawing, error) {
	if (s.sorted || s.percent) && s.rowValue == "" {
		return nil, errors.New("Sorted and Percent need RowValue")
	}
	if s.size != 0 && !(s.size >= 16 && s.size <= 4096) {
		return nil, fmt.Errorf("Size is %g pixels; use 16 to 4096", s.size)
	}
	limit := cmp.Or(max(s.limit, 0), 60)
	thumbs, err := s.thumbs(f)
	if err != nil {
		return nil, err
	}
	out := &sheet{set: s, title: cmp.Or(s.title, "Images")}
	shown := min(limit, len(thumbs))
	if s.rows == "" && s.columns == "" && s.block == "" {
		out.blocks = []sheetBlock{{rows: []sheetRow{{cells: []sheetCell{{thumbs: thumbs[:shown]}}}}}}
	} else if shown, err = out.byRowAndColumn(f, thumbs, limit); err != nil {
		return nil, err
	}
	out.caption = append(out.caption, s.opening()...)
	if more := len(thumbs) - shown; more > 0 {
		out.caption = append(out.caption, fmt.Sprintf("%d of %d images, the first of the table; %d more not shown.",
			shown, len(thumbs), more))
	} else {
		out.caption = append(out.caption, fmt.Sprintf("n = %d images.", shown))
	}
	out.caption = append(out.caption, s.outlineNote()...)
	return out.finish()
}

// outlineNote explains the red line in the caption.
func (s *options) outlineNote() (notes []string) {
	if s.boxes != "" {
		notes = append(notes, "Blue: the detector's boxes, with labels and scores.")
	}
	if s.box != (Box{}) {
		return append(notes, "Red: the box of the row.")
	}
	if s.mask == "" {
		return notes
	}
	note := "Red: border of the mask"
	if s.patches > 0 {
		note = fmt.Sprintf("Red: border between object and background patches (%d × %d)", s.patches, s.patches)
	}
	switch s.fade {
	case Background:
		note += ", background pale"
	case Object:
		note += ", object pale"
	}
	return append(notes, note+".")
}

// byRowAndColumn sorts the images into cells and returns how many are shown.
func (s *sheet) byRowAndColumn(f *datasets.Frame, thumbs []*thumbnail, limit int) (int, error) {
	set := s.set
	var err error
	rowOf, columnOf, blockOf := or(optional(f, set.rows))(&err), or(optional(f, set.columns))(&err),
		or(optional(f, set.block))(&err)
	if err != nil {
		return 0, err
	}
	worth, write, err := set.rowValues(f, rowOf, blockOf)
	if err != nil {
		return 0, err
	}
	columns := set.levels(set.columns, columnOf)
	if len(columns) > 16 {
		return 0, fmt.Errorf("column %q has %d values: at most 16 columns of images are readable; use Where, or "+
			"set it as Rows", set.columns, len(columns))
	}
	if set.columns != "" {
		s.heads = columns
	}
	held := map[[3]string][]*thumbnail{}
	lines := map[[2]string]bool{}
	for i, t := range thumbs {
		k := [3]string{blockOf[i], rowOf[i], columnOf[i]}
		held[k] = append(held[k], t)
		lines[[2]string{blockOf[i], rowOf[i]}] = true
	}
	most := 8
	if set.columns != "" {
		most = 3
	}
	perCell := cmp.Or(max(set.perCell, 0), min(max(limit/(len(lines)*len(columns)), 1), most))
	shown := 0
	var left []string
	for _, b := range set.levels(set.block, blockOf) {
		block := sheetBlock{title: b}
		rows := slices.DeleteFunc(set.levels(set.rows, rowOf), func(r string) bool { return !lines[[2]string{b, r}] })
		if set.sorted && worth != nil {
			slices.SortStableFunc(rows, func(p, q string) int {
				return cmp.Compare(worth[[2]string{b, q}], worth[[2]string{b, p}]) // NaN is the smallest
			})
		}
		for _, r := range rows {
			if shown >= limit {
				left = append(left, strings.TrimSpace(b+" "+r))
				continue
			}
			line := sheetRow{name: r}
			if v, known := worth[[2]string{b, r}]; known {
				line.note = write(v)
			}
			for _, c := range columns {
				mine := held[[3]string{b, r, c}]
				n := min(perCell, len(mine))
				line.cells = append(line.cells, sheetCell{thumbs: mine[:n], empty: "none", more: len(mine) - n})
				shown += n
			}
			block.rows = append(block.rows, line)
		}
		if block.rows != nil {
			s.blocks = append(s.blocks, block)
		}
	}
	if left != nil {
		s.caption = append(s.caption, fmt.Sprintf("%d rows not shown: %s.", len(left), list(left, 5)))
	}
	return shown, nil
}

// rowValues returns the number of each row of the grid, by its block and name, and its format.
func (s *options) rowValues(f *datasets.Frame, rowOf, blockOf []string) (map[[2]string]float64, func(float64) string,
	error) {
	if s.rowValue == "" {
		return nil, nil, nil
	}
	v, err := s.read(f, s.rowValue)
	if err != nil {
		return nil, nil, err
	}
	out := map[[2]string]float64{}
	for i, w := range v {
		k := [2]string{blockOf[i], rowOf[i]}
		if before, known := out[k]; known && before != w.v && !(math.IsNaN(before) && w.none()) {
			return nil, nil, fmt.Errorf("column %q differs within the row %q: %.6g and, in %s, %.6g", s.rowValue,
				rowOf[i], before, rowName(f, i), w.v)
		}
		out[k] = w.v
	}
	number := digits(v)
	return out, func(v float64) string {
		if math.IsNaN(v) {
			return s.rowValue + ": no data"
		}
		return s.rowValue + " " + number(v)
	}, nil
}
