package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

// ReadFileArgs are the arguments of the sources that read one file or folder.
type ReadFileArgs struct {
	Path    string   `json:"path" help:"a file to read instead"` // absolute, or the URL of an object
	Columns []string `json:"columns,omitempty"`                  // of a CSV file, when the table was made
	FileOptions
}

// FileOptions are the options of [CSV] and [Parquet].
type FileOptions struct {
	// Root is the folder that the table's images and masks must be located in; "" = the table's own folder.
	Root string `json:"root,omitempty" group:"Reading tables and images" help:"a parent DIR or URL that images and masks may be in"`

	// RepeatedIDs reads a table whose ids occur several times, such as one of translations with a row for each prompt
	// and language. Otherwise a row whose id occurred before is a bad row.
	RepeatedIDs bool `json:"repeated_ids,omitempty" help:"ids may occur several times"`

	// Decimal is the decimal mark of the numbers in a CSV file, "." or ","; "" = ".", and in a file with semicolons ","
	// in a column whose numbers have one, which a note reports.
	Decimal string `json:"decimal,omitempty" group:"Reading tables and images" help:"the decimal mark of the numbers in a .csv file, . or ,"`
	// Thousands is the mark between thousands, such as "," in 1,500; "" = none. A column with such marks is text.
	Thousands string `json:"thousands,omitempty" group:"Reading tables and images" help:"the mark between thousands in a .csv file"`

	// MaskThreshold is the share of the range, above 0 and at most 1, that a pixel of a mask file with more gray
	// values than black and another one, such as a JPEG, must reach to be object; 0 = 0.5. Masks with a palette are
	// read by color, not by index, and those of 16 bits by value. See [mask.Read].
	MaskThreshold float64 `json:"mask_threshold,omitempty" group:"Reading tables and images" min:"0" max:"1" help:"the share of white that a pixel of a mask with more gray values than black and another one must reach; default 0.5"`
	// Color is what happens to images with another color profile than sRGB: "as-stored" (the default) reads the stored
	// values and ignores the profile, as Pillow and the reference implementations do; "srgb" converts them. Profiles
	// with tables of colors, such as those of printers, are not converted.
	Color string `json:"color,omitempty" group:"Reading tables and images" zero:"as-stored" values:"as-stored,srgb" help:"what happens to images with another color profile than sRGB; as-stored ignores it, srgb converts them"`

	// Alpha is what happens to transparent pixels: "drop" (the default) reads the colors that are stored under the
	// transparency, as Pillow's convert("RGB") does; "white", "black" and "checker" put them on that background.
	Alpha string `json:"alpha,omitempty" group:"Reading tables and images" zero:"drop" values:"drop,white,black,checker" help:"the background of transparent pixels; drop reads the colors that are stored under the transparency"`
}

// Parquet returns the table of a Parquet file, as [Table.Save], pandas, polars and the Hugging Face library datasets
// write it. The path may be the URL of an object, such as s3://BUCKET/KEY; then images and masks are objects below the
// table's prefix, and [FileOptions].Root is a URL. Its columns are known when it runs and have the kinds that their
// names have in a [CSV]: image and mask may be paths, and id is text even if it is stored as integers. An image may
// also be stored as its file's bytes, alone or in a struct of bytes and path. Columns without a kind, such as nested
// ones, are left out with a note.
func Parquet(path string, options ...FileOptions) Table {
	args, t := fileArgs("Parquet", path, options)
	if t.err != nil {
		return t
	}
	if !objecturl.IsRemote(args.Path) {
		if _, err := os.Stat(args.Path); err != nil {
			return t.failed(fmt.Errorf("cannot read the table %s: %w", path, plainPathError(err)))
		}
	}
	return New("parquet", args, nil).opened().named(objecturl.Base(path))
}

// Folder returns the table of the images in a folder and its subfolders (.jpg .jpeg .jfif .png .gif .webp .tif .tiff
// .bmp; the first image of an animation or of several pages), sorted by path: columns id (the path relative to the
// folder, with /), image, and folder (the first folder of id, "" for images in the folder itself). A note reports the
// number of files of other kinds. A URL that ends in a slash, such as s3://BUCKET/PREFIX/, is the folder of the objects
// below it.
//
// It also reads the layouts of the Hugging Face libraries: the rows of metadata.csv or metadata.jsonl, by file_name,
// become columns of the images next to them; a folder without images is the table of its Parquet files (shards), or of
// the images in its .tar files (WebDataset: members 0001.jpg, 0001.txt as caption, 0001.cls as class, and the fields of
// 0001.json), whose ids are made from the file and the row or member where they have none; ids that two shards share
// get the shard's name in front. Folders named region=Kenya are a column region. The path may be that of one .tar file.
// These columns are known when the table runs. Of the options only those about colors and transparency apply.
func Folder(path string, options ...FileOptions) Table {
	args, t := fileArgs("Folder", path, options)
	if t.err != nil {
		return t
	}
	columns := Columns("id:text", "image:image", "folder:text")
	if objecturl.IsRemote(args.Path) {
		if !objecturl.IsFolder(args.Path) {
			return t.failed(fmt.Errorf("%s: the URL of a folder ends in a slash", path))
		}
		return New("folder", args, columns).named(objecturl.Base(path))
	}
	info, err := os.Stat(args.Path)
	switch {
	case err != nil:
		return t.failed(fmt.Errorf("cannot read the folder %s: %w", path, plainPathError(err)))
	case !info.IsDir() && IsArchive(path):
		return New("folder", args, Columns("id:text", "image:image")).opened().named(filepath.Base(path))
	case !info.IsDir():
		return t.failed(fmt.Errorf("%s is a file, not a folder", path))
	}
	out := New("folder", args, columns).named(filepath.Base(args.Path))
	if structured(args.Path) {
		out.columns = nil
		return out.opened()
	}
	return out
}

// structured reports whether a folder, or one directly below it, holds tables, archives, metadata or folders named
// KEY=VALUE, so that its columns depend on them.
func structured(dir string) bool {
	found := func(e os.DirEntry) bool {
		files := ImageFilesOf([]string{e.Name()})
		return len(files.Tables)+len(files.Archives)+len(files.Metadata) > 0 || e.IsDir() && strings.Contains(e.Name(),
			"=")
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if found(e) {
			return true
		}
		if e.IsDir() {
			below, _ := os.ReadDir(filepath.Join(dir, e.Name()))
			if slices.ContainsFunc(below, found) {
				return true
			}
		}
	}
	return false
}

func fileArgs(verb, path string, options []FileOptions) (ReadFileArgs, Table) {
	o, err := table.One(options)
	var args ReadFileArgs
	switch {
	case err != nil:
	case isForeign(path):
		err = notFetched(path)
	default:
		args.Path, err = objecturl.Resolve(path)
	}
	args.FileOptions = o
	if err == nil && (o.Decimal != "" && o.Decimal != "." && o.Decimal != "," || o.Thousands != "" &&
		(o.Thousands == o.Decimal || o.Decimal == "" && o.Thousands == ".") ||
		strings.ContainsAny(o.Thousands, "0123456789+-eE")) {
		err = fmt.Errorf("decimal mark %q and thousands mark %q: use \".\" or \",\", and different ones", o.Decimal,
			o.Thousands)
	}
	if err == nil {
		err = operation.OptionsOf[FileOptions]().Check(&args.FileOptions)
	}
	if err == nil && o.Root != "" {
		args.Root, err = objecturl.Resolve(o.Root)
	}
	if err != nil {
		return args, Table{}.failed(fmt.Errorf("%s: %w", verb, err))
	}
	return args, Table{}
}

func plainPathError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return tried(pe)
	}
	return err
}

// FromFrame returns the table of a frame.
func FromFrame(f *Frame) Table {
	if f == nil {
		return Table{}.failed(fmt.Errorf("FromFrame: no frame"))
	}
	if err := f.Check(); err != nil {
		return Table{}.failed(err)
	}
	return Table{frame: f, columns: f.Specs()}
}

// FromRows returns the table of rows given as maps from column name to value: a string, int, float64 or []float32. The
// columns are sorted by name, id first; one with an int that a float64 would round is text. A row
// has no value in the columns that are missing from its map.
func FromRows(rows []map[string]any) Table {
	names, wide := map[string]table.Kind{}, map[string]bool{}
	for i, row := range rows {
		for name, v := range row {
			kind := table.KindOf(v)
			if n, is := v.(int); is {
				kind, wide[name] = table.KindNumber, wide[name] || !exact(n)
			}
			if kind == "" {
				return Table{}.failed(fmt.Errorf("FromRows: row %d, column %q: a %T; use a string, an int, a float64 "+
					"or a []float32", i+1, name, v))
			}
			if old, known := names[name]; known && old != kind {
				return Table{}.failed(fmt.Errorf("FromRows: row %d, column %q: %s, but %s in an earlier row", i+1, name,
					kind, old))
			}
			names[name] = kind
		}
	}
	order := slices.Collect(maps.Keys(names))
	sort.Slice(order, func(i, j int) bool {
		if (order[i] == "id") != (order[j] == "id") {
			return order[i] == "id"
		}
		return order[i] < order[j]
	})
	f := &Frame{}
	for _, name := range order {
		c := Column{ColumnSpec: table.ColumnSpec{Name: name, Kind: names[name]}}
		for _, row := range rows {
			value := row[name]
			if n, is := value.(int); is {
				value = float64(n)
			}
			c.AddAny(value)
		}
		if wide[name] {
			c = table.TextColumn(name, make([]string, len(rows)))
			for row := range rows {
				if v, given := rows[row][name]; given {
					c.Texts[row] = fmt.Sprint(v)
				}
			}
		}
		f.Columns = append(f.Columns, c)
	}
	return FromFrame(f)
}

// rowsArgs are the arguments of the operation rows: an encoded frame.
type rowsArgs struct {
	Frame []byte `json:"frame"`
}

func init() { operation.Register("rows", rowsInMemory) }

// rowsInMemory evaluates the rows that a plan carries.
func rowsInMemory(_ context.Context, _ Call, raw json.RawMessage, _ []*Frame) (*Frame, error) {
	var a rowsArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return table.Decode(bytes.NewReader(a.Frame))
}
