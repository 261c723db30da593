package datasets

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// NeedValuesArgs lists values of a text column.
type NeedValuesArgs struct {
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
	return t.Derive("need-values", NeedValuesArgs{column, values})
}

func needValues(_ *Call, a NeedValuesArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, table.KindText)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, v := range c.Texts {
		known = append(known, operation.Label(v)) // as Where compares them
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, v := range a.Values {
		if _, found := slices.BinarySearch(known, operation.Label(v)); found {
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
