package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unicode/utf8"

	pq "github.com/parquet-go/parquet-go"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/fault"
)

// Options are the options of [Read]. The zero value reads every column by its type, and no image bytes.
type Options struct {
	// Kind returns the kind of a column of that name, "" = the kind of its type: text for an id that is stored as
	// integers, an image for a path. nil = "" for every name.
	Kind func(name string) table.Kind
	// PutImage stores the bytes of an image file. It is called concurrently. A [table.BadRow] is an error of the row,
	// any other error ends Read.
	PutImage func(data []byte) (table.Image, error)
	// Bytes reports whether the image bytes of a row, counted from First, are stored; nil = those of every row. The
	// image or mask of another row has the name of its column as Path or Counts; see [Table.Held].
	Bytes func(row int) bool
	// First and N select N rows from number First, counted from 0; N 0 = all from First.
	First, N int
}

// Table is the content of a file.
type Table struct {
	Frame  *table.Frame    // masks and images stored as paths have only the path
	Bad    []*table.BadRow // by row: why it cannot be used, or nil
	Unread []string        // columns without a kind: name and type
	Rows   int             // of the file

	Held map[string]map[int]bool // by column and row: whose image bytes Options.Bytes has left out
}

// stored is an image whose bytes are not stored yet.
type stored struct {
	column, row int
	data        []byte
}

// reader reads the rows of one file.
type reader struct {
	*Table
	o       Options
	roles   []leafRole
	waiting []stored
	bytes   int64 // of the waiting images
	budget  *table.Budget
}

// Read reads a table from a file. Strings, dates and times are text, and so are integers of which a float64 would round
// one; other integers, floats, decimals and booleans are numbers; lists of numbers are vectors of float32, to which
// wider ones are rounded, with NaN for null elements; lists of strings, and lists of such lists, are
// text as JSON, or "" for null; the structs of masks and images, also those of Hugging Face's datasets, are masks and
// images. Options.Kind overrides this by name. Errors are one line with the file and the cause.
func Read(path string, o Options) (t *Table, err error) {
	name := filepath.Base(path)
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged files
			t, err = nil, fmt.Errorf("%s is damaged or not a Parquet file: %v", name, p)
		}
	}()
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", path, errors.Unwrap(err))
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := check(file, info.Size(), table.NewBudget(info.Size())); err != nil {
		return nil, fmt.Errorf("%s is damaged or not a Parquet file: %w", name, err)
	}
	pf, err := pq.OpenFile(file, info.Size(), pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%s is damaged or not a Parquet file: %w", name, err)
	}
	r := &reader{Table: &Table{Rows: int(pf.NumRows()), Held: map[string]map[int]bool{}}, o: o,
		budget: table.NewBudget(info.Size())}
	if r.roles, err = r.layout(pf.Schema(), o); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	start := 0
	for _, g := range pf.RowGroups() {
		n := int(g.NumRows())
		if skip := max(0, o.First-start); skip < n && !r.full() {
			if err := r.group(g, skip); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		start += n
	}
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r.Table, nil
}

// batch is the number of rows per read or write, and maxWaiting the bytes of images that are stored together.
const (
	batch      = 256
	maxWaiting = 64 << 20
)

// full reports whether the selected rows are read.
func (r *reader) full() bool { return r.o.N > 0 && len(r.Bad) >= r.o.N }

// group reads the rows of a row group, without the first skip ones.
func (r *reader) group(g pq.RowGroup, skip int) error {
	rows := g.Rows()
	defer rows.Close()
	if skip > 0 {
		if err := rows.SeekToRow(int64(skip)); err != nil {
			return fmt.Errorf("the file is damaged: %w", err)
		}
	}
	buf := make([]pq.Row, batch)
	for !r.full() {
		if r.o.N > 0 {
			buf = buf[:min(batch, r.o.N-len(r.Bad))]
		}
		n, err := rows.ReadRows(buf)
		for _, row := range buf[:n] {
			if err := r.budget.Take(r.row(row)); err != nil {
				return err
			}
			if r.bytes > maxWaiting {
				if err := r.store(); err != nil {
					return err
				}
			}
		}
		if err := r.store(); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the file is damaged: %w", err)
		}
	}
	return nil
}

// store stores the waiting images concurrently.
func (r *reader) store() error {
	errs := make([]error, len(r.waiting))
	var wg sync.WaitGroup
	limit := make(chan struct{}, 16) // the work is mostly waiting for the disk
	for i, w := range r.waiting {
		limit <- struct{}{}
		wg.Go(func() {
			defer func() { <-limit }()
			var img table.Image
			if errs[i] = fault.Catch(func() (err error) {
				img, err = r.o.PutImage(w.data)
				return err
			}); errs[i] != nil {
				return
			}
			if c := &r.Frame.Columns[w.column]; c.Kind == table.KindMask {
				c.Masks[w.row].Counts = img.Path
			} else {
				c.Images[w.row] = img
			}
		})
	}
	wg.Wait()
	for i, w := range r.waiting {
		var bad table.BadRow
		if errors.As(errs[i], &bad) {
			bad.Column = r.Frame.Columns[w.column].Name
			r.Bad[w.row] = &bad
		} else if errs[i] != nil {
			return errs[i]
		}
	}
	r.waiting, r.bytes = r.waiting[:0], 0
	return nil
}

// row appends a row of the file to the columns and returns the memory that it takes.
func (r *reader) row(values pq.Row) (bytes int64) {
	for i := range r.Frame.Columns {
		appendNone(&r.Frame.Columns[i])
	}
	row := len(r.Bad)
	r.Bad = append(r.Bad, nil)
	sizes := 0
	jsons := map[int][][]string{} // by column: the texts of a list of lists, or of one list in the first
	runs := map[int][]int{}       // by column: the counts of a mask that are a list
	bytes = 32 * int64(len(r.Frame.Columns))
	for _, v := range values {
		role := r.roles[v.Column()]
		if role.column < 0 {
			continue
		}
		bytes += 4
		if v.Kind() == pq.ByteArray || v.Kind() == pq.FixedLenByteArray {
			bytes += int64(len(v.ByteArray()))
		}
		c := &r.Frame.Columns[role.column]
		switch {
		case role.holds == lists:
			jsons[role.column] = appendText(jsons[role.column], v, role)
		case v.IsNull():
			if role.holds == vectors {
				appendNull(&c.Vectors[row], v, role)
			}
		case role.part == "bytes", c.Kind == table.KindImage && role.holds == bytes_:
			if r.o.Bytes != nil && !r.o.Bytes(row) {
				r.skip(c, row)
			} else if r.o.PutImage != nil {
				r.waiting = append(r.waiting, stored{role.column, row, slices.Clone(v.ByteArray())})
				r.bytes += int64(len(v.ByteArray()))
			}
		case role.part == "counts" && role.lists > 0:
			runs[role.column] = append(runs[role.column], int(role.number(v)))
		case role.part == "size":
			if sizes < 2 {
				c.Masks[row].Size[sizes] = int(role.number(v))
			}
			sizes++
		default:
			role.set(r, c, row, v, role)
		}
		if role.part == "counts" {
			sizes = 0
		}
	}
	for column, counts := range runs {
		m := &r.Frame.Columns[column].Masks[row]
		var err error
		if *m, err = mask.FromRuns(m.Size[0], m.Size[1], counts); err != nil {
			r.Bad[row] = &table.BadRow{Column: r.Frame.Columns[column].Name, Reason: err.Error()}
		}
	}
	for column, list := range jsons {
		if list == nil {
			continue
		}
		var whole any = list
		if r.role(column).lists == 1 {
			whole = list[0]
		}
		if text, err := json.Marshal(whole); err == nil {
			r.Frame.Columns[column].Texts[row] = string(text)
		}
	}
	return bytes
}

// skip marks the image or mask of a row whose bytes are not stored.
func (r *reader) skip(c *table.Column, row int) {
	if r.Held[c.Name] == nil {
		r.Held[c.Name] = map[int]bool{}
	}
	r.Held[c.Name][row] = true
	if c.Kind == table.KindMask {
		c.Masks[row].Counts = c.Name
	} else {
		c.Images[row].Path = c.Name
	}
}

// role returns the role of a column's first leaf.
func (r *reader) role(column int) leafRole {
	return r.roles[slices.IndexFunc(r.roles, func(o leafRole) bool { return o.column == column })]
}

// appendNone appends "no value".
func appendNone(c *table.Column) {
	c.AddAny(nil)
	if c.Kind == table.KindNumber && c.Texts != nil {
		c.Texts = append(c.Texts, "")
	}
}

// appendNull adds the meaning of a null leaf: an element without a value, an empty list or no list.
func appendNull(vector *[]float32, v pq.Value, role leafRole) {
	listed := role.maxDef - 1 // the level of an empty list
	if role.optional {
		listed--
	}
	switch level := v.DefinitionLevel(); {
	case level > listed: // pandas writes a NaN inside a list as null
		*vector = append(*vector, float32(math.NaN()))
	case level == listed && level > 0:
		*vector = []float32{} // an empty list, which is not null
	}
}

// appendText adds a text to the lists of its row: a repetition level below the number of lists starts an inner list.
func appendText(list [][]string, v pq.Value, role leafRole) [][]string {
	if v.IsNull() && !(role.optional && v.DefinitionLevel() == role.maxDef-1) {
		return list // an empty list, or none
	}
	if len(list) == 0 || v.RepetitionLevel() < role.lists && role.lists == 2 {
		list = append(list, nil)
	}
	text := ""
	if !v.IsNull() {
		text = role.text(v)
	}
	list[len(list)-1] = append(list[len(list)-1], text)
	return list
}

// finish sets the kinds that depend on all values: bytes are text if they are UTF-8, and texts are vectors if the name
// requires vectors and all of them are JSON lists of numbers.
func (r *reader) finish() error {
	var keep []table.Column
	for i := range r.Frame.Columns {
		c := r.Frame.Columns[i]
		isUTF8 := func() bool {
			return !slices.ContainsFunc(c.Texts,
				func(s string) bool { return !utf8.ValidString(s) })
		}
		if c.Kind == table.KindText && r.role(i).holds == bytes_ && !isUTF8() {
			if c.Name == "id" {
				return fmt.Errorf("column %q holds bytes that are not UTF-8 text; store text or integers", c.Name)
			}
			r.Unread = append(r.Unread, fmt.Sprintf("%q (bytes)", c.Name))
			continue
		}
		switch want := r.kind(c.Name); {
		case c.Kind == table.KindNumber && r.role(i).whole && c.Texts != nil: // integers that a float64 would round
			c = table.TextColumn(c.Name, c.Texts)
		case c.Kind == table.KindText && want == table.KindNumber:
			c = table.CellColumn(c.Name, c.Texts, table.NumberFormat{})
		case c.Kind == table.KindText && want == table.KindVector && !table.IsBlank(c.Texts):
			if vectors, err := c.As(table.KindVector); err == nil {
				c = *vectors
			}
		}
		keep = append(keep, c)
	}
	r.Frame.Columns = keep
	return nil
}

// kind returns the kind that a column's name requires, "" = none.
func (r *reader) kind(name string) table.Kind {
	if r.o.Kind == nil {
		return ""
	}
	return r.o.Kind(name)
}
