package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
)

// Grid shows the images of a table: in lines as they come, or by the values of [Rows] and [Columns]. [Outline] draws the
// border of a mask in red, [Fade] pales one side of it, [Captions] puts columns under each image. [Blocks] sets one such
// table below the other, for example one for each script; [RowValue] writes a number below the name of each row, and with
// [Sorted] ranks the rows by it. At most [Limit] images (60) and [PerCell] of them in a cell are shown, the first ones; the
// caption says how many were left out. Draw other ones with [datasets.Table.Sample].
//
// Figure 2 of the Decomposed-DIG paper: Rows("region"), Columns("template"), Outline("mask"), Patches(14), Fade(Background).
func Grid(t datasets.Table, options ...Option) Figure {
	return figure("image grid", t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildGrid(f, s)
	})
}

func buildGrid(f *datasets.Frame, s *settings) (drawing, error) {
	limit := s.limit
	if limit <= 0 {
		limit = 60
	}
	thumbs, err := s.thumbs(f)
	if err != nil {
		return nil, err
	}
	out := &sheet{set: s, title: s.title}
	if out.title == "" {
		out.title = "Images"
	}
	shown := 0
	switch {
	case s.rows == "" && s.columns == "" && s.block == "":
		shown = min(limit, len(thumbs))
		out.blocks = []sheetBlock{{rows: []sheetRow{{cells: []sheetCell{{thumbs: thumbs[:shown]}}}}}}
	default:
		if shown, err = out.byRowAndColumn(f, thumbs, limit); err != nil {
			return nil, err
		}
	}
	if s.note != "" {
		out.caption = append(out.caption, isolate(oneLine(s.note)))
	}
	if more := len(thumbs) - shown; more > 0 {
		out.caption = append(out.caption, fmt.Sprintf("%d of %d images, the first of the table; %d more not shown.", shown, len(thumbs), more))
	} else {
		out.caption = append(out.caption, fmt.Sprintf("n = %d images.", shown))
	}
	out.caption = append(out.caption, s.outlineNote()...)
	return out.finish()
}

// outlineNote explains the red line.
func (s *settings) outlineNote() []string {
	if s.boxes != nil {
		return []string{"Red: the box of the row."}
	}
	if s.mask == "" {
		return nil
	}
	note := "Red: border of the mask"
	if s.patches > 0 {
		note = fmt.Sprintf("Red: border between object and background patches (%d × %d)", s.patches, s.patches)
	}
	switch s.fade {
	case Background:
		note += ", background paled"
	case Object:
		note += ", object paled"
	}
	return []string{note + "."}
}

// byRowAndColumn sorts the images into cells and gives how many it shows.
func (out *sheet) byRowAndColumn(f *datasets.Frame, thumbs []*thumbnail, limit int) (int, error) {
	s := out.set
	rowOf, err := optional(f, s.rows)
	if err != nil {
		return 0, err
	}
	columnOf, err := optional(f, s.columns)
	if err != nil {
		return 0, err
	}
	blockOf, err := optional(f, s.block)
	if err != nil {
		return 0, err
	}
	worth, write, err := s.rowValues(f, rowOf, blockOf)
	if err != nil {
		return 0, err
	}
	columns := s.levels(s.columns, columnOf)
	if len(columns) > 16 {
		return 0, fmt.Errorf("column %q has %d values: at most 16 columns of images can be seen; use Where, or name it in Rows", s.columns, len(columns))
	}
	if s.columns != "" {
		out.heads = columns
	}
	held := map[[3]string][]*thumbnail{}
	lines := map[[2]string]bool{}
	for i, t := range thumbs {
		k := [3]string{blockOf[i], rowOf[i], columnOf[i]}
		held[k] = append(held[k], t)
		lines[[2]string{blockOf[i], rowOf[i]}] = true
	}
	perCell := s.perCell
	if perCell <= 0 {
		perCell = min(max(limit/(len(lines)*len(columns)), 1), 8)
		if s.columns != "" {
			perCell = min(perCell, 3)
		}
	}
	shown := 0
	var left []string
	for _, b := range s.levels(s.block, blockOf) {
		block := sheetBlock{title: b}
		rows := slices.DeleteFunc(s.levels(s.rows, rowOf), func(r string) bool { return !lines[[2]string{b, r}] })
		if s.sorted && worth != nil {
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
				cell := sheetCell{thumbs: mine[:n], more: len(mine) - n}
				if len(mine) == 0 {
					cell.empty = "none"
				}
				line.cells = append(line.cells, cell)
				shown += n
			}
			block.rows = append(block.rows, line)
		}
		if block.rows != nil {
			out.blocks = append(out.blocks, block)
		}
	}
	if left != nil {
		out.caption = append(out.caption, fmt.Sprintf("%d rows not shown: %s.", len(left), list(left, 5)))
	}
	return shown, nil
}

// rowValues reads the number of each row of the grid by its block and name, and says how it is written.
func (s *settings) rowValues(f *datasets.Frame, rowOf, blockOf []string) (map[[2]string]float64, func(float64) string, error) {
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
			return nil, nil, fmt.Errorf("column %q differs within the row %q: %.6g and, in %s, %.6g", s.rowValue, rowOf[i], before, rowName(f, i), w.v)
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
