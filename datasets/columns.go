package datasets

import (
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

func init() {
	operation.Verb("select", selectColumns)
	operation.Verb("with", with)
	operation.Verb("rename", rename)
	operation.Verb("remove-prefix", removePrefix)
	operation.Verb("cast", cast)
}

type columnsArgs struct {
	Columns []string `json:"columns"`
}

// Select returns the named columns, in that order, and those that are displayed in their place
// ([table.Frame.Shown]).
func (t Table) Select(columns ...string) Table {
	var specs []table.ColumnSpec
	for _, name := range table.WithShown(columns, t.has) {
		t = t.need(name, "")
		if at := table.Position(t.columns, name); at >= 0 {
			specs = append(specs, t.columns[at])
		}
	}
	if len(columns) == 0 {
		return t.failed(fmt.Errorf("Select: name at least one column"))
	}
	out := New("select", columnsArgs{columns}, specs, t)
	out.open = t.open
	return out
}

// has reports whether the table is known to have a column.
func (t Table) has(name string) bool { return table.Position(t.columns, name) >= 0 }

func selectColumns(_ *Call, a columnsArgs, in []*Frame) (*Frame, error) {
	out := in[0].SameRows(nil)
	for _, name := range table.WithShown(a.Columns, in[0].Has) {
		c, err := in[0].Need(name, "")
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, *c)
	}
	return out, nil
}

type withArgs struct {
	Column string   `json:"column"`
	Text   *string  `json:"text,omitempty"`
	Number *float64 `json:"number,omitempty"`
}

// With sets a column to one value, a string, an int or a float64, in every row. An int that a float64 would round is
// text.
func (t Table) With(column string, value any) Table {
	args := withArgs{Column: column}
	kind := table.KindNumber
	switch v := value.(type) {
	case string:
		args.Text, kind = &v, table.KindText
	case int:
		n := float64(v)
		if args.Number = &n; !exact(v) {
			text := strconv.Itoa(v)
			args.Number, args.Text, kind = nil, &text, table.KindText
		}
	case float64:
		args.Number = &v
	default:
		return t.failed(fmt.Errorf("With(%q, …): the value is a %T; use a string, an int or a float64", column, value))
	}
	return t.derive("with", args, table.ColumnSpec{Name: column, Kind: kind})
}

func with(_ *Call, a withArgs, in []*Frame) (*Frame, error) {
	n := in[0].Len()
	if a.Text != nil {
		return in[0].With(table.TextColumn(a.Column, slices.Repeat([]string{*a.Text}, n))), nil
	}
	if a.Number == nil {
		return nil, errors.New("With: no value")
	}
	return in[0].With(table.NumberColumn(a.Column, slices.Repeat([]float64{*a.Number}, n))), nil
}

// RenameArgs are the arguments of [Table.Rename].
type RenameArgs struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Rename changes a column's name, for example to the one that a stage or metric expects, and that of the column that is
// displayed in its place ([table.Frame.Shown]). The new name must not exist.
func (t Table) Rename(from, to string) Table {
	t = t.need(from, "")
	if t.err != nil || from == to {
		return t
	}
	columns := t.Columns()
	if to == "" || table.Position(columns, to) >= 0 {
		return t.failed(fmt.Errorf("Rename(%q, %q): the new name is empty or exists (columns: %s)", from, to,
			table.NameList(columns)))
	}
	for _, end := range []string{"", table.ShownSuffix} {
		if at := table.Position(columns, from+end); at >= 0 {
			columns[at].Name = to + end
		}
	}
	out := New("rename", RenameArgs{from, to}, columns, t)
	out.open, out.name = t.open, t.name
	return out
}

func rename(_ *Call, a RenameArgs, in []*Frame) (*Frame, error) {
	out := in[0].SameRows(slices.Clone(in[0].Columns))
	c, err := out.Need(a.From, "")
	if err != nil {
		return nil, err
	}
	if out.Has(a.To) {
		return nil, fmt.Errorf("Rename(%q, %q): there is a column %q already", a.From, a.To, a.To)
	}
	c.Name = a.To
	if shown := out.Column(a.From + table.ShownSuffix); shown != nil {
		shown.Name = a.To + table.ShownSuffix
	}
	return out, nil
}

// removePrefixArgs are the arguments of [Table.RemovePrefix].
type removePrefixArgs struct {
	Column string `json:"column"`
	Prefix string `json:"prefix"`
}

// RemovePrefix removes a prefix and the white space after it from the texts of a column: "the crest is round" becomes
// "round". Texts without the prefix are unchanged.
func (t Table) RemovePrefix(column, prefix string) Table {
	return t.need(column, table.KindText).derive("remove-prefix", removePrefixArgs{column, prefix})
}

func removePrefix(_ *Call, a removePrefixArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, table.KindText)
	if err != nil {
		return nil, err
	}
	texts := slices.Clone(c.Texts)
	for i, t := range texts {
		if rest, found := strings.CutPrefix(t, a.Prefix); found {
			texts[i] = strings.TrimLeft(rest, " \t\n")
		}
	}
	return in[0].With(table.TextColumn(a.Column, texts)), nil
}

type castArgs struct {
	Column string     `json:"column"`
	Kind   table.Kind `json:"kind"`

	Decimal   string `json:"decimal,omitempty"`
	Thousands string `json:"thousands,omitempty"`
}

// Cast returns the table with a column as text or as numbers ([table.KindText], [table.KindNumber]). Text that is not a
// number becomes no value, which a note reports. format is how the numbers are written, by default as in 1234.5.
func (t Table) Cast(column string, kind table.Kind, format ...table.NumberFormat) Table {
	o, err := table.One(format)
	if err != nil {
		return t.failed(fmt.Errorf("Cast: %w", err))
	}
	if kind != table.KindText && kind != table.KindNumber {
		return t.failed(fmt.Errorf("Cast(%q, %q): a column is cast to \"text\" or \"number\"", column, kind))
	}
	return t.need(column, "").derive("cast", castArgs{column, kind, o.Decimal, o.Thousands},
		table.ColumnSpec{Name: column, Kind: kind})
}

// cast evaluates Table.Cast.
func cast(call *Call, a castArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, "")
	if err != nil {
		return nil, err
	}
	format := table.NumberFormat{Decimal: a.Decimal, Thousands: a.Thousands}
	texts := a.Kind == table.KindNumber && c.Kind == table.KindText
	as, err := c.As(a.Kind)
	if err == nil && !(texts && format != table.NumberFormat{}) || !texts {
		if err != nil {
			return nil, fmt.Errorf("Cast: %w", err)
		}
		return in[0].With(*as), nil
	}
	numbers, lost := make([]float64, len(c.Texts)), make([]error, len(c.Texts))
	first := -1
	for row, text := range c.Texts {
		n, err := format.ParseNumbers([]string{text})
		if lost[row] = err; err != nil {
			if n = []float64{math.NaN()}; first < 0 {
				first = row
			}
		}
		numbers[row] = n[0]
	}
	fix := ""
	var why *table.NotNumber
	if first >= 0 && errors.As(lost[first], &why) && why.Why != "is not a number" {
		fix = fmt.Sprintf("%s %s", why.Cell, why.Why)
	}
	call.Reading(table.Reading{Source: "Cast", Column: a.Column, Fix: fix,
		What: fmt.Sprintf("values of %q are not numbers and count as missing (the first: row %d, %.40q)", a.Column,
			first+1,
			c.Texts[first])}.Count(in[0], func(row int) (bool, bool) { return lost[row] != nil, c.Texts[row] != "" }))
	return in[0].With(table.NumberColumn(a.Column, numbers)), nil
}

// SplitColumns splits a list of columns such as "region,object".
func SplitColumns(list string) []string {
	var out []string
	for _, c := range strings.Split(list, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}
