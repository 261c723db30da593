package plots

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/datasets/table"
	"antipode/plots/browse"
	"antipode/plots/internal/letters"
)

// Table prints columns of a table: as HTML and text in a notebook, to a file as CSV, Markdown, LaTeX, text or HTML. A
// value column V with an interval in V_low and V_high has both in its cell, as 0.53 [0.48, 0.58]. Numbers have the
// digits that their intervals, or else the largest of them, justify; CSV has all digits and separate
// columns.
//
// Without Columns, texts of the columns note, warning, settings and interval that are equal in all rows are printed
// once, below the table.
//
// Wide, Block, Repeat, Span, Names, Percent and Decimals produce a paper's own layout.
type Table struct {
	Table   datasets.Table
	Columns []string // columns to print (default: all text and number columns)
	Title   string
	Notes   []string // sentences below the table; not in CSV
	Limit   int      // rows in HTML and text (default: 200)

	Names          map[string]string // column labels in place of the columns' names; not in CSV
	Decimals       int               // decimals of all numbers but counts (n, n_…); -1 = none (default: as described)
	ColumnDecimals map[string]int    // decimals of a column
	Percent        bool              // prints numbers but counts, with their intervals, times 100; not in CSV

	Wide   Wide     // rows and columns from the values of two columns
	Block  int      // breaks the table into blocks of at most so many columns, one below the other; not in CSV
	Repeat []string // columns repeated in every block
	Span   string   // separator in labels: equal text before it is a common label; not in CSV and Markdown

	Browse datasets.Table // images: below the table, a page on which a click on a row selects those of its group

	Footer    []string // text columns, equal in all rows, to print once below the table; in CSV they are columns
	Constants bool     // prints all text columns that are equal in all rows below the table, as Footer does
}

// Wide spreads a table with a row for each value: the values of the column Rows are its rows and those of Columns its
// columns, both in table order, with the numbers of the column Value, and their intervals, in the cells. Two rows for a
// cell are an error. Of other columns the text columns that are equal in all rows remain, for [Table].Footer and CSV.
type Wide struct{ Rows, Columns, Value string }

// body is a table as text: cells[row][column].
type body struct {
	labels []string
	spans  []string // common labels above them, "" = none; nil without any
	full   []string // span and label in one, for forms without spans
	number []bool
	cells  [][]string
	more   int
	notes  []string
}

// note counts the rows that are not shown, then lists the notes; "" without either.
func (t *body) note() string {
	notes := t.notes
	switch {
	case len(t.cells) == 0:
		notes = append([]string{"no rows"}, notes...)
	case t.more > 0:
		notes = append([]string{fmt.Sprintf("%d more rows not shown", t.more)}, notes...)
	}
	return strings.Join(notes, "; ")
}

// bodies returns the table in blocks, one without Block; the last one has the notes and the number of rows left out.
func (v Table) bodies(ctx context.Context, limit int) ([]*body, error) {
	f, columns, err := v.frame(ctx)
	if err != nil {
		return nil, err
	}
	blocks, err := v.split(columns)
	if err != nil {
		return nil, err
	}
	f = v.scaled(f)
	n := f.Len()
	if limit > 0 {
		n = min(n, limit)
	}
	var out []*body
	for _, block := range blocks {
		b := &body{cells: make([][]string, n)}
		for _, name := range block {
			c := f.Column(name)
			b.full = append(b.full, cmp.Or(v.Names[name], name))
			b.number = append(b.number, c.Kind == table.KindNumber)
			write := func(r int) string { return letters.OneLine(c.Cell(r)) }
			if c.Kind == table.KindNumber {
				write = numbers(f, c, v.decimals(name))
			}
			for r := range n {
				b.cells[r] = append(b.cells[r], write(r))
			}
		}
		b.spans, b.labels = v.spans(b.full)
		out = append(out, b)
	}
	last := out[len(out)-1]
	last.more = f.Len() - n
	for _, note := range v.Notes {
		last.notes = append(last.notes, letters.Isolate(letters.OneLine(note)))
	}
	for _, name := range v.below(f, columns) {
		if c := f.Column(name); c != nil && f.Len() > 0 {
			last.notes = append(last.notes, letters.Isolate(letters.OneLine(name+": "+c.Cell(0))))
		}
	}
	return out, nil
}

// frame runs the table, arranges it and chooses the columns.
func (v Table) frame(ctx context.Context) (*datasets.Frame, []string, error) {
	f, err := v.Table.Rows(ctx)
	if err != nil {
		return nil, nil, err
	}
	f = f.Shown()
	for _, name := range v.Footer {
		if _, err := f.Need(name, table.KindText); err != nil {
			return nil, nil, fmt.Errorf("table: Footer: %w", err)
		}
		if distinct(f, name) > 1 {
			return nil, nil, fmt.Errorf("table: Footer: column %q holds more than one text; print it as a column, "+
				"or use Where", name)
		}
	}
	f, constants, err := v.arrange(f)
	if err != nil {
		return nil, nil, fmt.Errorf("table: %w", err)
	}
	for name := range v.Names {
		if !f.Has(name) {
			return nil, nil, fmt.Errorf("table: Names: %w", table.NoColumn(name, f.Specs()))
		}
	}
	for name := range v.ColumnDecimals {
		if !f.Has(name) {
			return nil, nil, fmt.Errorf("table: ColumnDecimals: %w", table.NoColumn(name, f.Specs()))
		}
	}
	columns := v.Columns
	if len(columns) == 0 {
		for _, c := range f.Columns {
			base, isEnd := strings.CutSuffix(c.Name, "_low")
			if !isEnd {
				base, isEnd = strings.CutSuffix(c.Name, "_high")
			}
			if isEnd && f.Numbers(base) != nil && hasInterval(f, base) || slices.Contains(constants, c.Name) {
				continue
			}
			if onceBelow(f, c.Name) {
				continue
			}
			if c.Kind == table.KindText || c.Kind == table.KindNumber {
				columns = append(columns, c.Name)
			}
		}
	}
	for _, name := range columns {
		if !f.Has(name) {
			_, err := f.Need(name, table.KindText)
			return nil, nil, fmt.Errorf("table: %w", err)
		}
	}
	return f, columns, nil
}

func hasInterval(f *datasets.Frame, column string) bool {
	return f.Numbers(column+"_low") != nil && f.Numbers(column+"_high") != nil
}

// numbers returns the format of a number column with the [decimals] of its values, or with fixed decimals if fixed is
// not negative.
func numbers(f *datasets.Frame, c *datasets.Column, fixed int) func(r int) string {
	var low, high []float64
	if hasInterval(f, c.Name) {
		low, high = f.Numbers(c.Name+"_low"), f.Numbers(c.Name+"_high")
	}
	if fixed < 0 {
		values := make([]value, len(c.Numbers))
		for i, v := range c.Numbers {
			values[i] = value{v, math.NaN(), math.NaN()}
			if low != nil {
				values[i] = value{v, low[i], high[i]}
			}
		}
		fixed = decimals(values)
	}
	write := rounded(fixed)
	return func(r int) string {
		v := c.Numbers[r]
		if math.IsNaN(v) {
			return "no data"
		}
		if low == nil || math.IsNaN(low[r]) || math.IsNaN(high[r]) {
			return write(v)
		}
		return fmt.Sprintf("%s [%s, %s]", write(v), write(low[r]), write(high[r]))
	}
}

func (v Table) figure() drawer { return v }

func (v Table) render(ctx context.Context, format string) ([]byte, error) {
	forms := map[string]func(context.Context) (string, error){"csv": v.csv, "json": v.json, "md": v.markdown,
		"tex": v.latex, "txt": v.text, "html": v.html}
	if forms[format] == nil {
		return nil, formatError{"table", ".csv, .json, .md, .tex, .txt or .html"}
	}
	text, err := forms[format](ctx)
	return []byte(text), err
}

func (v Table) bundle(ctx context.Context) (b cell.Bundle, err error) {
	if b.Text, err = v.text(ctx); err == nil {
		b.HTML, err = v.html(ctx)
	}
	if err != nil || reflect.ValueOf(v.Browse).IsZero() {
		return b, err
	}
	v.Block = 0
	bodies, err := v.bodies(ctx, v.limit())
	if err != nil {
		return b, err
	}
	frame, _, err := v.frame(ctx)
	if err != nil {
		return b, err
	}
	of := &browse.Figure{Text: v.Title, Head: bodies[0].full, Cells: bodies[0].cells,
		Marks: make([]browse.Mark, len(bodies[0].cells))}
	page, err := linked(ctx, v.Browse, v.Table, v.Title, of, frame, all(len(of.Marks)))
	b.HTML += page
	return b, err
}
