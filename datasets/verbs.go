package datasets

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/table"
)

// WhereArgs and the other ...Args types are the arguments of the verbs in a plan.
type (
	WhereArgs struct {
		Column string   `json:"column"`
		Op     string   `json:"op"`
		Text   []string `json:"text,omitempty"`
		Number *float64 `json:"number,omitempty"`
	}
	// columnsArgs lists columns.
	columnsArgs struct {
		Columns []string `json:"columns"`
	}
	// withArgs sets one column to one value.
	withArgs struct {
		Column string   `json:"column"`
		Text   *string  `json:"text,omitempty"`
		Number *float64 `json:"number,omitempty"`
	}
	// joinArgs names the column that two tables share.
	joinArgs struct {
		On     string `json:"on"`
		Suffix string `json:"suffix,omitempty"`
	}
	// castArgs names a column and its kind.
	castArgs struct {
		Column string     `json:"column"`
		Kind   table.Kind `json:"kind"`
	}
	// PrefixIDsArgs holds the beginning of ids.
	PrefixIDsArgs struct {
		Prefix string `json:"prefix"`
	}
	// sortArgs orders rows.
	sortArgs struct {
		Column     string     `json:"column"`
		Descending bool       `json:"descending,omitempty"`
		As         table.Kind `json:"as,omitempty"`
	}
	// headArgs selects the first N rows.
	headArgs struct {
		N int `json:"n"`
	}
	// sampleArgs samples N rows of every group.
	sampleArgs struct {
		N    int    `json:"n"`
		By   string `json:"by,omitempty"`
		Seed int64  `json:"seed"`
	}
)

// Where returns the rows whose value in a column satisfies a comparison. op is one of == != < <= > >= (numbers, and
// text by code point), "in" (text; value is a []string), "contains" (text), "missing" and "present" (any kind; value
// is ignored). Texts are compared in Unicode's form NFC, without surrounding blanks. A text column is compared with a
// number if all its values are numbers; the error names the row that is not.
func (t Table) Where(column, op string, value any) Table {
	t = t.Need(column, "")
	args := WhereArgs{Column: column, Op: op}
	switch op {
	case "==", "!=", "<", "<=", ">", ">=", "in", "contains":
	case "missing", "present":
		return t.Derive("where", args)
	default:
		return t.Fail(fmt.Errorf("Where: unknown operator %q for the column %q; use == != < <= > >= in contains "+
			"missing present", op, column))
	}
	switch v := value.(type) {
	case string:
		args.Text = []string{v}
	case []string:
		args.Text = v
	case int:
		n := float64(v)
		args.Number = &n
		if !exact(v) {
			args.Text = []string{strconv.Itoa(v)}
		}
	case float64:
		args.Number = &v
	default:
		return t.Fail(fmt.Errorf("Where(%q, %q, …): the value is a %T; use a string, a []string, an int or a float64",
			column,
			op, value))
	}
	if op == "in" && args.Text == nil {
		return t.Fail(fmt.Errorf("Where(%q, \"in\", …): the value is not a []string", column))
	}
	return t.Derive("where", args)
}

// Select returns the named columns, in that order, and those that are displayed in their place
// ([table.Frame.Shown]).
func (t Table) Select(columns ...string) Table {
	var specs []table.ColumnSpec
	for _, name := range table.WithShown(columns, t.has) {
		t = t.Need(name, "")
		if at := table.Position(t.columns, name); at >= 0 {
			specs = append(specs, t.columns[at])
		}
	}
	if len(columns) == 0 {
		return t.Fail(fmt.Errorf("Select: name at least one column"))
	}
	out := New("select", columnsArgs{columns}, specs, t)
	out.open = t.open
	return out
}

// has reports whether the table is known to have a column.
func (t Table) has(name string) bool { return table.Position(t.columns, name) >= 0 }

// exact reports whether a number of a column keeps an integer.
func exact(v int) bool { return -1<<53 <= v && v <= 1<<53 || int(float64(v)) == v && v != math.MaxInt }

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
		return t.Fail(fmt.Errorf("With(%q, …): the value is a %T; use a string, an int or a float64", column, value))
	}
	return t.Derive("with", args, table.ColumnSpec{Name: column, Kind: kind})
}

// JoinOptions are the options of [Table.Join].
type JoinOptions struct {
	// Suffix is appended to the names of the other table's columns that this table has too; "" = such a column is an
	// error.
	Suffix string
}

// Join adds the other table's columns to the rows with an equal value in the column on, which must be unique in the
// other table; a blank value equals none. Rows without a match stay, with no value in the added columns.
func (t Table) Join(other Table, on string, options ...JoinOptions) Table {
	o, err := table.One(options)
	if err != nil {
		return t.Fail(fmt.Errorf("Join: %w", err))
	}
	t, other = t.Need(on, table.KindText), other.Need(on, table.KindText)
	args := joinArgs{on, o.Suffix}
	columns := slices.Clone(t.columns)
	for _, c := range other.columns {
		if c.Name == on {
			continue
		}
		if c.Name, err = args.name(c.Name, columns); err != nil {
			return t.Fail(err)
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
				return t.Fail(fmt.Errorf("Concat: column %q contains %s values in one table and %s values in another",
					c.Name,
					columns[at].Kind, c.Kind))
			}
		}
	}
	out := New("concat", nil, columns, append([]Table{t}, others...)...)
	out.open = open
	return out
}

// ConcatBy returns the rows of tables, in the order of their names, with the names in a text column: ConcatBy("run",
// map[string]Table{"first": a, "second": b}). The values of id and image_id get the name and a slash in front, so that
// ids that occur in several tables are unique.
func ConcatBy(column string, tables map[string]Table) Table {
	var parts []Table
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		parts = append(parts, tables[name].With(column, name).Derive("prefix-ids", PrefixIDsArgs{name + "/"}))
	}
	if len(parts) == 0 {
		return Table{}.Fail(fmt.Errorf("ConcatBy: no tables"))
	}
	return parts[0].Concat(parts[1:]...)
}

// Cast returns the table with a column as text or as numbers ([table.KindText], [table.KindNumber]). Text that is not a
// number becomes no value, which a note reports.
func (t Table) Cast(column string, kind table.Kind) Table {
	if kind != table.KindText && kind != table.KindNumber {
		return t.Fail(fmt.Errorf("Cast(%q, %q): a column is cast to \"text\" or \"number\"", column, kind))
	}
	return t.Need(column, "").Derive("cast", castArgs{column, kind}, table.ColumnSpec{Name: column, Kind: kind})
}

// SortOptions are the options of [Table.Sort] and [Table.SortDown].
type SortOptions struct {
	// As is the kind that values are compared as, [table.KindNumber] or [table.KindText]; "" = that of the column. More
	// than half of a text column's values being numbers is an error then, because 10 comes before 9 in the order of
	// texts.
	As table.Kind
}

// Sort orders the rows by a text or number column in ascending order. Rows without a value are last; equal rows
// stay in order.
func (t Table) Sort(column string, options ...SortOptions) Table {
	return t.sort(column, false, options)
}

// SortDown orders the rows by a text or number column in descending order. Rows without a value are last; equal rows
// stay in order.
func (t Table) SortDown(column string, options ...SortOptions) Table {
	return t.sort(column, true, options)
}

func (t Table) sort(column string, down bool, options []SortOptions) Table {
	o, err := table.One(options)
	if err != nil {
		return t.Fail(fmt.Errorf("Sort: %w", err))
	}
	return t.Need(column, o.As).Derive("sort", sortArgs{column, down, o.As})
}

// Head returns the first n rows.
func (t Table) Head(n int) Table {
	if n < 0 {
		return t.Fail(fmt.Errorf("Head(%d): the number of rows is negative", n))
	}
	return t.Derive("head", headArgs{n})
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

// Sample samples n rows without replacement from every group of equal values in the text columns by ("region", or
// "region,object"; "" = the whole table is one group) and returns them in table order. The sample depends on the seed
// and the rows' ids. A group with fewer than n rows is an error.
func (t Table) Sample(n int, by string, seed int64) Table {
	if n <= 0 {
		return t.Fail(fmt.Errorf("Sample(%d, …): sample at least one row", n))
	}
	for _, column := range SplitColumns(by) {
		t = t.Need(column, table.KindText)
	}
	return t.Derive("sample", sampleArgs{n, by, seed})
}
