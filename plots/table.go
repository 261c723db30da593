package plots

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"antipode/datasets"
	"antipode/kernel/client"
)

// TableView is a printed table. Making one does no work.
type TableView struct {
	table   datasets.Table
	columns []string
	title   string
	limit   int
}

// Table prints columns of a table, all text and number columns without a list. A value column VALUE whose interval stands
// in VALUE_low and VALUE_high takes both into its cell, as 0.53 [0.48, 0.58]. Numbers have the digits that their
// intervals, or else the largest of them, make worth reading; CSV has all digits and all columns apart.
func Table(t datasets.Table, columns ...string) TableView {
	return TableView{table: t, columns: columns, limit: 200}
}

// Titled gives the table a title.
func (v TableView) Titled(title string) TableView {
	v.title = title
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
	number []bool
	cells  [][]string
	more   int
}

// note says what the rows shown do not; "" where they are all.
func (t *body) note() string {
	switch {
	case len(t.cells) == 0:
		return "no rows"
	case t.more > 0:
		return fmt.Sprintf("%d more rows not shown", t.more)
	}
	return ""
}

func (v TableView) body(ctx context.Context, limit int) (*body, error) {
	f, columns, err := v.frame(ctx)
	if err != nil {
		return nil, err
	}
	n := f.Len()
	if limit > 0 {
		n = min(n, limit)
	}
	out := &body{cells: make([][]string, n), more: f.Len() - n}
	for _, name := range columns {
		c := f.Column(name)
		out.heads = append(out.heads, name)
		out.number = append(out.number, c.Kind == client.Number)
		write := func(r int) string { return oneLine(c.Cell(r)) }
		if c.Kind == client.Number {
			write = numbers(f, c)
		}
		for r := range n {
			out.cells[r] = append(out.cells[r], write(r))
		}
	}
	return out, nil
}

// frame runs the table and chooses the columns.
func (v TableView) frame(ctx context.Context) (*datasets.Frame, []string, error) {
	f, err := v.table.Rows(ctx)
	if err != nil {
		return nil, nil, err
	}
	columns := v.columns
	if len(columns) == 0 {
		for _, c := range f.Columns {
			base, isEnd := strings.CutSuffix(c.Name, "_low")
			if !isEnd {
				base, isEnd = strings.CutSuffix(c.Name, "_high")
			}
			if isEnd && f.Numbers(base) != nil && hasInterval(f, base) {
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
func numbers(f *datasets.Frame, c *datasets.Column) func(r int) string {
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

// HTML gives the table as an HTML element without script; text from data is escaped.
func (v TableView) HTML(ctx context.Context) (string, error) {
	t, err := v.body(ctx, v.limit)
	if err != nil {
		return "", err
	}
	th := DefaultTheme()
	var b strings.Builder
	fmt.Fprintf(&b, `<table style="border-collapse:collapse;font-family:%s;font-size:%spx;color:%s">`+"\n", escape(th.Fonts), num(th.Text), hex(th.Ink))
	if v.title != "" {
		fmt.Fprintf(&b, `<caption style="text-align:left;font-weight:bold;font-size:%spx;color:%s;padding:0 0 6px 0">%s</caption>`+"\n", num(th.Title), hex(th.Ink), text(v.title))
	}
	align := func(i int) string {
		if t.number[i] {
			return "right"
		}
		return "left"
	}
	b.WriteString("<thead><tr>")
	for i, h := range t.heads {
		fmt.Fprintf(&b, `<th style="text-align:%s;padding:3px 10px;border-bottom:1px solid %s">%s</th>`, align(i), hex(th.Ink), text(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range t.cells {
		b.WriteString("<tr>")
		for i, c := range row {
			style := fmt.Sprintf("text-align:%s;padding:3px 10px;border-bottom:1px solid %s;font-variant-numeric:tabular-nums", align(i), hex(th.Rule))
			if t.number[i] {
				style += ";white-space:nowrap"
			}
			if c == "no data" && t.number[i] {
				style += ";color:" + hex(th.Muted)
			}
			fmt.Fprintf(&b, `<td style="%s">%s</td>`, style, text(c))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table>")
	if note := t.note(); note != "" {
		fmt.Fprintf(&b, "\n"+`<div style="font-family:%s;font-size:%spx;color:%s">%s</div>`, escape(th.Fonts), num(th.Small), hex(th.Muted), note)
	}
	return b.String(), nil
}

// Text gives the table in aligned columns, for a terminal.
func (v TableView) Text(ctx context.Context) (string, error) {
	t, err := v.body(ctx, v.limit)
	if err != nil {
		return "", err
	}
	widths := make([]int, len(t.heads))
	for _, row := range append([][]string{t.heads}, t.cells...) {
		for i, c := range row {
			widths[i] = max(widths[i], columnsOf(c))
		}
	}
	var b strings.Builder
	if v.title != "" {
		b.WriteString(oneLine(v.title) + "\n")
	}
	for _, row := range append([][]string{t.heads}, t.cells...) {
		line := ""
		for i, c := range row {
			pad := strings.Repeat(" ", widths[i]-columnsOf(c))
			if t.number[i] {
				line += pad + c + "  "
			} else {
				line += c + pad + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if note := t.note(); note != "" {
		fmt.Fprintln(&b, note)
	}
	return b.String(), nil
}

// columnsOf is how many columns of a terminal the text takes.
func columnsOf(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		default:
			n++
		}
	}
	return n
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
	return display(html, plain)
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
