package plots

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/cell"
	"antipode/kernel/client"
)

// TableView is a printed table. Making one does no work.
type TableView struct {
	table    datasets.Table
	columns  []string
	title    string
	notes    []string
	limit    int
	layout   layout
	settings []string // columns that are said below the table; nil = none, empty = those that hold one value
}

// Table prints columns of a table, all text and number columns without a list. A value column VALUE whose interval stands
// in VALUE_low and VALUE_high takes both into its cell, as 0.53 [0.48, 0.58]. Numbers have the digits that their
// intervals, or else the largest of them, make worth reading; CSV has all digits and all columns apart.
//
// Without a list, what the columns note, warning, settings and interval say of all rows alike stands once below the table.
//
// A paper's own layout comes from [TableView.Wide], [TableView.Blocks], [TableView.Spans], [TableView.Head],
// [TableView.Percent] and [TableView.Decimals].
func Table(t datasets.Table, columns ...string) TableView {
	return TableView{table: t, columns: columns, limit: 200}
}

// Titled gives the table a title.
func (v TableView) Titled(title string) TableView {
	v.title = title
	return v
}

// Noted adds a sentence below the table; CSV has none.
func (v TableView) Noted(text string) TableView {
	v.notes = append(slices.Clone(v.notes), text)
	return v
}

// Limit sets how many rows are shown (200); CSV, Markdown and LaTeX always have all.
func (v TableView) Limit(rows int) TableView {
	v.limit = rows
	return v
}

// body is a table as text: cells[row][column].
type body struct {
	heads  []string
	spans  []string // common heads above them, "" = none; nil without any
	full   []string // head and span in one, for forms without spans
	number []bool
	cells  [][]string
	more   int
	notes  []string
}

// note says what the rows shown do not, then the notes; "" without either.
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

// bodies gives the table in blocks, one without [TableView.Blocks]; notes and what is left out are the last one's.
func (v TableView) bodies(ctx context.Context, limit int) ([]*body, error) {
	f, columns, err := v.frame(ctx)
	if err != nil {
		return nil, err
	}
	blocks, err := v.layout.split(columns)
	if err != nil {
		return nil, err
	}
	f = v.layout.scaled(f)
	n := f.Len()
	if limit > 0 {
		n = min(n, limit)
	}
	var out []*body
	for _, block := range blocks {
		b := &body{cells: make([][]string, n)}
		for _, name := range block {
			c := f.Column(name)
			b.full = append(b.full, v.layout.head(name))
			b.number = append(b.number, c.Kind == client.Number)
			write := func(r int) string { return oneLine(c.Cell(r)) }
			if c.Kind == client.Number {
				write = numbers(f, c, v.layout.decimalsOf(name))
			}
			for r := range n {
				b.cells[r] = append(b.cells[r], write(r))
			}
		}
		b.spans, b.heads = v.layout.spans(b.full)
		out = append(out, b)
	}
	last := out[len(out)-1]
	last.more = f.Len() - n
	for _, note := range v.notes {
		last.notes = append(last.notes, isolate(oneLine(note)))
	}
	for _, name := range v.said(f, columns) {
		if c := f.Column(name); c != nil && f.Len() > 0 {
			last.notes = append(last.notes, isolate(oneLine(name+": "+c.Cell(0))))
		}
	}
	return out, nil
}

// frame runs the table, arranges it and chooses the columns.
func (v TableView) frame(ctx context.Context) (*datasets.Frame, []string, error) {
	f, err := v.table.Rows(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range v.settings {
		if _, err := f.Need(name, client.Text); err != nil {
			return nil, nil, fmt.Errorf("table: settings: %w", err)
		}
		if distinct(f, name) > 1 {
			return nil, nil, fmt.Errorf("table: settings: column %q holds more than one text; print it as a column, or use Where", name)
		}
	}
	if f, err = v.layout.arrange(f); err != nil {
		return nil, nil, fmt.Errorf("table: %w", err)
	}
	columns := v.columns
	if len(columns) == 0 {
		for _, c := range f.Columns {
			base, isEnd := strings.CutSuffix(c.Name, "_low")
			if !isEnd {
				base, isEnd = strings.CutSuffix(c.Name, "_high")
			}
			if isEnd && f.Numbers(base) != nil && hasInterval(f, base) || v.layout.wide != nil && slices.Contains(v.layout.constants, c.Name) {
				continue
			}
			if saidOnce(f, c.Name) {
				continue
			}
			if c.Kind == client.Text || c.Kind == client.Number {
				columns = append(columns, c.Name)
			}
		}
	}
	for _, name := range columns {
		if !f.Has(name) {
			_, err := f.Need(name, client.Text)
			return nil, nil, fmt.Errorf("table: %w", err)
		}
	}
	return f, columns, nil
}

func hasInterval(f *datasets.Frame, column string) bool {
	return f.Numbers(column+"_low") != nil && f.Numbers(column+"_high") != nil
}

// numbers gives the way a number column is written: whole numbers whole, values with intervals to the first digit of a quarter
// of the usual interval, others with three digits of the largest.
// fixed is the number of decimals where it is not negative.
func numbers(f *datasets.Frame, c *datasets.Column, fixed int) func(r int) string {
	var low, high []float64
	if hasInterval(f, c.Name) {
		low, high = f.Numbers(c.Name+"_low"), f.Numbers(c.Name+"_high")
	}
	wholeNumbers, largest := true, 0.0
	var halves []float64
	for i, v := range c.Numbers {
		if !finite(v) {
			continue
		}
		wholeNumbers = wholeNumbers && v == math.Trunc(v)
		largest = max(largest, math.Abs(v))
		if low != nil && finite(low[i]) && finite(high[i]) && high[i] > low[i] {
			halves = append(halves, (high[i]-low[i])/2)
		}
	}
	decimals := 0
	switch {
	case len(halves) > 0:
		slices.Sort(halves)
		decimals = -int(math.Floor(math.Log10(halves[len(halves)/2] / 2)))
	case !wholeNumbers && largest > 0:
		decimals = 2 - int(math.Floor(math.Log10(largest)))
	}
	decimals = min(max(decimals, 0), 6)
	if fixed >= 0 {
		decimals = fixed
	}
	write := func(v float64) string {
		if v == 0 || math.Abs(v) < 0.5*math.Pow10(-decimals) {
			v = 0 // no "-0.00"
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
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

// ShowE puts the table under the cell, or prints it as text outside a notebook.
func (v TableView) ShowE(ctx context.Context) error {
	plain, err := v.Text(ctx)
	if err != nil {
		return err
	}
	html, err := v.HTML(ctx)
	if err != nil {
		return err
	}
	cell.Show(cell.Bundle{HTML: html, Text: plain})
	return nil
}

// Show is [TableView.ShowE] for cells; failures are those of [Figure.Show].
func (v TableView) Show() { inCell(v.ShowE) }

// SaveE writes the table to a file: .csv, .md, .tex, .txt or .html.
func (v TableView) SaveE(ctx context.Context, path string) error {
	var out string
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		out, err = v.CSV(ctx)
	case ".md":
		out, err = v.Markdown(ctx)
	case ".tex":
		out, err = v.LaTeX(ctx)
	case ".txt":
		out, err = v.Text(ctx)
	case ".html", ".htm":
		if out, err = v.HTML(ctx); err == nil {
			out = string(page(v.title, out))
		}
	default:
		return fmt.Errorf("cannot save a table to %s: give a name that ends in .csv, .md, .tex, .txt or .html", path)
	}
	if err != nil {
		return err
	}
	return write(path, []byte(out))
}

// Save is [TableView.SaveE] for cells; failures are those of [Figure.Show].
func (v TableView) Save(path string) {
	inCell(func(ctx context.Context) error { return v.SaveE(ctx, path) })
}
