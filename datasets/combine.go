package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"antipode/datasets/table"
)

func join(call *Call, a joinArgs, in []*Frame) (*Frame, error) {
	if len(in) != 2 {
		return nil, errors.New("Join takes two tables")
	}
	labeled := call.Labels([]string{a.On}, in)
	left, err := labeled[0].Need(a.On, table.KindText)
	if err != nil {
		return nil, err
	}
	right, err := labeled[1].Need(a.On, table.KindText)
	if err != nil {
		return nil, err
	}
	at, matched := map[string]int{}, false
	for i, v := range right.Texts {
		if first, twice := at[v]; twice && v != "" {
			return nil, fmt.Errorf("Join: %s %q is in rows %d and %d of the second table; it must be unique",
				a.On, v, first+1, i+1)
		}
		at[v] = i
	}
	delete(at, "") // no value, which is no key
	rows := make([]int, len(left.Texts))
	for i, v := range left.Texts {
		rows[i] = -1
		if j, ok := at[v]; ok {
			rows[i], matched = j, true
		}
	}
	if !matched && len(at) > 0 && !table.IsBlank(left.Texts) {
		call.Notef("Join: no row has a %s of the second table; the first one holds %.40q, the second one %.40q", a.On,
			firstValue(left.Texts), firstValue(right.Texts))
	}
	out := &Frame{Columns: slices.Clone(in[0].Columns)}
	for i := range in[1].Columns {
		c := in[1].Columns[i]
		if c.Name == a.On {
			continue
		}
		picked := c.Pick(rows)
		if picked.Name, err = a.name(c.Name, out.Specs()); err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, picked)
	}
	return out, nil
}

// firstValue returns the first text that is not empty.
func firstValue(texts []string) string {
	return texts[max(0, slices.IndexFunc(texts, func(s string) bool { return s != "" }))]
}

func concat(_ *Call, _ struct{}, in []*Frame) (*Frame, error) {
	out := &Frame{}
	for _, f := range in {
		for _, spec := range f.Specs() {
			if out.Has(spec.Name) {
				continue
			}
			kind, err := commonKind(spec.Name, in)
			if err != nil {
				return nil, err
			}
			out.Columns = append(out.Columns, Column{ColumnSpec: table.ColumnSpec{Name: spec.Name, Kind: kind}})
		}
	}
	for i := range out.Columns {
		c := &out.Columns[i]
		for _, f := range in {
			part := f.Column(c.Name)
			if part == nil {
				none := table.TextColumn(c.Name, make([]string, f.Len()))
				part = &none
			}
			part, err := part.As(c.Kind)
			if err != nil {
				return nil, fmt.Errorf("Concat: %w", err)
			}
			c.Append(part)
		}
	}
	if ids := out.Texts("id"); ids != nil {
		seen := map[string]int{}
		for i, id := range ids {
			if first, twice := seen[id]; twice {
				return nil, fmt.Errorf("Concat: id %q is in rows %d and %d; ids must be unique: "+
					"datasets.ConcatBy(\"run\", …) (--concat TABLE --by run) puts the table's name in front of each id",
					id,
					first+1, i+1)
			}
			seen[id] = i
		}
	}
	return out, nil
}

// commonKind returns the kind of a column that tables have together: numbers and texts are texts, and a column without
// values has the kind of the others.
func commonKind(name string, in []*Frame) (kind table.Kind, err error) {
	for _, f := range in {
		c := f.Column(name)
		switch {
		case c == nil || c.Kind == table.KindText && table.IsBlank(c.Texts):
		case kind == "" || kind == c.Kind:
			kind = c.Kind
		case table.Fits(kind, table.KindText) && table.Fits(c.Kind, table.KindText):
			kind = table.KindText
		default:
			return "", fmt.Errorf("Concat: column %q holds %s values in one table and %s in another", name, kind,
				c.Kind)
		}
	}
	return cmp.Or(kind, table.KindText), nil
}

// cast evaluates Table.Cast.
func cast(call *Call, a castArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, "")
	if err != nil {
		return nil, err
	}
	as, err := c.As(a.Kind)
	if err == nil || a.Kind != table.KindNumber || c.Kind != table.KindText {
		if err != nil {
			return nil, fmt.Errorf("Cast: %w", err)
		}
		return in[0].With(*as), nil
	}
	numbers, lost := make([]float64, len(c.Texts)), make([]error, len(c.Texts))
	first := -1
	for row, text := range c.Texts {
		n, err := table.NumberFormat{}.ParseNumbers([]string{text})
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

// prefixIDs puts a prefix in front of the ids, and of the ids of images that rows refer to.
func prefixIDs(_ *Call, a PrefixIDsArgs, in []*Frame) (*Frame, error) {
	out := in[0]
	for _, name := range []string{"id", "image_id"} {
		if ids := in[0].Texts(name); ids != nil {
			prefixed := make([]string, len(ids))
			for i, id := range ids {
				if id != "" {
					prefixed[i] = a.Prefix + id
				}
			}
			out = out.With(table.TextColumn(name, prefixed))
		}
	}
	return out, nil
}
