package datasets

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func init() {
	operation.Register("rows", rowsInMemory)
	operation.Verb("where", where)
	operation.Verb("select", selectColumns)
	operation.Verb("with", with)
	operation.Verb("join", join)
	operation.Verb("concat", concat)
	operation.Verb("sort", sortRows)
	operation.Verb("head", head)
	operation.Verb("sample", sample)
	operation.Verb("count", countRows)
	operation.Verb("rename", rename)
	operation.Verb("remove-prefix", removePrefix)
	operation.Verb("repeat", repeat)
	operation.Verb("seed-by", seedBy)
	operation.Verb("grow-masks", growMasks)
	operation.Verb("digest", digestRows)
}

// rowsInMemory evaluates the rows that a plan carries.
func rowsInMemory(_ context.Context, _ Call, raw json.RawMessage, _ []*Frame) (*Frame, error) {
	var a RowsArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return table.Decode(bytes.NewReader(a.Frame))
}

func where(a WhereArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	c, err := f.Need(a.Column, "")
	if err != nil {
		return nil, err
	}
	keep, err := condition(a, c)
	if err != nil {
		return nil, err
	}
	var rows []int
	for i := range f.Len() {
		if keep(i) {
			rows = append(rows, i)
		}
	}
	return f.Pick(rows), nil
}

// condition returns a function that reports whether a row satisfies a Where.
func condition(a WhereArgs, c *table.Column) (func(int) bool, error) {
	switch a.Op {
	case "missing":
		return func(i int) bool { return isMissing(c, i) }, nil
	case "present":
		return func(i int) bool { return !isMissing(c, i) }, nil
	}
	switch {
	case c.Kind == table.KindNumber && a.Number != nil:
		ok, err := comparison(a.Op)
		return func(i int) bool {
			v := c.Numbers[i]
			switch {
			case math.IsNaN(v):
				return a.Op == "!="
			case v < *a.Number:
				return ok(-1)
			case v > *a.Number:
				return ok(1)
			}
			return ok(0)
		}, err
	case c.Kind == table.KindText && a.Text != nil && a.Op == "in":
		return func(i int) bool { return slices.Contains(a.Text, c.Texts[i]) }, nil
	case c.Kind == table.KindText && len(a.Text) == 1 && a.Op == "contains":
		return func(i int) bool { return strings.Contains(c.Texts[i], a.Text[0]) }, nil
	case c.Kind == table.KindText && len(a.Text) == 1:
		ok, err := comparison(a.Op)
		return func(i int) bool { return ok(strings.Compare(c.Texts[i], a.Text[0])) }, err
	}
	return nil, fmt.Errorf("Where: column %q holds %s values; they cannot be compared (%s) with the given value",
		a.Column, c.Kind, a.Op)
}

func comparison(op string) (func(int) bool, error) {
	switch op {
	case "==":
		return func(c int) bool { return c == 0 }, nil
	case "!=":
		return func(c int) bool { return c != 0 }, nil
	case "<":
		return func(c int) bool { return c < 0 }, nil
	case "<=":
		return func(c int) bool { return c <= 0 }, nil
	case ">":
		return func(c int) bool { return c > 0 }, nil
	case ">=":
		return func(c int) bool { return c >= 0 }, nil
	}
	return nil, fmt.Errorf("no comparison %q", op)
}

func isMissing(c *table.Column, i int) bool {
	switch c.Kind {
	case table.KindText:
		return c.Texts[i] == ""
	case table.KindNumber:
		return math.IsNaN(c.Numbers[i])
	case table.KindImage:
		return c.Images[i].Path == ""
	case table.KindMask:
		return c.Masks[i].Counts == ""
	default:
		return c.Vectors[i] == nil
	}
}

func selectColumns(a ColumnsArgs, in []*Frame) (*Frame, error) {
	out := &Frame{}
	for _, name := range table.WithShown(a.Columns, in[0].Has) {
		c, err := in[0].Need(name, "")
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, *c)
	}
	return out, nil
}

func with(a WithArgs, in []*Frame) (*Frame, error) {
	n := in[0].Len()
	if a.Text != nil {
		return in[0].With(table.TextColumn(a.Column, slices.Repeat([]string{*a.Text}, n))), nil
	}
	if a.Number == nil {
		return nil, errors.New("With: no value")
	}
	return in[0].With(table.NumberColumn(a.Column, slices.Repeat([]float64{*a.Number}, n))), nil
}

func join(a JoinArgs, in []*Frame) (*Frame, error) {
	if len(in) != 2 {
		return nil, errors.New("Join takes two tables")
	}
	left, err := in[0].Need(a.On, table.KindText)
	if err != nil {
		return nil, err
	}
	right, err := in[1].Need(a.On, table.KindText)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, v := range right.Texts {
		if first, twice := at[v]; twice {
			return nil, fmt.Errorf("Join: %s %q is in rows %d and %d of the second table; it must be unique",
				a.On, v, first+1, i+1)
		}
		at[v] = i
	}
	rows := make([]int, len(left.Texts))
	for i, v := range left.Texts {
		rows[i] = -1
		if j, ok := at[v]; ok {
			rows[i] = j
		}
	}
	out := &Frame{Columns: slices.Clone(in[0].Columns)}
	for i := range in[1].Columns {
		if c := &in[1].Columns[i]; !in[0].Has(c.Name) {
			out.Columns = append(out.Columns, c.Pick(rows))
		}
	}
	return out, nil
}

func concat(_ struct{}, in []*Frame) (*Frame, error) {
	out := &Frame{}
	for _, f := range in {
		for i := range f.Columns {
			spec := f.Columns[i].ColumnSpec
			if c := out.Column(spec.Name); c == nil {
				out.Columns = append(out.Columns, table.Column{ColumnSpec: spec})
			} else if c.Kind != spec.Kind {
				return nil, fmt.Errorf("Concat: column %q holds %s values in one table and %s in another", spec.Name,
					c.Kind, spec.Kind)
			}
		}
	}
	for i := range out.Columns {
		c := &out.Columns[i]
		for _, f := range in {
			part := f.Column(c.Name)
			if part == nil {
				none := table.Column{ColumnSpec: c.ColumnSpec}
				rows := slices.Repeat([]int{-1}, f.Len())
				none = none.Pick(rows)
				part = &none
			}
			c.Texts = append(c.Texts, part.Texts...)
			c.Numbers = append(c.Numbers, part.Numbers...)
			c.Images = append(c.Images, part.Images...)
			c.Masks = append(c.Masks, part.Masks...)
			c.Vectors = append(c.Vectors, part.Vectors...)
		}
	}
	if ids := out.Texts("id"); ids != nil {
		seen := map[string]int{}
		for i, id := range ids {
			if first, twice := seen[id]; twice {
				return nil, fmt.Errorf("Concat: id %q is in rows %d and %d; ids must be unique", id, first+1, i+1)
			}
			seen[id] = i
		}
	}
	return out, nil
}

func sortRows(a SortArgs, in []*Frame) (*Frame, error) {
	c := in[0].Column(a.Column)
	if c == nil || (c.Kind != table.KindText && c.Kind != table.KindNumber) {
		return nil, fmt.Errorf("Sort: column %q is not a text or number column", a.Column)
	}
	rows := make([]int, in[0].Len())
	for i := range rows {
		rows[i] = i
	}
	sort.SliceStable(rows, func(x, y int) bool {
		i, j := rows[x], rows[y]
		if mi, mj := isMissing(c, i), isMissing(c, j); mi || mj {
			return !mi && mj
		}
		if a.Descending {
			i, j = j, i
		}
		if c.Kind == table.KindText {
			return c.Texts[i] < c.Texts[j]
		}
		return c.Numbers[i] < c.Numbers[j]
	})
	return in[0].Pick(rows), nil
}

func head(a HeadArgs, in []*Frame) (*Frame, error) {
	if a.N < 0 {
		return nil, &table.Error{Code: table.CodeUsage,
			Message: fmt.Sprintf("Head(%d): the number of rows is negative", a.N)}
	}
	rows := make([]int, min(a.N, in[0].Len()))
	for i := range rows {
		rows[i] = i
	}
	return in[0].Pick(rows), nil
}

// groups returns the combinations of values in text columns and their rows, in order of first appearance.
func groups(f *Frame, by []string) (names [][]string, rows [][]int, err error) {
	columns := make([]*table.Column, len(by))
	for i, name := range by {
		if columns[i], err = f.Need(name, table.KindText); err != nil {
			return nil, nil, err
		}
	}
	at := map[string]int{}
	for i := range f.Len() {
		values := make([]string, len(by))
		for j, c := range columns {
			values[j] = c.Texts[i]
		}
		key := strings.Join(values, "\x00")
		g, ok := at[key]
		if !ok {
			g = len(rows)
			at[key] = g
			names = append(names, values)
			rows = append(rows, nil)
		}
		rows[g] = append(rows[g], i)
	}
	return names, rows, nil
}

func sample(a SampleArgs, in []*Frame) (*Frame, error) {
	if a.N <= 0 {
		return nil, &table.Error{Code: table.CodeUsage,
			Message: fmt.Sprintf("Sample(%d, …): sample at least one row", a.N)}
	}
	by := SplitColumns(a.By)
	names, members, err := groups(in[0], by)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for g, rows := range members {
		if len(rows) < a.N {
			return nil, fmt.Errorf("Sample: %d rows requested from each group, but %s has %d", a.N,
				groupName(by, names[g]), len(rows))
		}
		type ranked struct {
			row  int
			rank [32]byte
		}
		order := make([]ranked, len(rows))
		for i, row := range rows {
			name := fmt.Sprint(row)
			if ids := in[0].Texts("id"); ids != nil && ids[row] != "" {
				name = ids[row]
			}
			var seed [8]byte
			binary.LittleEndian.PutUint64(seed[:], uint64(a.Seed))
			order[i] = ranked{row, sha256.Sum256(append(seed[:], name...))}
		}
		slices.SortStableFunc(order, func(x, y ranked) int { return slices.Compare(x.rank[:], y.rank[:]) })
		for _, o := range order[:a.N] {
			chosen = append(chosen, o.row)
		}
	}
	slices.Sort(chosen)
	return in[0].Pick(chosen), nil
}

// groupName describes a group for a message: region "Africa", object "bag".
func groupName(by, values []string) string {
	if len(by) == 0 {
		return "the table"
	}
	parts := make([]string, len(by))
	for i := range by {
		parts[i] = fmt.Sprintf("%s %q", by[i], values[i])
	}
	return strings.Join(parts, ", ")
}

func countRows(a ColumnsArgs, in []*Frame) (*Frame, error) {
	by := table.WithShown(a.Columns, in[0].Has)
	names, rows, err := groups(in[0], by)
	if err != nil {
		return nil, err
	}
	out := &Frame{}
	for j, name := range by {
		c := table.TextColumn(name, make([]string, len(rows)))
		for g := range rows {
			c.Texts[g] = names[g][j]
		}
		out.Columns = append(out.Columns, c)
	}
	n := table.NumberColumn("n", make([]float64, len(rows)))
	for g := range rows {
		n.Numbers[g] = float64(len(rows[g]))
	}
	out.Columns = append(out.Columns, n)
	return out, nil
}

func rename(a RenameArgs, in []*Frame) (*Frame, error) {
	out := &Frame{Columns: slices.Clone(in[0].Columns)}
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

func removePrefix(a RemovePrefixArgs, in []*Frame) (*Frame, error) {
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

// repeat evaluates Table.Repeat.
func repeat(a RepeatArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	ids, err := f.Need("id", table.KindText)
	if err != nil {
		return nil, err
	}
	if a.N < 1 || a.N > MaxRepeat {
		return nil, fmt.Errorf("repeat: %d copies are not between 1 and %d", a.N, MaxRepeat)
	}
	if f.Has("seed") {
		if _, err := f.Need("seed", table.KindNumber); err != nil {
			return nil, err
		}
	}
	own := f.Numbers("seed")
	var rows []int
	var id, of []string
	var seeds []float64
	for i, name := range ids.Texts {
		first := float64(a.Seed)
		if own != nil && !math.IsNaN(own[i]) {
			if first = own[i]; first < 0 || first != math.Trunc(first) || first > MaxSeed {
				return nil, fmt.Errorf("row %d, column seed: %v is no whole number from 0 to %d", i+1, own[i],
					int64(MaxSeed))
			}
		}
		for k := range a.N {
			rows, of, seeds = append(rows, i), append(of, name), append(seeds, first+float64(k))
			id = append(id, fmt.Sprintf("%s#%d", name, k+1))
		}
	}
	return f.Pick(rows).With(table.TextColumn("id", id), table.TextColumn(a.Of, of),
		table.NumberColumn("seed", seeds)), nil
}

func seedBy(a ColumnsArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	columns := make([][]string, len(a.Columns))
	for i, name := range a.Columns {
		c, err := f.Need(name, table.KindText)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	seeds := make([]float64, f.Len())
	for row := range seeds {
		h := sha256.New()
		for _, texts := range columns {
			fmt.Fprintf(h, "%d:%s", len(texts[row]), texts[row])
		}
		seeds[row] = float64(binary.LittleEndian.Uint32(h.Sum(nil)) >> 1)
	}
	return f.With(table.NumberColumn("seed", seeds)), nil
}
