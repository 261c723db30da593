package datasets

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/kernel/client"
)

// Pictures is the table of the pictures at a path, whatever the path is: a folder ([Folder]), a .csv ([CSV]) or a
// .parquet ([Parquet]) file. by is the column that will group them, "" for none: in a folder its values are the names of the folders
// directly below (photos/Kenya/1.jpg: Kenya), in a CSV they are read as text, though they may look like numbers.
func Pictures(path, by string, root ...Root) Table {
	if path == "" {
		return Table{}.Fail(fmt.Errorf("no pictures are named: give a folder, a .csv or a .parquet file"))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		t := Folder(path)
		if by != "" {
			t = t.Rename("folder", by)
		}
		return t
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return CSV(path, root...).textual(by)
	case ".parquet":
		t := Parquet(path, root...)
		if by != "" {
			t = t.Need(by, client.Text)
		}
		return t
	}
	if _, err := os.Stat(path); err != nil {
		return Table{}.Fail(fmt.Errorf("cannot read the pictures of %s: %w", path, plainPathError(err)))
	}
	return Table{}.Fail(fmt.Errorf("%s is no folder, no .csv and no .parquet file", path))
}

// textual is a table that CSV made, with a column read as text.
func (t Table) textual(column string) Table {
	if column == "" || t.err != nil {
		return t
	}
	t = t.Need(column, "")
	at := slices.IndexFunc(t.columns, func(c client.ColumnSpec) bool { return c.Name == column })
	if t.err != nil || t.columns[at].Kind != client.Number {
		return t.Need(column, client.Text)
	}
	var args ReadFileArgs
	if err := json.Unmarshal(t.plan.Args, &args); err != nil {
		return t.Fail(err)
	}
	args.Kinds[at].Kind = client.Text
	out := New(t.plan.Op, args, args.Kinds)
	out.name = t.name
	return out
}
