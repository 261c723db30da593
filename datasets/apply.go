package datasets

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"iter"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"antipode/datasets/cell"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/thumb"
)

func init() { operation.Verb("with-values", withValues) }

// Row is a row of a table that a function of [Table.Apply] reads.
type Row struct {
	of  *applied
	at  int
	err *error
}

// applied is a table whose rows a function reads, with the columns that are read as another kind.
type applied struct {
	frame *Frame
	as    sync.Map // *Column by table.ColumnSpec
}

// Text returns the row's value in a text column.
func (r Row) Text(column string) string {
	if c := r.column(column, table.KindText); c != nil {
		return c.Texts[r.at]
	}
	return ""
}

// Number returns the row's value in a number column; NaN = no value.
func (r Row) Number(column string) float64 {
	if c := r.column(column, table.KindNumber); c != nil {
		return c.Numbers[r.at]
	}
	return math.NaN()
}

// Vector returns the row's value in a vector column; nil = no value.
func (r Row) Vector(column string) []float32 {
	if c := r.column(column, table.KindVector); c != nil {
		return c.Vectors[r.at]
	}
	return nil
}

func (r Row) column(name string, kind table.Kind) *Column {
	spec := table.ColumnSpec{Name: name, Kind: kind}
	if c, known := r.of.as.Load(spec); known {
		return c.(*Column)
	}
	c, err := r.of.frame.Need(name, kind)
	if err != nil {
		*r.err = err
		return nil
	}
	r.of.as.Store(spec, c)
	return c
}

// Apply adds a number column with the value of a function for each row; NaN is no value. The function runs in this
// process, when the table runs, on several rows at the same time. A column that it reads and the table lacks is an
// error of the run, as is a panic.
func (t Table) Apply(column string, f func(Row) float64) Table {
	return t.local("Apply", column, func(ctx context.Context) (*Frame, []float64, error) {
		rows, err := t.Rows(ctx)
		if err != nil {
			return nil, nil, err
		}
		of := &applied{frame: rows}
		values, err := each(ctx, column, rows, func(row int) (v float64, err error) {
			v = f(Row{of, row, &err})
			return v, err
		})
		return rows, values, err
	})
}

// ApplyImage adds a number column with the value of a function for each image: upright, in RGB on white; NaN is no
// value, and a row without an image has none. The function runs in this process, when the table runs, on several images
// at the same time. Values are stored by image and source of the function: each image is decoded once, also in later
// cells and sessions. What the function reads apart from the image, and the functions it calls, must not change; give
// the column another name otherwise. A panic is an error of the run.
func (t Table) ApplyImage(column string, f func(image.Image) float64) Table {
	source := cell.Source(f)
	return t.need("image", table.KindImage).local("ApplyImage", column, func(ctx context.Context) (*Frame, []float64,
		error) {
		of := t
		if t.frame == nil {
			of = t.Select("id", "image")
		}
		rows, err := of.Rows(ctx)
		if err != nil {
			return nil, nil, err
		}
		known, err := openValues(column, source)
		if err != nil {
			return nil, nil, err
		}
		defer known.close()
		images := rows.Images("image")
		values, err := each(ctx, column, rows, func(row int) (float64, error) {
			return known.of(images[row], f)
		})
		return rows, values, err
	})
}

// Images runs the table and returns an iterator over the ids and images of its rows: upright, in RGB on white. Rows
// without an image are left out. Each image is decoded when it is reached. It fails as [Table.MustRows] does.
func (t Table) Images() iter.Seq2[string, image.Image] {
	return func(yield func(string, image.Image) bool) {
		rows := t.Select("id", "image").MustRows()
		ids, images := rows.Texts("id"), rows.Images("image")
		for row, file := range images {
			if file.Path == "" {
				continue
			}
			img, err := pixels(file)
			if err != nil {
				err = named(rows, row, err)
				inCell(func(context.Context) error { return err })
				return
			}
			if !yield(ids[row], img) {
				return
			}
		}
	}
}

// pixels decodes an image: upright, in RGB on white.
func pixels(img table.Image) (*image.RGBA, error) {
	decoded, err := thumb.Load(img.Path)
	if err != nil {
		return nil, fmt.Errorf("the image %s: %w", img.Path, err)
	}
	return decoded, nil
}

// local adds a column that values computes in this process when the table runs, with the rows it read.
func (t Table) local(verb, column string, values func(context.Context) (*Frame, []float64, error)) Table {
	if column == "" || column == "id" {
		return t.failed(fmt.Errorf("%s(%q, …): give the new column another name", verb, column))
	}
	out := t.derive("with-values", nil, Columns(column+":number")...)
	if out.err == nil {
		out.plan.Local = func(ctx context.Context) (json.RawMessage, error) {
			rows, numbers, err := values(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s(%q): %w", verb, column, err)
			}
			var buf bytes.Buffer
			f := &Frame{Columns: []Column{table.NumberColumn(column, numbers)}}
			if err := f.Encode(&buf); err != nil {
				return nil, err
			}
			return json.Marshal(withValuesArgs{buf.Bytes(), idDigest(rows)})
		}
	}
	return out
}

// withValuesArgs hold the encoded column of a row for each row of a table with these ids.
type withValuesArgs struct {
	Frame []byte `json:"frame"`
	IDs   string `json:"ids"`
}

func idDigest(f *Frame) string {
	h := sha256.New()
	for _, id := range f.Texts("id") {
		fmt.Fprintf(h, "%d %s", len(id), id)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func withValues(_ *Call, a withValuesArgs, in []*Frame) (*Frame, error) {
	f, err := table.Decode(bytes.NewReader(a.Frame))
	if err != nil {
		return nil, err
	}
	if len(f.Columns) != 1 || f.Len() != in[0].Len() || idDigest(in[0]) != a.IDs {
		return nil, errors.New("Apply: the table's rows changed while the function ran; run the cell again")
	}
	return in[0].With(f.Columns[0]), nil
}

// each returns the values of a function of row numbers, GOMAXPROCS rows at a time, and shows the progress.
func each(ctx context.Context, column string, rows *Frame, f func(row int) (float64, error)) ([]float64, error) {
	n := rows.Len()
	values := make([]float64, n)
	bar := cell.NewProgress()
	defer bar.Close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for ctx.Err() == nil {
				row := int(next.Add(1)) - 1
				if row >= n {
					return
				}
				var err error
				if values[row], err = caught(func() (float64, error) { return f(row) }); err != nil {
					stop(named(rows, row, err))
				}
				bar.Update(table.Progress{Stage: column, Done: int(done.Add(1)), Total: n})
			}
		})
	}
	workers.Wait()
	return values, context.Cause(ctx)
}

// caught calls a user's function; its panic is an error.
func caught(f func() (float64, error)) (v float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the function panicked: %v", p)
		}
	}()
	return f()
}

// named adds the row and its id to an error.
func named(f *Frame, row int, err error) error {
	if ids := f.Texts("id"); ids != nil {
		return fmt.Errorf("row %d, id %q: %w", row+1, ids[row], err)
	}
	return fmt.Errorf("row %d: %w", row+1, err)
}

// valueFile holds the values of a function by image: lines of a digest and a number, which are appended as they are
// computed. A line that an interruption cut off is left out when the file is read.
type valueFile struct {
	mu     sync.Mutex                         // of file and values
	path   string                             // "" where the function's source is not known
	file   *os.File                           // open once a value is added
	values map[string]func() (float64, error) // by digest
}

func openValues(column, source string) (*valueFile, error) {
	v := &valueFile{values: map[string]func() (float64, error){}}
	if source == "" {
		return v, nil
	}
	of, key := sha256.Sum256([]byte(column)), sha256.Sum256([]byte(source))
	path, _, tidy, err := keptFile(fmt.Sprintf("image-values-%x", of[:4]), key[:], ".txt")
	if err != nil {
		return nil, err
	}
	v.path = path
	tidy()
	text, err := os.ReadFile(v.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		digest, number, _ := strings.Cut(lines.Text(), " ")
		if x, err := strconv.ParseFloat(strings.TrimSuffix(number, ";"), 64); err == nil && len(digest) == 64 &&
			strings.HasSuffix(number, ";") {
			v.values[digest] = func() (float64, error) { return x, nil }
		}
	}
	return v, nil
}

// of returns the value of an image's function, stored or computed; NaN without an image.
func (v *valueFile) of(img table.Image, f func(image.Image) float64) (float64, error) {
	if img.Path == "" {
		return math.NaN(), nil
	}
	v.mu.Lock()
	key := cmp.Or(img.SHA256, img.Path)
	value := v.values[key]
	if value == nil {
		value = sync.OnceValues(func() (float64, error) { return v.compute(img, f) })
		v.values[key] = value
	}
	v.mu.Unlock()
	return value()
}

func (v *valueFile) compute(img table.Image, f func(image.Image) float64) (float64, error) {
	decoded, err := pixels(img)
	if err != nil {
		return 0, err
	}
	x, err := caught(func() (float64, error) { return f(decoded), nil })
	if err == nil && v.path != "" && img.SHA256 != "" {
		err = v.store(img.SHA256, x)
	}
	return x, err
}

func (v *valueFile) store(digest string, x float64) (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.file == nil {
		if v.file, err = os.OpenFile(v.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(v.file, "\n%s %s;", digest, strconv.FormatFloat(x, 'g', -1, 64))
	return err
}

func (v *valueFile) close() {
	if v.file != nil {
		_ = v.file.Close()
	}
}
