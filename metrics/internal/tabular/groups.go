// Package tabular reads columns and groups rows for the metrics.
package tabular

import (
	"fmt"
	"slices"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Reader reads the columns of a table that options name. The first error is stored in Err, and later calls return nil,
// so that Err is checked once. An empty name is an optional column that is not used: nil without an error. An optional
// table that is not given, whose Frame is nil, has no rows.
type Reader struct {
	Frame *table.Frame
	Err   error

	role string
}

// Read returns a reader of the call's table of that role.
func Read(call *operation.Call, role string) *Reader {
	return &Reader{Frame: call.Inputs[role], role: role}
}

// fail stores the first error, with the role of the table.
func (r *Reader) fail(err error) {
	if r.Err == nil {
		r.Err = fmt.Errorf("table %q: %w", r.role, err)
	}
}

func (r *Reader) column(name string, kind table.Kind) *table.Column {
	if name != "" && r.Err == nil && r.Frame != nil {
		c, err := r.Frame.Need(name, kind)
		if err == nil {
			return c
		}
		r.fail(err)
	}
	return &table.Column{}
}

// Texts returns the values of a text column.
func (r *Reader) Texts(name string) []string { return r.column(name, table.KindText).Texts }

// Numbers returns the values of a number column.
func (r *Reader) Numbers(name string) []float64 { return r.column(name, table.KindNumber).Numbers }

// Vectors returns the values of a vector column.
func (r *Reader) Vectors(name string) [][]float32 { return r.column(name, table.KindVector).Vectors }

// Groups is [Groups] of the table.
func (r *Reader) Groups(by []string) []Group {
	if r.Err != nil || r.Frame == nil {
		return nil
	}
	groups, err := Groups(r.Frame, by)
	if err != nil {
		r.fail(err)
	}
	return groups
}

// SortedGroups returns the groups that have rows, in the order of their values.
func (r *Reader) SortedGroups(by []string) []Group {
	groups := slices.DeleteFunc(r.Groups(by), func(g Group) bool { return len(g.Rows) == 0 })
	slices.SortFunc(groups, func(a, b Group) int { return slices.Compare(a.By, b.By) })
	return groups
}

// UniqueIDs stores an error if an id occurs twice. A table without the column id has none.
func (r *Reader) UniqueIDs() {
	seen := map[string]int{}
	for i, id := range r.Frame.Texts("id") {
		if before, twice := seen[id]; twice && r.Err == nil {
			r.Err = table.BadRow{Row: i + 1, ID: id, Column: "id",
				Reason: fmt.Sprintf("the id occurs twice: row %d has the same id", before)}
		}
		seen[id] = i + 1
	}
}

// Group is the rows that have equal values in the grouping columns.
type Group struct {
	By   []string // the values, in the order of the columns
	Rows []int
}

// Groups groups a frame's rows by text columns, in order of appearance. Without columns all rows are one group, and a
// frame without rows is one group too.
func Groups(f *table.Frame, by []string) ([]Group, error) {
	columns := make([][]string, len(by))
	for i, name := range by {
		c, err := f.Need(name, table.KindText)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	var out []Group
	if len(by) == 0 {
		out = []Group{{}}
	}
	at := map[string]int{"": 0}
	for row := range f.Len() {
		var values []string
		key := ""
		for _, texts := range columns {
			values = append(values, texts[row])
			key += texts[row] + "\x00"
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Group{By: values})
		}
		out[i].Rows = append(out[i].Rows, row)
	}
	return out, nil
}
