package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"antipode/datasets"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

// apply does one operation of a plan.
func (r *run) apply(p *client.Plan, in []*client.Frame) (*client.Frame, error) {
	if st, ok := stage.Find(p.Op); ok && len(in) == 1 {
		return r.rowStage(st, p, in[0])
	}
	if p.Op == scoreOp {
		return r.score(p, in)
	}
	if p.Op == "masks" && len(in) == 1 {
		return r.masksFrom(p.Args, in[0])
	}
	if f := builtinSources[p.Op]; f != nil {
		return f(r, p.Args)
	}
	if f := datasets.FindSource(p.Op); f != nil {
		return f(r.ctx, p.Args, datasets.SourceEnv{Home: r.e.Store.Dir(), Note: r.note})
	}
	if f := verbs[p.Op]; f != nil {
		if len(in) == 0 {
			return nil, fmt.Errorf("%s reads no table", p.Op)
		}
		return f(p.Args, in)
	}
	return nil, fmt.Errorf("no operation %q: the notebook asks for something this build does not know", p.Op)
}

// verb builds the evaluation of a table verb from its arguments' type.
func verb[A any](f func(a A, in []*client.Frame) (*client.Frame, error)) func(json.RawMessage, []*client.Frame) (*client.Frame, error) {
	return func(raw json.RawMessage, in []*client.Frame) (*client.Frame, error) {
		var a A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &a); err != nil {
				return nil, err
			}
		}
		return f(a, in)
	}
}

var verbs = map[string]func(json.RawMessage, []*client.Frame) (*client.Frame, error){
	"where": verb(where), "select": verb(selectColumns), "with": verb(with), "join": verb(join), "concat": verb(concat),
	"sort": verb(sortRows), "head": verb(head), "sample": verb(sample), "count": verb(count), "rename": verb(rename),
	"remove-prefix": verb(removePrefix), "repeat": verb(repeat), "seed-by": verb(seedBy),
}

func where(a datasets.WhereArgs, in []*client.Frame) (*client.Frame, error) {
	f := in[0]
	c := f.Column(a.Column)
	if c == nil {
		_, err := f.Need(a.Column, client.Text)
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

// condition is the test a Where asks of a column's rows.
func condition(a datasets.WhereArgs, c *client.Column) (func(int) bool, error) {
	switch a.Op {
	case "missing":
		return func(i int) bool { return isMissing(c, i) }, nil
	case "present":
		return func(i int) bool { return !isMissing(c, i) }, nil
	}
	switch {
	case c.Kind == client.Number && a.Number != nil:
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
	case c.Kind == client.Text && a.Text != nil && a.Op == "in":
		return func(i int) bool { return slices.Contains(a.Text, c.Texts[i]) }, nil
	case c.Kind == client.Text && len(a.Text) == 1 && a.Op == "contains":
		return func(i int) bool { return strings.Contains(c.Texts[i], a.Text[0]) }, nil
	case c.Kind == client.Text && len(a.Text) == 1:
		ok, err := comparison(a.Op)
		return func(i int) bool { return ok(strings.Compare(c.Texts[i], a.Text[0])) }, err
	}
	return nil, fmt.Errorf("Where: column %q holds %s values; they cannot be compared (%s) with what is given", a.Column, c.Kind, a.Op)
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

func isMissing(c *client.Column, i int) bool {
	switch c.Kind {
	case client.Text:
		return c.Texts[i] == ""
	case client.Number:
		return math.IsNaN(c.Numbers[i])
	case client.Picture:
		return c.Images[i].Path == ""
	case client.Masked:
		return c.Masks[i].Counts == ""
	default:
		return c.Vectors[i] == nil
	}
}

func selectColumns(a datasets.ColumnsArgs, in []*client.Frame) (*client.Frame, error) {
	out := &client.Frame{}
	for _, name := range a.Columns {
		c := in[0].Column(name)
		if c == nil {
			_, err := in[0].Need(name, client.Text)
			return nil, err
		}
		out.Columns = append(out.Columns, *c)
	}
	return out, nil
}

func with(a datasets.WithArgs, in []*client.Frame) (*client.Frame, error) {
	n := in[0].Len()
	if a.Text != nil {
		return in[0].With(client.TextColumn(a.Column, slices.Repeat([]string{*a.Text}, n))), nil
	}
	if a.Number == nil {
		return nil, errors.New("With: no value")
	}
	return in[0].With(client.NumberColumn(a.Column, slices.Repeat([]float64{*a.Number}, n))), nil
}

func join(a datasets.JoinArgs, in []*client.Frame) (*client.Frame, error) {
	if len(in) != 2 {
		return nil, errors.New("Join takes two tables")
	}
	left, err := in[0].Need(a.On, client.Text)
	if err != nil {
		return nil, err
	}
	right, err := in[1].Need(a.On, client.Text)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, v := range right.Texts {
		if first, twice := at[v]; twice {
			return nil, fmt.Errorf("Join: %s %q stands in rows %d and %d of the second table; it must be unique there", a.On, v, first+1, i+1)
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
	out := &client.Frame{Columns: slices.Clone(in[0].Columns)}
	for i := range in[1].Columns {
		if c := &in[1].Columns[i]; !in[0].Has(c.Name) {
			out.Columns = append(out.Columns, c.Pick(rows))
		}
	}
	return out, nil
}

func concat(_ struct{}, in []*client.Frame) (*client.Frame, error) {
	out := &client.Frame{}
	for _, f := range in {
		for i := range f.Columns {
			spec := f.Columns[i].ColumnSpec
			if c := out.Column(spec.Name); c == nil {
				out.Columns = append(out.Columns, client.Column{ColumnSpec: spec})
			} else if c.Kind != spec.Kind {
				return nil, fmt.Errorf("Concat: column %q holds %s values in one table and %s in another", spec.Name, c.Kind, spec.Kind)
			}
		}
	}
	for i := range out.Columns {
		c := &out.Columns[i]
		for _, f := range in {
			part := f.Column(c.Name)
			if part == nil {
				none := client.Column{ColumnSpec: c.ColumnSpec}
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
				return nil, fmt.Errorf("Concat: id %q stands in rows %d and %d; ids must be unique", id, first+1, i+1)
			}
			seen[id] = i
		}
	}
	return out, nil
}

func sortRows(a datasets.SortArgs, in []*client.Frame) (*client.Frame, error) {
	c := in[0].Column(a.Column)
	if c == nil || (c.Kind != client.Text && c.Kind != client.Number) {
		return nil, fmt.Errorf("Sort: column %q is no text or number column", a.Column)
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
		if c.Kind == client.Text {
			return c.Texts[i] < c.Texts[j]
		}
		return c.Numbers[i] < c.Numbers[j]
	})
	return in[0].Pick(rows), nil
}

func head(a datasets.HeadArgs, in []*client.Frame) (*client.Frame, error) {
	rows := make([]int, min(a.N, in[0].Len()))
	for i := range rows {
		rows[i] = i
	}
	return in[0].Pick(rows), nil
}

// groups are the rows of each combination of values in text columns, in order of first appearance.
func groups(f *client.Frame, by []string) (names [][]string, rows [][]int, err error) {
	columns := make([]*client.Column, len(by))
	for i, name := range by {
		if columns[i], err = f.Need(name, client.Text); err != nil {
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

func sample(a datasets.SampleArgs, in []*client.Frame) (*client.Frame, error) {
	by := datasets.SplitColumns(a.By)
	names, members, err := groups(in[0], by)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for g, rows := range members {
		if len(rows) < a.N {
			return nil, fmt.Errorf("Sample: %d rows asked of every group, but %s has %d", a.N, groupName(by, names[g]), len(rows))
		}
		type ranked struct {
			row  int
			rank [32]byte
		}
		order := make([]ranked, len(rows))
		for i, row := range rows {
			name := rowID(in[0], row)
			if name == "" {
				name = fmt.Sprint(row)
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

func count(a datasets.ColumnsArgs, in []*client.Frame) (*client.Frame, error) {
	names, rows, err := groups(in[0], a.Columns)
	if err != nil {
		return nil, err
	}
	out := &client.Frame{}
	for j, name := range a.Columns {
		c := client.TextColumn(name, make([]string, len(rows)))
		for g := range rows {
			c.Texts[g] = names[g][j]
		}
		out.Columns = append(out.Columns, c)
	}
	n := client.NumberColumn("n", make([]float64, len(rows)))
	for g := range rows {
		n.Numbers[g] = float64(len(rows[g]))
	}
	out.Columns = append(out.Columns, n)
	return out, nil
}

func rename(a datasets.RenameArgs, in []*client.Frame) (*client.Frame, error) {
	out := &client.Frame{Columns: slices.Clone(in[0].Columns)}
	c := out.Column(a.From)
	switch {
	case c == nil:
		_, err := in[0].Need(a.From, client.Text)
		return nil, err
	case out.Has(a.To):
		return nil, fmt.Errorf("Rename(%q, %q): there is a column %q already", a.From, a.To, a.To)
	}
	c.Name = a.To
	return out, nil
}

func removePrefix(a datasets.RemovePrefixArgs, in []*client.Frame) (*client.Frame, error) {
	c, err := in[0].Need(a.Column, client.Text)
	if err != nil {
		return nil, err
	}
	texts := slices.Clone(c.Texts)
	for i, t := range texts {
		if rest, found := strings.CutPrefix(t, a.Prefix); found {
			texts[i] = strings.TrimLeft(rest, " \t\n")
		}
	}
	out := &client.Frame{Columns: slices.Clone(in[0].Columns)}
	*out.Column(a.Column) = client.TextColumn(a.Column, texts)
	return out, nil
}
