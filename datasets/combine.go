package datasets

import (
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

func init() {
	operation.Verb("join", join)
	operation.Verb("concat", concat)
	operation.Verb("prefix-ids", prefixIDs)
}

// JoinOptions are the options of [Table.Join].
type JoinOptions struct {
	// Suffix is appended to the names of the other table's columns that this table has too; "" = such a column is an
	// error.
	Suffix string

	// Sparse omits the note that no row has a match, for data that may have none.
	Sparse bool
}

type joinArgs struct {
	On     string `json:"on"`
	Suffix string `json:"suffix,omitempty"`
	Sparse bool   `json:"sparse,omitempty"`
}

// Join adds the other table's columns to the rows with an equal value in the column on, which must be unique in the
// other table; a blank value equals none. Rows without a match stay, with no value in the added columns.
func (t Table) Join(other Table, on string, options ...JoinOptions) Table {
	o, err := table.One(options)
	if err != nil {
		return t.failed(fmt.Errorf("Join: %w", err))
	}
	t, other = t.need(on, table.KindText), other.need(on, table.KindText)
	args := joinArgs{on, o.Suffix, o.Sparse}
	columns := slices.Clone(t.columns)
	for _, c := range other.columns {
		if c.Name == on {
			continue
		}
		if c.Name, err = args.name(c.Name, columns); err != nil {
			return t.failed(err)
		}
		columns = append(columns, c)
	}
	out := New("join", args, columns, t, other)
	out.open = t.open || other.open
	return out
}

// name returns the name of a column of the second table in the result, whose columns so far are given.
func (a joinArgs) name(name string, columns []table.ColumnSpec) (string, error) {
	if table.Position(columns, name) < 0 {
		return name, nil
	}
	if a.Suffix != "" && table.Position(columns, name+a.Suffix) < 0 {
		return name + a.Suffix, nil
	}
	if a.Suffix != "" {
		return "", fmt.Errorf("Join: both tables have a column %q, and there is a column %q already; choose another "+
			"JoinOptions.Suffix (--suffix %s)", name, name+a.Suffix, "_other")
	}
	return "", fmt.Errorf("Join: both tables have a column %q; Select the columns that are needed from the second "+
		"one, or "+
		"set JoinOptions.Suffix (--suffix _2) to keep it as %[1]s_2", name)
}

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
				a.On, v, in[1].RowNumber(first), in[1].RowNumber(i))
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
	if !matched && !a.Sparse && len(at) > 0 && !table.IsBlank(left.Texts) {
		call.Notef("Join: no row's %s is in the second table; the first one holds %.40q, the second one %.40q", a.On,
			firstValue(left.Texts), firstValue(right.Texts))
	}
	out := in[0].SameRows(slices.Clone(in[0].Columns))
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

// Concat returns the rows of this table followed by those of the others. A row has no value in the columns that its
// table does not have. A column that holds numbers in one table and text in another is text. Ids must be unique; see
// [ConcatBy].
func (t Table) Concat(others ...Table) Table {
	columns := slices.Clone(t.columns)
	open := t.open
	for _, o := range others {
		open = open || o.open
		for _, c := range o.columns {
			at := table.Position(columns, c.Name)
			switch {
			case at < 0:
				columns = append(columns, c)
			case columns[at].Kind == c.Kind:
			case table.Fits(columns[at].Kind, c.Kind) || table.Fits(c.Kind, columns[at].Kind):
				columns[at].Kind = "" // decided when the table runs
			default:
				return t.failed(fmt.Errorf("Concat: column %q contains %s values in one table and %s values in another",
					c.Name,
					columns[at].Kind, c.Kind))
			}
		}
	}
	out := New("concat", nil, columns, append([]Table{t}, others...)...)
	out.open = open
	return out
}

func concat(_ *Call, _ struct{}, in []*Frame) (*Frame, error) {
	out := &Frame{}
	for _, f := range in {
		for row := range f.Len() {
			out.RowNumbers = append(out.RowNumbers, f.RowNumber(row))
		}
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

// ConcatBy returns the rows of tables, in the order of their names, with the names in a text column: ConcatBy("run",
// map[string]Table{"first": a, "second": b}). The values of id and image_id get the name and a slash in front, so that
// ids that occur in several tables are unique.
func ConcatBy(column string, tables map[string]Table) Table {
	var parts []Table
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		parts = append(parts, tables[name].With(column, name).derive("prefix-ids", PrefixIDsArgs{name + "/"}))
	}
	if len(parts) == 0 {
		return Table{}.failed(fmt.Errorf("ConcatBy: no tables"))
	}
	return parts[0].Concat(parts[1:]...)
}

// PrefixIDsArgs hold the beginning of ids.
type PrefixIDsArgs struct {
	Prefix string `json:"prefix"`
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
