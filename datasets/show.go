package datasets

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"antipode/datasets/cell"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/plaintext"
	"antipode/internal/thumb"
)

// The number of rows of [Table.Print] and [Table.Show]; tables with images show fewer.
const (
	printRows = 20
	showRows  = 30
	imageRows = 10
)

// Print runs the table and prints its first 20 rows as text. On failure it ends a notebook cell with one line, and
// panics elsewhere.
func (t Table) Print() {
	inCell(func(ctx context.Context) error {
		f, err := t.Rows(ctx)
		if err == nil {
			cell.Print(Format(f, printRows))
			err = export(f)
		}
		return err
	})
}

// Show runs the table and shows its first 30 rows, with images or masks 10, and its size: in a notebook as an HTML
// table with thumbnails, elsewhere as text. On failure it ends a notebook cell with one line, and panics elsewhere.
func (t Table) Show() { inCell(t.ShowE) }

// ShowE is [Table.Show] for programs: it returns errors.
func (t Table) ShowE(ctx context.Context) error {
	f, err := t.Rows(ctx)
	if err != nil {
		return err
	}
	f = f.Shown()
	rows := showRows
	if slices.ContainsFunc(f.Columns, func(c Column) bool {
		return c.Kind == table.KindImage || c.Kind == table.KindMask
	}) {
		rows = imageRows
	}
	b := cell.Bundle{Text: Format(f, rows) + size(f) + "\n"}
	if cell.InNotebook() {
		b.HTML = tableHTML(f, rows)
	}
	cell.Show(b)
	return export(f)
}

// export writes all rows of a table that a cell prints, as CSV, while `antipode export` runs the notebook.
func export(f *Frame) error {
	if !cell.Exports() {
		return nil
	}
	f = f.Shown()
	rows := [][]string{nil}
	for _, c := range f.Columns {
		rows[0] = append(rows[0], c.Name)
	}
	for r := range f.Len() {
		row := make([]string, len(f.Columns))
		for i := range f.Columns {
			if c := &f.Columns[i]; c.Kind == table.KindNumber {
				row[i] = c.CSV(r)
			} else {
				row[i] = cellText(c, r)
			}
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return err
	}
	return cell.Export("", map[string]string{"csv": b.String()})
}

// inCell runs work with the cell's context; on failure it ends the cell.
func inCell(work func(context.Context) error) {
	ctx, stop := cell.Context()
	defer stop()
	if err := work(ctx); err != nil {
		cell.Fail(err)
	}
}

// size returns the line below a shown table.
func size(f *Frame) string {
	return count(f.Len(), "row") + " × " + count(len(f.Columns), "column")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// more returns the line for the rows that are not shown, "" if all are.
func more(f *Frame, shown int) string {
	if left := f.Len() - shown; left > 0 {
		return "… " + count(left, "more row")
	}
	return ""
}

// Format returns a frame's first rows, as [table.Frame.Shown] displays them, as an aligned text table; limit 0 = all.
func Format(f *Frame, limit int) string {
	f = f.Shown()
	n := f.Len()
	if limit > 0 {
		n = min(n, limit)
	}
	lines := make([][]string, n+1)
	widths := make([]int, len(f.Columns))
	for i := range f.Columns {
		c := &f.Columns[i]
		for r := range n + 1 {
			s := plaintext.OneLine(c.Name)
			if r > 0 {
				s = cut(plaintext.OneLine(cellText(c, r-1)), 48)
			}
			lines[r] = append(lines[r], s)
			widths[i] = max(widths[i], uniseg.StringWidth(s))
		}
	}
	var b strings.Builder
	for _, cells := range lines {
		line := ""
		for i, s := range cells {
			pad := strings.Repeat(" ", widths[i]-uniseg.StringWidth(s))
			if f.Columns[i].Kind == table.KindNumber {
				line += pad + s + "  "
			} else {
				line += s + pad + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if line := more(f, n); line != "" {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// cut shortens a text to n characters, the last one an ellipsis.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// cellText formats a value: "" for no value, integers with all digits, images, masks and vectors by their sizes.
func cellText(c *Column, row int) string {
	switch c.Kind {
	case table.KindNumber:
		return numberText(c.Numbers[row])
	case table.KindImage:
		return imageText(c.Images[row])
	case table.KindMask:
		return maskText(c.Masks[row])
	case table.KindVector:
		if c.Vectors[row] != nil {
			return fmt.Sprintf("%d float32", len(c.Vectors[row]))
		}
		return ""
	}
	return c.Cell(row)
}

// numberText formats an integer with all its digits and other numbers with six.
func numberText(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case math.Abs(v) >= 1e6 && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func imageText(img table.Image) string {
	if img.Path == "" {
		return ""
	}
	w, h, err := thumb.Size(img.Path)
	if err != nil {
		return "image: " + err.Error()
	}
	return fmt.Sprintf("image %d×%d", w, h)
}

// maskText returns the size of a mask and the share of its pixels that are object.
func maskText(m table.Mask) string {
	if m.Counts == "" {
		return ""
	}
	area, err := mask.Area(m)
	if err != nil {
		return "mask: " + err.Error()
	}
	share := 100 * float64(area) / float64(max(1, m.Size[0]*m.Size[1]))
	return fmt.Sprintf("mask %d×%d, %.0f %%", m.Size[1], m.Size[0], share)
}
