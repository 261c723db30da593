package datasets

import (
	"fmt"

	"antipode/datasets/table"
)

// RenameArgs are the arguments of [Table.Rename].
type RenameArgs struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Rename changes a column's name, for example to the one that a stage or metric expects, and that of the column that is
// displayed in its place ([table.Frame.Shown]). The new name must not exist.
func (t Table) Rename(from, to string) Table {
	t = t.Need(from, "")
	if t.err != nil || from == to {
		return t
	}
	columns := t.Columns()
	if to == "" || table.Position(columns, to) >= 0 {
		return t.Fail(fmt.Errorf("Rename(%q, %q): the new name is empty or exists (columns: %s)", from, to,
			table.NameList(columns)))
	}
	for _, end := range []string{"", table.ShownSuffix} {
		if at := table.Position(columns, from+end); at >= 0 {
			columns[at].Name = to + end
		}
	}
	out := New("rename", RenameArgs{from, to}, columns, t)
	out.open, out.name = t.open, t.name
	return out
}

// removePrefixArgs are the arguments of [Table.RemovePrefix].
type removePrefixArgs struct {
	Column string `json:"column"`
	Prefix string `json:"prefix"`
}

// RemovePrefix removes a prefix and the white space after it from the texts of a column: "the crest is round" becomes
// "round". Texts without the prefix are unchanged.
func (t Table) RemovePrefix(column, prefix string) Table {
	return t.Need(column, table.KindText).Derive("remove-prefix", removePrefixArgs{column, prefix})
}
