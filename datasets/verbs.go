package datasets

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"antipode/kernel/client"
)

// WhereArgs, and the other ...Args, are the arguments of the verbs as a plan carries them.
type (
	WhereArgs struct {
		Column string   `json:"column"`
		Op     string   `json:"op"`
		Text   []string `json:"text,omitempty"`
		Number *float64 `json:"number,omitempty"`
	}
	// ColumnsArgs lists columns.
	ColumnsArgs struct {
		Columns []string `json:"columns"`
	}
	// WithArgs sets one column to one value.
	WithArgs struct {
		Column string   `json:"column"`
		Text   *string  `json:"text,omitempty"`
		Number *float64 `json:"number,omitempty"`
	}
	// JoinArgs names the column two tables share.
	JoinArgs struct {
		On string `json:"on"`
	}
	// SortArgs orders rows.
	SortArgs struct {
		Column     string `json:"column"`
		Descending bool   `json:"descending,omitempty"`
	}
	// HeadArgs keeps the first N rows.
	HeadArgs struct {
		N int `json:"n"`
	}
	// SampleArgs draws N rows of every group.
	SampleArgs struct {
		N    int    `json:"n"`
		By   string `json:"by,omitempty"`
		Seed int64  `json:"seed"`
	}
)

// Where keeps the rows whose value in a column compares as asked. op is one of == != < <= > >= (numbers, and text by
// code point), "in" with a []string, "contains" (text), "missing" and "present" (any kind; value is ignored).
func (t Table) Where(column, op string, value any) Table {
	t = t.Need(column, "")
	args := WhereArgs{Column: column, Op: op}
	switch op {
	case "==", "!=", "<", "<=", ">", ">=", "in", "contains":
	case "missing", "present":
		return t.Derive("where", args)
	default:
		return t.Fail(fmt.Errorf("Where(%q, %q, …): no such comparison; use == != < <= > >= in contains missing present", column, op))
	}
	switch v := value.(type) {
	case string:
		args.Text = []string{v}
	case []string:
		args.Text = v
	case int:
		n := float64(v)
		args.Number = &n
	case float64:
		args.Number = &v
	default:
		return t.Fail(fmt.Errorf("Where(%q, %q, …): the value is a %T; give text, a list of texts or a number", column, op, value))
	}
	if op == "in" && args.Text == nil {
		return t.Fail(fmt.Errorf("Where(%q, in, …) needs a []string", column))
	}
	return t.Derive("where", args)
}

// Select keeps the named columns, in that order.
func (t Table) Select(columns ...string) Table {
	var specs []client.ColumnSpec
	for _, name := range columns {
		t = t.Need(name, "")
		if at := slices.IndexFunc(t.columns, func(c client.ColumnSpec) bool { return c.Name == name }); at >= 0 {
			specs = append(specs, t.columns[at])
		}
	}
	if len(columns) == 0 {
		return t.Fail(fmt.Errorf("Select needs at least one column"))
	}
	out := New("select", ColumnsArgs{columns}, specs, t)
	out.open = t.open
	return out
}

// With sets a column to one value in every row: text or a number.
func (t Table) With(column string, value any) Table {
	args := WithArgs{Column: column}
	kind := client.Number
	switch v := value.(type) {
	case string:
		args.Text, kind = &v, client.Text
	case int:
		n := float64(v)
		args.Number = &n
	case float64:
		args.Number = &v
	default:
		return t.Fail(fmt.Errorf("With(%q, …): the value is a %T; give text or a number", column, value))
	}
	return t.Derive("with", args, client.ColumnSpec{Name: column, Kind: kind})
}

// Join adds the other table's columns to the rows of this one that have an equal value in the text column on, which must
// be unique in the other table. Rows without a partner are kept, with no value in the added columns.
func (t Table) Join(other Table, on string) Table {
	t, other = t.Need(on, client.Text), other.Need(on, client.Text)
	columns := slices.Clone(t.columns)
	for _, c := range other.columns {
		if !slices.ContainsFunc(columns, func(o client.ColumnSpec) bool { return o.Name == c.Name }) {
			columns = append(columns, c)
		}
	}
	out := New("join", JoinArgs{on}, columns, t, other)
	out.open = t.open || other.open
	return out
}

// Concat puts the rows of the other tables under those of this one. A column that one of them lacks holds no value there.
func (t Table) Concat(others ...Table) Table {
	columns := slices.Clone(t.columns)
	open := t.open
	for _, o := range others {
		open = open || o.open
		for _, c := range o.columns {
			at := slices.IndexFunc(columns, func(k client.ColumnSpec) bool { return k.Name == c.Name })
			if at < 0 {
				columns = append(columns, c)
			} else if columns[at].Kind != c.Kind {
				return t.Fail(fmt.Errorf("Concat: column %q holds %s values in one table and %s in another", c.Name, columns[at].Kind, c.Kind))
			}
		}
	}
	out := New("concat", nil, columns, append([]Table{t}, others...)...)
	out.open = open
	return out
}

// Sort orders the rows by a text or number column, smallest first; rows without a value come last, equal rows keep their order.
func (t Table) Sort(column string) Table {
	return t.Need(column, "").Derive("sort", SortArgs{Column: column})
}

// SortDown orders the rows by a text or number column, largest first; rows without a value come last, equal rows keep their order.
func (t Table) SortDown(column string) Table {
	return t.Need(column, "").Derive("sort", SortArgs{Column: column, Descending: true})
}

// Head keeps the first n rows.
func (t Table) Head(n int) Table {
	if n < 0 {
		return t.Fail(fmt.Errorf("Head(%d): the number of rows cannot be negative", n))
	}
	return t.Derive("head", HeadArgs{n})
}

// SplitColumns reads a list of columns as commands and Sample take it: "region,object".
func SplitColumns(list string) []string {
	var out []string
	for _, c := range strings.Split(list, ",") {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// Sample draws n rows without replacement from every group of equal values in the columns by ("region", or
// "region,object"; "" = from the whole table), in table order. The draw depends on the seed and the rows' ids. A group with fewer than n rows is an error that names it.
func (t Table) Sample(n int, by string, seed int64) Table {
	if n <= 0 {
		return t.Fail(fmt.Errorf("Sample(%d, …): draw at least one row", n))
	}
	for _, column := range SplitColumns(by) {
		t = t.Need(column, client.Text)
	}
	return t.Derive("sample", SampleArgs{n, by, seed})
}

// Count gives one row for every combination of values in the text columns by, with its number of rows in column "n".
func (t Table) Count(by ...string) Table {
	var specs []client.ColumnSpec
	for _, name := range by {
		t = t.Need(name, client.Text)
		specs = append(specs, client.ColumnSpec{Name: name, Kind: client.Text})
	}
	return New("count", ColumnsArgs{by}, append(specs, client.ColumnSpec{Name: "n", Kind: client.Number}), t)
}

// MasksArgs are the arguments of [Table.MasksFrom].
type MasksArgs struct {
	Dir string `json:"dir"`
}

// MasksFrom adds a column mask from a folder of mask pictures (non-zero = object): ID.png or the image's own file name
// with .png. A row without one gets no mask, outcome "unmasked" and the reason.
func (t Table) MasksFrom(dir string) Table {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return t.Fail(err)
	}
	return t.Need("id", client.Text).Need("image", client.Picture).Derive("masks", MasksArgs{abs}, Columns("mask:mask", "outcome:text", "reason:text")...)
}
