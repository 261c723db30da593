package datasets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

// ImagesOptions are the options of [Images].
type ImagesOptions struct {
	// By is the column that groups the images. In a folder its values are the names of the folders directly below
	// (photos/Kenya/1.jpg: Kenya); in a table they are read as text, even if they are digits.
	By string

	// Default is the table where the path is empty. It serves notebooks whose path is a parameter.
	Default Table

	FileOptions
}

// Images returns the table of the images at a path: a folder ([Folder]), a .csv file ([CSV]) or a .parquet file
// ([Parquet]). The path may be a URL; that of a folder ends in a slash.
func Images(path string, options ...ImagesOptions) Table {
	o, err := table.One(options)
	if err != nil {
		return Table{}.failed(fmt.Errorf("Images: %w", err))
	}
	if path == "" && len(o.Default.Columns()) > 0 {
		return o.Default
	}
	switch {
	case path == "":
		return Table{}.failed(errors.New("Images: no path; give a folder, a .csv or a .parquet file"))
	case isForeign(path):
		return Table{}.failed(fmt.Errorf("Images: %w", notFetched(path)))
	}
	if path, err = objecturl.Local(path); err != nil {
		return Table{}.failed(fmt.Errorf("Images: %w", err))
	}
	if info, err := os.Stat(path); objecturl.IsFolder(path) || err == nil &&
		(info.IsDir() || IsArchive(path)) {
		t := Folder(path, o.FileOptions)
		if o.By != "" && !t.open {
			t = t.Rename("folder", o.By)
		}
		return t.needBy(o.By)
	}
	switch objecturl.Ext(path) {
	case ".csv":
		return CSV(path, o.FileOptions).needBy(o.By)
	case ".parquet":
		return Parquet(path, o.FileOptions).needBy(o.By)
	}
	if objecturl.IsRemote(path) {
		return Folder(path) // whose error says what to do
	}
	if _, err := os.Stat(path); err != nil {
		return Table{}.failed(fmt.Errorf("cannot read the images of %s: %w", path, plainPathError(err)))
	}
	return Table{}.failed(TableFormat(path))
}

// IsURL reports whether a path is a URL, such as https://example.org/a.jpg or data:image/png;base64,….
func IsURL(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	if !found {
		return strings.HasPrefix(path, "data:image/")
	}
	return scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// isForeign reports whether a path is a URL, and not that of an object.
func isForeign(path string) bool { return IsURL(path) && !objecturl.Is(path) }

func notFetched(url string) error {
	return fmt.Errorf("%s is a URL; download the file first and give its path", url)
}

// otherTables are the extensions of tables in other formats, with the pandas expression that reads them.
var otherTables = map[string]string{
	".xlsx": "pd.read_excel(%q)", ".xls": "pd.read_excel(%q)", ".ods": "pd.read_excel(%q)",
	".json": "pd.read_json(%q)", ".jsonl": "pd.read_json(%q, lines=True)", ".ndjson": "pd.read_json(%q, lines=True)",
	".feather": "pd.read_feather(%q)", ".arrow": "pd.read_feather(%q)", ".pkl": "pd.read_pickle(%q)",
	".gz": "pd.read_csv(%q)", ".zip": "pd.read_csv(%q)",
}

// TableFormat returns nil for the name of a .csv or .parquet file, else an error with the fix.
func TableFormat(path string) error {
	ext := objecturl.Ext(path)
	switch ext {
	case ".csv", ".parquet":
		return nil
	case ".tsv", ".tab", ".txt":
		return fmt.Errorf("%s: a table is a .csv or .parquet file; rename it to .csv; tabs and semicolons between "+
			"cells are recognized", path)
	}
	read, known := otherTables[ext]
	if !known {
		if objecturl.IsRemote(path) {
			return fmt.Errorf("%s is not a folder or table; the URL of a folder ends in a slash, that of a table in "+
				".csv or .parquet", path)
		}
		tried, _ := filepath.Abs(path) // only for the message
		return fmt.Errorf("%s is not a folder or table (%s); a table is a .csv or .parquet file", path, tried)
	}
	name := objecturl.Base(path)
	return fmt.Errorf("%s: a table is a .csv or .parquet file; convert it, in pandas: %s.to_csv(%q, index=False)",
		path, fmt.Sprintf(read, name), strings.TrimSuffix(name, filepath.Ext(name))+".csv")
}

// needBy returns the table, in error if it lacks the grouping column, "" = none.
func (t Table) needBy(column string) Table {
	if column == "" {
		return t
	}
	return t.need(column, table.KindText)
}
