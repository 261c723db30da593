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

// Pictures is the table of the images at a path, whatever the path is: a folder ([Folder]), a .csv ([CSV]) or a
// .parquet ([Parquet]) file. by is the column that will group them, "" for none: in a folder its values are the names of the folders
// directly below (photos/Kenya/1.jpg: Kenya), in a table they are read as text, though they may look like numbers.
func Pictures(path, by string, root ...Root) Table {
	if path == "" {
		return Table{}.Fail(fmt.Errorf("no images are named: give a folder, a .csv or a .parquet file"))
	}
	if IsURL(path) {
		return Table{}.Fail(notFetched(path))
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
		return Parquet(path, root...).textual(by)
	}
	if _, err := os.Stat(path); err != nil {
		return Table{}.Fail(fmt.Errorf("cannot read the images of %s: %w", path, plainPathError(err)))
	}
	return Table{}.Fail(TableFormat(path))
}

// IsURL reports whether a path is a URL, such as https://example.org/a.jpg or data:image/png;base64,….
func IsURL(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	if !found {
		return strings.HasPrefix(path, "data:image/")
	}
	return scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

func notFetched(url string) error {
	return fmt.Errorf("%s is not fetched: download it first, and give the path of the file", url)
}

// otherTables are files of tables that are not read, with what makes a CSV or Parquet file of them in pandas.
var otherTables = map[string]string{
	".xlsx": "pd.read_excel(%q)", ".xls": "pd.read_excel(%q)", ".ods": "pd.read_excel(%q)",
	".json": "pd.read_json(%q)", ".jsonl": "pd.read_json(%q, lines=True)", ".ndjson": "pd.read_json(%q, lines=True)",
	".feather": "pd.read_feather(%q)", ".arrow": "pd.read_feather(%q)", ".pkl": "pd.read_pickle(%q)",
	".gz": "pd.read_csv(%q)", ".zip": "pd.read_csv(%q)",
}

// TableFormat returns nil for the name of a file that holds a table, .csv or .parquet, and else an error with the fix.
func TableFormat(path string) error {
	ext := strings.ToLower(filepath.Ext(path))
	switch ext {
	case ".csv", ".parquet":
		return nil
	case ".tsv", ".tab", ".txt":
		return fmt.Errorf("%s: a table is a .csv or .parquet file; rename it to .csv, tabs and semicolons between its cells are recognized", path)
	}
	read, known := otherTables[ext]
	if !known {
		return fmt.Errorf("%s is no folder and no table: a table is a .csv or .parquet file", path)
	}
	name := filepath.Base(path)
	return fmt.Errorf("%s: a table is a .csv or .parquet file; convert it, in pandas: %s.to_csv(%q, index=False)",
		path, fmt.Sprintf(read, name), strings.TrimSuffix(name, filepath.Ext(name))+".csv")
}

// textual is a table that [CSV] or [Parquet] made, with a column read as text.
func (t Table) textual(column string) Table {
	if column == "" || t.err != nil {
		return t
	}
	if t.open {
		var args ReadFileArgs
		if err := json.Unmarshal(t.plan.Args, &args); err != nil {
			return t.Fail(err)
		}
		args.Kinds = []client.ColumnSpec{{Name: column, Kind: client.Text}}
		return New(t.plan.Op, args, nil).Open().Named(t.name)
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
