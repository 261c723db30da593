package engine

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/parquet"
)

// savedTable is what a run record says about a table.
type savedTable struct {
	rows   int
	inputs []string // digests of the tables that its plan's operation reads
	result string   // its digest
}

// save writes the table to the file or object that the request names.
func (r *run) save(f *table.Frame) (saved savedTable, err error) {
	rows, err := r.savedRows(f, 0)
	if err != nil {
		return saved, err
	}
	if saved.inputs, saved.result, err = r.digests(r.req.Plan, f); err != nil {
		return saved, err
	}
	if objecturl.IsRemote(r.req.Save) {
		err = r.saveObject(rows)
	} else {
		err = writeTable(r.req.Save, func(to io.Writer) error { return EncodeTable(to, r.req.Save, rows) })
	}
	saved.rows = rows.Len()
	return saved, err
}

// savedRows returns rows of a table as they are saved; first is the number of rows before them. Without Columns and
// AllColumns it keeps every column except vectors that no stage of this run has made.
func (r *run) savedRows(f *table.Frame, first int) (*table.Frame, error) {
	for _, name := range r.req.Columns {
		if !f.Has(name) {
			return nil, fmt.Errorf("--columns: %w", table.NoColumn(name, f.Specs()))
		}
	}
	out := &table.Frame{}
	for i := range f.Columns {
		c := f.Columns[i]
		keep := r.req.AllColumns || c.Kind != table.KindVector || r.added[c.Name]
		if len(r.req.Columns) > 0 {
			keep = c.Name == "id" || slices.Contains(r.req.Columns, c.Name)
		}
		if !keep {
			continue
		}
		if c.Kind == table.KindImage {
			images, err := r.savedImages(f, c.Images, first)
			if err != nil {
				return nil, err
			}
			c.Images = images
		}
		out.Columns = append(out.Columns, c)
	}
	return out, nil
}

// savedImages returns the paths of images in a saved table, relative to the file if they are below its folder.
// Images of the store are copied into the folder NAME.images next to the file, so that the table can be moved and
// read without the store. An object stays where it is: its path is its URL. A table under a URL has images below its
// own prefix; see uploaded.
func (r *run) savedImages(f *table.Frame, images []table.Image, first int) ([]table.Image, error) {
	if objecturl.IsRemote(r.req.Save) {
		return r.uploaded(f, images)
	}
	dir := filepath.Dir(r.req.Save)
	folder := strings.TrimSuffix(r.req.Save, filepath.Ext(r.req.Save)) + ".images"
	ids := f.Texts("id")
	out := make([]table.Image, len(images))
	for i, img := range images {
		out[i] = img
		if img.Path == "" {
			continue
		}
		if u, known := r.e.objects.URL(img.Path); known {
			out[i].Path = u.Plain()
			continue
		}
		if rel, err := filepath.Rel(r.store.Dir(), img.Path); err == nil && strings.HasPrefix(rel, "blobs") ||
			r.e.objects.Holds(img.Path) {
			out[i].Path = filepath.Join(folder, imageName(ids, i, first, img))
			if err := r.copyBlob(img, out[i].Path); err != nil {
				return nil, fmt.Errorf("cannot copy the image of row %d next to %s: %w", first+i+1,
					filepath.Base(r.req.Save), plain(err))
			}
		}
		if rel, err := filepath.Rel(dir, out[i].Path); err == nil && !strings.HasPrefix(rel, "..") {
			out[i].Path = filepath.ToSlash(rel)
		}
	}
	return out, nil
}

// imageName returns the name of an image's file next to a table, of whose rows first come before ids.
func imageName(ids []string, row, first int, img table.Image) string {
	name := fmt.Sprint(first + row + 1)
	if ids != nil {
		name = fileName(ids[row])
	}
	return fmt.Sprintf("%s-%.8s%s", name, img.SHA256, filepath.Ext(img.Path))
}

// fileName returns an id as part of a file name: ASCII characters other than letters, digits, dot, dash and underscore
// become underscores.
func fileName(id string) string {
	id = strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("._-", c)) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(id, "_"))
	if len(id) > 100 {
		id = strings.ToValidUTF8(id[:100], "")
	}
	return id
}

// copyBlob copies an image of the store unless the file has the same content already.
func (r *run) copyBlob(img table.Image, to string) error {
	if digest, err := r.e.Store.FileDigest(to); err == nil && digest == img.SHA256 {
		return nil
	}
	data, err := r.store.Blob(img)
	if err != nil {
		return err
	}
	return atomicfile.Write(to, data)
}

// writeTable writes the file of a table atomically.
func writeTable(path string, write func(to io.Writer) error) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = atomicfile.Replace(path, 0o644, write)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, plain(err))
	}
	return nil
}

// tableWriter writes the content of a table's file.
type tableWriter interface {
	Write(rows *table.Frame) error
	Close() error
}

// newTableWriter returns a writer of the format that the name of the file has.
func newTableWriter(to io.Writer, name string, columns []table.ColumnSpec) (tableWriter, error) {
	if objecturl.Ext(name) == ".csv" {
		return newCSVWriter(to, columns), nil
	}
	return parquet.NewWriter(to, columns)
}

// EncodeTable writes the content of the file of a frame: CSV if the name ends in .csv, else Parquet. Images are paths.
func EncodeTable(to io.Writer, name string, f *table.Frame) error {
	w, err := newTableWriter(to, name, f.Specs())
	if err != nil {
		return err
	}
	if err := w.Write(f); err != nil {
		return err
	}
	return w.Close()
}

// csvWriter writes CSV: numbers as they were read or as [table.NumberText], missing values as empty cells,
// vectors as JSON lists, masks as JSON objects, images as paths.
type csvWriter struct {
	to     io.Writer
	csv    *csv.Writer
	record []string
}

func newCSVWriter(to io.Writer, columns []table.ColumnSpec) *csvWriter {
	w := &csvWriter{to, csv.NewWriter(to), make([]string, len(columns))}
	for i, c := range columns {
		w.record[i] = c.Name
	}
	w.csv.Write(w.record)
	return w
}

func (w *csvWriter) Write(f *table.Frame) error {
	for row := range f.Len() {
		for i := range f.Columns {
			w.record[i] = f.Columns[i].CSV(row)
		}
		if len(w.record) == 1 && w.record[0] == "" { // an empty line is no row to most readers
			w.csv.Flush()
			if _, err := io.WriteString(w.to, "\"\"\n"); err != nil {
				return err
			}
			continue
		}
		w.csv.Write(w.record)
	}
	return w.csv.Error()
}

func (w *csvWriter) Close() error {
	w.csv.Flush()
	return w.csv.Error()
}
