package table

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Match pairs the rows of two tables that have equal cells in the columns on: positions in a and b, −1 where there is
// none, in the order of a, then the rows of b alone. Without columns these are prompt_id and seed if both tables have
// them, else id, else all texts that both have. It returns the columns, too. Errors: a column that is missing, and two
// rows of a table with equal cells.
func Match(a, b *Frame, on []string) (pairs [][2]int, by []string, err error) {
	if by = on; len(by) == 0 {
		by = matching(a, b)
	}
	rows := map[string]int{} // of b
	rest := []string{}
	for _, side := range []struct {
		f    *Frame
		name string
		each func(key string, row int)
	}{
		{b, "second", func(key string, row int) {
			rows[key] = row
			rest = append(rest, key)
		}},
		{a, "first", func(key string, row int) {
			other, both := rows[key]
			if !both {
				other = -1
			}
			delete(rows, key)
			pairs = append(pairs, [2]int{row, other})
		}},
	} {
		seen := map[string]int{}
		for _, name := range by {
			if !side.f.Has(name) {
				return nil, nil, fmt.Errorf("the %s table has no column %q to identify its rows by", side.name, name)
			}
		}
		for i := range side.f.Len() {
			cells := make([]string, len(by))
			for k, name := range by {
				cells[k] = side.f.Column(name).Exact(i)
			}
			key := strings.Join(cells, "\x00")
			if before, twice := seen[key]; twice {
				return nil, nil, fmt.Errorf("rows %d and %d of the %s table have the same %s, %s; name columns that "+
					"identify a row (--on)", side.f.RowNumber(before), side.f.RowNumber(i), side.name,
					strings.Join(by, " and "), strings.Join(cells, ", "))
			}
			seen[key] = i
			side.each(key, i)
		}
	}
	for _, key := range rest {
		if row, alone := rows[key]; alone {
			pairs = append(pairs, [2]int{-1, row})
		}
	}
	return pairs, by, nil
}

// matching are the columns that identify the rows of both tables.
func matching(a, b *Frame) []string {
	both := func(name string) bool { return a.Has(name) && b.Has(name) }
	for _, by := range [][]string{{"prompt_id", "seed"}, {"id"}} {
		if !slices.ContainsFunc(by, func(name string) bool { return !both(name) }) {
			return by
		}
	}
	var by []string
	for _, c := range a.Columns {
		if c.Kind == KindText && both(c.Name) {
			by = append(by, c.Name)
		}
	}
	return by
}

// Same reports whether two columns have the same value in row i of the first and row k of the second: images by the
// SHA-256 of their files, masks by their runs; a missing value equals another one.
func Same(x *Column, i int, y *Column, k int) bool {
	v, w := x.Value(i), y.Value(k)
	return x.Kind == y.Kind && slices.Equal(v.Vector, w.Vector) && v.Text == w.Text && v.Mask == w.Mask &&
		v.Image.SHA256 == w.Image.SHA256 && (v.Number == w.Number || math.IsNaN(v.Number) && math.IsNaN(w.Number))
}
