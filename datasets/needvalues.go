package datasets

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// needValuesArgs lists values of a text column.
type needValuesArgs struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

func init() { operation.Verb("need-values", needValues) }

// NeedValues returns the table; running it is an error that names the nearest value if no row has one of the values in
// a text column. It is for lists that users write, whose names would otherwise be left out in silence.
func (t Table) NeedValues(column string, values []string) Table {
	if t = t.Need(column, table.KindText); len(values) == 0 {
		return t
	}
	return t.Derive("need-values", needValuesArgs{column, values})
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
