package datasets

import (
	"fmt"
	"slices"

	"antipode/kernel/client"
)

// RenameArgs are the arguments of [Table.Rename].
type RenameArgs struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Rename gives a column another name, for example the one that a stage or metric expects. The new name must not be taken.
func (t Table) Rename(from, to string) Table {
	t = t.Need(from, "")
	if t.err != nil || from == to {
		return t
	}
	columns := t.Columns()
	named := func(name string) func(client.ColumnSpec) bool {
		return func(c client.ColumnSpec) bool { return c.Name == name }
	}
	if to == "" || slices.ContainsFunc(columns, named(to)) {
		return t.Fail(fmt.Errorf("Rename(%q, %q): the new name is empty or taken (there are: %s)", from, to, client.NameList(columns)))
	}
	if at := slices.IndexFunc(columns, named(from)); at >= 0 {
		columns[at].Name = to
	}
	out := New("rename", RenameArgs{from, to}, columns, t)
	out.open, out.name = t.open, t.name
	return out
}

// RemovePrefixArgs are the arguments of [Table.RemovePrefix].
type RemovePrefixArgs struct {
	Column string `json:"column"`
	Prefix string `json:"prefix"`
}

// RemovePrefix takes a beginning off the texts of a column, with the white space after it: "the crest is round" becomes "round". A text that begins otherwise stays.
func (t Table) RemovePrefix(column, prefix string) Table {
	return t.Need(column, client.Text).Derive("remove-prefix", RemovePrefixArgs{column, prefix})
}
