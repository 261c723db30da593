package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"antipode/kernel/client"
)

// SourceEnv is what evaluating a source may use.
type SourceEnv struct {
	Home string                           // the store's folder
	Note func(format string, args ...any) // a line for the user that travels with the result
}

// SourceFunc reads a source: what a plan whose first operation is a data set's gives.
type SourceFunc func(ctx context.Context, args json.RawMessage, env SourceEnv) (*Frame, error)

var (
	sourcesMu sync.Mutex
	sources   = map[string]SourceFunc{}
)

// RegisterSource makes a source known to the side that evaluates plans, under its operation. Packages of data sets call
// it from init. It panics on a second registration: that is a mistake in the program.
func RegisterSource(op string, f SourceFunc) {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	if _, twice := sources[op]; twice {
		panic(fmt.Sprintf("datasets: source %q registered twice", op))
	}
	sources[op] = f
}

// FindSource returns the source of that operation, nil where there is none.
func FindSource(op string) SourceFunc {
	sourcesMu.Lock()
	defer sourcesMu.Unlock()
	return sources[op]
}

// ReadFileArgs are the arguments of the sources that read one file or folder.
type ReadFileArgs struct {
	Path  string              `json:"path"`            // absolute
	Root  string              `json:"root,omitempty"`  // folder that images and masks may lie in; "" = the file's own
	Kinds []client.ColumnSpec `json:"kinds,omitempty"` // of a CSV all columns, as its first rows show them; of a Parquet file those read as text
}

// Root lets a table's images and masks lie anywhere in a parent folder instead of the table's own; see [CSV].
type Root string

// The columns whose kind their name decides; see the columns contract in ARCHITECTURE.md.
var (
	textNames   = []string{"id", "image_id", "object", "region", "country", "group", "axis", "language", "prompt", "prompt_id", "template", "intervention", "caption", "source", "model", "outcome", "reason"}
	numberNames = []string{"seed"}
	vectorNames = []string{"full", "object_only", "background_only", "clip_image", "clip_text", "blip2_image", "blip2_text", "text"}
)

// Parquet is the table in a Parquet file, such as [Table.Save], pandas, polars and the datasets library of Hugging Face
// write. Its columns are known when it runs. Columns have the kinds that their names have in a [CSV]: image and mask may be
// paths, id is text though it be stored as integers. An image may also be stored as its file's bytes, alone or in a struct of
// bytes and path. A column that no table holds, such as a nested one, is left out with a note.
func Parquet(path string, root ...Root) Table {
	args, t := fileArgs(path, root)
	if t.err != nil {
		return t
	}
	if _, err := os.Stat(args.Path); err != nil {
		return t.Fail(fmt.Errorf("cannot read the table %s: %w", path, plainPathError(err)))
	}
	return New("parquet", args, nil).Open().Named(filepath.Base(path))
}

// Folder is the table of the images in a folder and the folders below it (.jpg .jpeg .jfif .png .gif .webp .tif .tiff .bmp;
// of an animation or a file of several pages the first image), sorted by path: columns id (the path below the folder, with
// /), image, and folder (the folder below it that holds the image, "" for the folder itself). A note tells how many files
// of other kinds there are.
func Folder(path string) Table {
	args, t := fileArgs(path, nil)
	if t.err != nil {
		return t
	}
	info, err := os.Stat(args.Path)
	if err != nil {
		return t.Fail(fmt.Errorf("cannot read the folder %s: %w", path, plainPathError(err)))
	}
	if !info.IsDir() {
		return t.Fail(fmt.Errorf("%s is a file, not a folder", path))
	}
	return New("folder", args, []client.ColumnSpec{{Name: "id", Kind: client.Text}, {Name: "image", Kind: client.Picture}, {Name: "folder", Kind: client.Text}}).Named(filepath.Base(path))
}

func fileArgs(path string, root []Root) (ReadFileArgs, Table) {
	if IsURL(path) {
		return ReadFileArgs{}, Table{}.Fail(notFetched(path))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return ReadFileArgs{}, Table{}.Fail(fmt.Errorf("%s: %w", path, err))
	}
	args := ReadFileArgs{Path: abs}
	for _, r := range root {
		if r == "" {
			continue
		}
		if args.Root, err = filepath.Abs(string(r)); err != nil {
			return args, Table{}.Fail(fmt.Errorf("%s: %w", r, err))
		}
	}
	return args, Table{}
}

func plainPathError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// FromFrame is the table of rows that are already in memory.
func FromFrame(f *Frame) Table {
	if f == nil {
		return Table{}.Fail(fmt.Errorf("FromFrame: no frame"))
	}
	if err := f.Check(); err != nil {
		return Table{}.Fail(err)
	}
	return Table{frame: f, columns: f.Specs()}
}

// FromRows is the table of rows given as maps from column name to value: text, int, float64 or []float32. The columns are sorted by
// name, id first; a column missing from a row holds no value there.
func FromRows(rows []map[string]any) Table {
	names := map[string]client.Kind{}
	for i, row := range rows {
		for name, v := range row {
			kind, err := kindOf(v)
			if err != nil {
				return Table{}.Fail(fmt.Errorf("FromRows: row %d, column %q: %w", i+1, name, err))
			}
			if old, known := names[name]; known && old != kind {
				return Table{}.Fail(fmt.Errorf("FromRows: row %d, column %q: %s, but %s in an earlier row", i+1, name, kind, old))
			}
			names[name] = kind
		}
	}
	var order []string
	for n := range names {
		order = append(order, n)
	}
	sort.Slice(order, func(i, j int) bool {
		if (order[i] == "id") != (order[j] == "id") {
			return order[i] == "id"
		}
		return order[i] < order[j]
	})
	f := &Frame{}
	for _, name := range order {
		c := Column{ColumnSpec: client.ColumnSpec{Name: name, Kind: names[name]}}
		for _, row := range rows {
			switch v := row[name].(type) {
			case string:
				c.Texts = append(c.Texts, v)
			case int:
				c.Numbers = append(c.Numbers, float64(v))
			case float64:
				c.Numbers = append(c.Numbers, v)
			case []float32:
				c.Vectors = append(c.Vectors, v)
			default:
				switch c.Kind {
				case client.Text:
					c.Texts = append(c.Texts, "")
				case client.Number:
					c.Numbers = append(c.Numbers, math.NaN())
				default:
					c.Vectors = append(c.Vectors, nil)
				}
			}
		}
		f.Columns = append(f.Columns, c)
	}
	return FromFrame(f)
}

func kindOf(v any) (client.Kind, error) {
	switch v.(type) {
	case string:
		return client.Text, nil
	case int, float64:
		return client.Number, nil
	case []float32:
		return client.Vector, nil
	}
	return "", fmt.Errorf("a %T; give text, a number or a []float32", v)
}

// RowsArgs carries rows inside a plan, as an encoded frame.
type RowsArgs struct {
	Frame []byte `json:"frame"`
}
