package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func init() {
	operation.Verb("where", where)
	operation.Verb("need-values", needValues)
}

// WhereArgs are the arguments of [Table.Where] in a plan.
type WhereArgs struct {
	Column string   `json:"column"`
	Op     string   `json:"op"`
	Text   []string `json:"text,omitempty"`
	Number *float64 `json:"number,omitempty"`
}

// Where returns the rows whose value in a column satisfies a comparison. op is one of == != < <= > >= (numbers, and
// text by code point), "in" (text; value is a []string), "contains" (text), "missing" and "present" (any kind; value
// is ignored). Texts are compared in Unicode's form NFC, without surrounding blanks. A text column is compared with a
// number if all its values are numbers; the error names the row that is not.
func (t Table) Where(column, op string, value any) Table {
	t = t.need(column, "")
	args := WhereArgs{Column: column, Op: op}
	switch op {
	case "==", "!=", "<", "<=", ">", ">=", "in", "contains":
	case "missing", "present":
		return t.derive("where", args)
	default:
		return t.failed(fmt.Errorf("Where: unknown operator %q for the column %q; use == != < <= > >= in contains "+
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
		return t.failed(fmt.Errorf("Where(%q, %q, …): the value is a %T; use a string, a []string, an int or a float64",
			column,
			op, value))
	}
	if op == "in" && args.Text == nil {
		return t.failed(fmt.Errorf("Where(%q, \"in\", …): the value is not a []string", column))
	}
	return t.derive("where", args)
}

// exact reports whether a number of a column keeps an integer.
func exact(v int) bool { return -1<<53 <= v && v <= 1<<53 || int(float64(v)) == v && v != math.MaxInt }

func where(call *Call, a WhereArgs, in []*Frame) (*Frame, error) {
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
	if len(rows) == 0 && a.Op == "==" && len(a.Text) == 1 && f.Len() > 0 &&
		(a.Number == nil || c.Kind == table.KindText) {
		if near := nearValue(c, a.Text[0]); near != "" {
			call.Notef("Where: no row has %q in column %q%s", a.Text[0], a.Column, near)
		}
	}
	return f.Pick(rows), nil
}

// condition returns a function that reports whether a row satisfies a Where.
func condition(a WhereArgs, c *table.Column) (func(int) bool, error) {
	switch a.Op {
	case "missing":
		return func(i int) bool { return c.Missing(i) }, nil
	case "present":
		return func(i int) bool { return !c.Missing(i) }, nil
	}
	ordered := !slices.Contains([]string{"==", "!=", "in", "contains"}, a.Op)
	if len(a.Text) == 1 && c.Kind == table.KindNumber && a.Op != "in" && a.Op != "contains" {
		// A value that a number would round equals no number of the column.
		if _, why := (table.NumberFormat{}).ParseNumbers(a.Text); why != nil && a.Number != nil {
			if ordered {
				return nil, fmt.Errorf("Where: %s cannot be compared (%s) with numbers: it has more digits than they "+
					"keep", a.Text[0], a.Op)
			}
			return func(int) bool { return a.Op == "!=" }, nil
		}
	}
	switch {
	case a.Number != nil && math.IsNaN(*a.Number):
		return nil, fmt.Errorf("Where: NaN is no value; Where(%q, \"missing\", nil) keeps the rows without one",
			a.Column)
	case a.Number != nil && (len(a.Text) == 0 || ordered || c.Kind == table.KindNumber):
		c, err := c.As(table.KindNumber)
		if err != nil {
			return nil, fmt.Errorf("Where: %w", err)
		}
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
	case c.Kind == table.KindText || c.Kind == table.KindNumber && !ordered:
		values := make([]string, len(a.Text))
		for i, text := range a.Text {
			values[i] = labelLike(c, text)
		}
		if err := textOrder(c, ordered); err != nil {
			return nil, err
		}
		switch {
		case a.Op == "in":
			return func(i int) bool { return slices.Contains(values, operation.LabelOf(c, i)) }, nil
		case len(a.Text) == 1 && a.Op == "contains":
			part := norm.NFC.String(a.Text[0])
			return func(i int) bool { return strings.Contains(norm.NFC.String(c.Text(i)), part) }, nil
		case len(a.Text) == 1:
			ok, err := comparison(a.Op)
			return func(i int) bool { return ok(strings.Compare(operation.LabelOf(c, i), values[0])) }, err
		}
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

type needValuesArgs struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

// NeedValues returns the table; running it is an error that names the nearest value if no row has one of the values in
// a text column. It is for lists that users write, whose names would otherwise be left out in silence.
func (t Table) NeedValues(column string, values []string) Table {
	if t = t.need(column, table.KindText); len(values) == 0 {
		return t
	}
	return t.derive("need-values", needValuesArgs{column, values})
}

func needValues(_ *Call, a needValuesArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, "")
	if err != nil {
		return nil, err
	}
	labels := make([]string, in[0].Len())
	for row := range labels {
		labels[row] = operation.LabelOf(c, row)
	}
	known := slices.Compact(slices.Sorted(slices.Values(labels)))
	for _, v := range a.Values {
		if _, found := slices.BinarySearch(known, labelLike(c, v)); found {
			continue
		}
		hint := table.Hint(v, known)
		if hint == "" {
			hint = "; it has " + strings.Join(known[:min(len(known), 8)], ", ")
			if len(known) > 8 {
				hint += ", …"
			}
		}
		return nil, fmt.Errorf("no row has %q in column %q%s", v, a.Column, hint)
	}
	return in[0], nil
}

// labelLike returns the label of a value that is compared with those of a column.
func labelLike(c *table.Column, value string) string {
	if c.Kind == table.KindNumber {
		if n, err := (table.NumberFormat{}).ParseNumbers([]string{value}); err == nil && value != "" {
			number := table.NumberColumn(c.Name, n)
			return operation.LabelOf(&number, 0)
		}
	}
	return operation.Label(value)
}

// nearValue returns a hint at the value of a column that one that no row has may stand for, or "".
func nearValue(c *table.Column, value string) string {
	if c.Kind == table.KindNumber {
		if _, err := (table.NumberFormat{}).ParseNumbers([]string{value}); err != nil {
			return ", which holds numbers"
		}
		return ""
	}
	for row := range c.Len() {
		if label := operation.Label(c.Text(row)); strings.EqualFold(label, operation.Label(value)) {
			return table.Hint(value, []string{label})
		}
	}
	if len(value) < 4 || c.Kind != table.KindText {
		return ""
	}
	return table.Hint(value, slices.Compact(slices.Sorted(slices.Values(c.Texts))))
}
