package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
)

// ordered is a group whose fields keep their order; those of the library are sorted by name.
type ordered struct {
	pq.Group
	names []string
}

func (o ordered) Fields() []pq.Field {
	byName := map[string]pq.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]pq.Field, len(o.names))
	for i, n := range o.names {
		fields[i] = byName[n]
	}
	return fields
}

// rowGroup is the number of rows per row group.
const rowGroup = 4096

// Write writes a frame to a file atomically. Paths of images are written as they are in the frame.
func Write(path string, f *table.Frame) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = atomicfile.Replace(path, 0o644, func(w io.Writer) error { return encode(w, f) })
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// encode writes the content of the file of a frame, a group of rows at a time.
func encode(to io.Writer, f *table.Frame) error {
	w, err := NewWriter(to, f.Specs())
	if err != nil {
		return err
	}
	if err := w.Write(f); err != nil {
		return err
	}
	return w.Close()
}

// Writer writes the content of the file of a table whose rows come in parts. It holds one group of rows; what it writes
// does not depend on the parts.
type Writer struct {
	w       *pq.Writer
	columns []table.ColumnSpec
	kinds   []kind   // of the columns
	rows    []pq.Row // not given to w yet, at most batch
	n       int      // rows in the group
}

// NewWriter returns a writer of a table with these columns.
func NewWriter(to io.Writer, columns []table.ColumnSpec) (*Writer, error) {
	if err := table.NewFrame(columns).Check(); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errors.New("the table has no columns")
	}
	group := ordered{Group: pq.Group{}}
	out := &Writer{columns: columns, rows: make([]pq.Row, 0, batch)}
	for _, c := range columns {
		k := kinds[c.Kind]
		out.kinds = append(out.kinds, k)
		group.Group[c.Name] = pq.Optional(k.node)
		group.names = append(group.names, c.Name)
	}
	out.w = pq.NewWriter(to, pq.NewSchema("antipode", group), pq.Compression(&pq.Zstd),
		pq.CreatedBy("antipode", "1", ""))
	return out, nil
}

// Write writes the next rows.
func (w *Writer) Write(f *table.Frame) error {
	if err := f.Check(); err != nil {
		return err
	}
	if !slices.Equal(f.Specs(), w.columns) {
		return fmt.Errorf("rows with the columns %s in a table with %s", table.NameList(f.Specs()),
			table.NameList(w.columns))
	}
	for i := range f.Len() {
		w.rows = w.rows[:len(w.rows)+1]
		next := &w.rows[len(w.rows)-1] // its memory is used again
		*next = w.appendRow((*next)[:0], f, i)
		w.n++
		if len(w.rows) == batch || w.n == rowGroup {
			if err := w.flush(); err != nil {
				return err
			}
		}
		if w.n == rowGroup {
			if err := w.endGroup(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Writer) flush() error {
	_, err := w.w.WriteRows(w.rows)
	w.rows = w.rows[:0]
	return err
}

func (w *Writer) endGroup() error {
	w.n = 0
	return w.w.Flush()
}

// Close writes the rest of the file.
func (w *Writer) Close() error {
	if w.n > 0 {
		if err := w.flush(); err != nil {
			return err
		}
		if err := w.endGroup(); err != nil {
			return err
		}
	}
	return w.w.Close()
}

// appendRow appends one row of the frame as leaf values with their repetition and definition levels.
func (w *Writer) appendRow(out pq.Row, f *table.Frame, i int) pq.Row {
	leaf := 0
	for at, k := range w.kinds {
		c := &f.Columns[at]
		if c.Kind != table.KindText && c.Missing(i) {
			for n := range k.leaves {
				out = append(out, pq.NullValue().Level(0, 0, leaf+n))
			}
		} else {
			out = k.append(out, c, i, leaf)
		}
		leaf += k.leaves
	}
	return out
}
