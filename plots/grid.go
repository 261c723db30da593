package plots

import (
	"fmt"

	"antipode/datasets"
)

// Grid shows the images of a table: in lines as they come, or by the values of [Rows] and [Columns]. [Outline] draws the
// border of a mask in red, [Fade] pales one side of it, [Captions] puts columns under each image. At most [Limit]
// images (60) and [PerCell] of them in a cell are shown, the first ones; the caption says how many were left out. Draw
// other ones with [datasets.Table.Sample].
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
	if s.rows == "" && s.columns == "" {
		n := min(limit, len(thumbs))
		cell := sheetCell{thumbs: thumbs[:n]}
		out.blocks = []sheetBlock{{rows: []sheetRow{{cells: []sheetCell{cell}}}}}
		shown = n
	} else if shown, err = out.byRowAndColumn(f, thumbs, limit); err != nil {
		return nil, err
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
func (out *sheet) byRowAndColumn(f *datasets.Frame, thumbs []*thumb, limit int) (int, error) {
	s := out.set
	rowOf, err := optional(f, s.rows)
	if err != nil {
		return 0, err
	}
	columnOf, err := optional(f, s.columns)
	if err != nil {
		return 0, err
	}
	rows, columns := s.levels(s.rows, rowOf), s.levels(s.columns, columnOf)
	if len(columns) > 16 {
		return 0, fmt.Errorf("column %q has %d values: at most 16 columns of images can be seen; use Where, or name it in Rows", s.columns, len(columns))
	}
	if s.columns != "" {
		out.heads = columns
	}
	perCell := s.perCell
	if perCell <= 0 {
		perCell = min(max(limit/(len(rows)*len(columns)), 1), 8)
		if s.columns != "" {
			perCell = min(perCell, 3)
		}
	}
	held := map[[2]string][]*thumb{}
	for i, t := range thumbs {
		k := [2]string{rowOf[i], columnOf[i]}
		held[k] = append(held[k], t)
	}
	block, shown := sheetBlock{}, 0
	for i, r := range rows {
		line := sheetRow{name: r}
		for _, c := range columns {
			mine := held[[2]string{r, c}]
			n := min(perCell, len(mine))
			cell := sheetCell{thumbs: mine[:n], more: len(mine) - n}
			if len(mine) == 0 {
				cell.empty = "none"
			}
			line.cells = append(line.cells, cell)
			shown += n
		}
		block.rows = append(block.rows, line)
		if shown >= limit && i < len(rows)-1 {
			out.caption = append(out.caption, fmt.Sprintf("%d rows not shown: %s.", len(rows)-i-1, list(rows[i+1:], 5)))
			break
		}
	}
	out.blocks = []sheetBlock{block}
	return shown, nil
}
