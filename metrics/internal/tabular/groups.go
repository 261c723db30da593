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

// Groups is [table.Groups] of the table.
func (r *Reader) Groups(by []string) []table.Group {
	if r.Err != nil || r.Frame == nil {
		return nil
	}
	groups, err := table.Groups(r.Frame, by)
	if err != nil {
		r.fail(err)
	}
	return groups
}

// SortedGroups returns the groups that have rows, in the order of their values.
func (r *Reader) SortedGroups(by []string) []table.Group {
	groups := slices.DeleteFunc(r.Groups(by), func(g table.Group) bool { return len(g.Rows) == 0 })
	slices.SortFunc(groups, func(a, b table.Group) int { return slices.Compare(a.By, b.By) })
	return groups
}

// UniqueIDs stores an error if an id occurs twice. A table without the column id has none.
func (r *Reader) UniqueIDs() {
	seen := map[string]int{}
	for i, id := range r.Frame.Texts("id") {
		if before, twice := seen[id]; twice && r.Err == nil {
			r.Err = table.BadRow{Row: r.Frame.RowNumber(i), ID: id, Column: "id",
				Reason: fmt.Sprintf("the id occurs twice: row %d has the same id", before)}
		}
		seen[id] = r.Frame.RowNumber(i)
	}
}
