package engine

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/imagefile"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/parquet"
)

func (r *run) csvSource(p *table.Plan, a datasets.ReadFileArgs) (*table.Frame, error) {
	name := objecturl.Base(a.Path)
	path, err := r.file(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", a.Path, plain(err))
	}
	defer file.Close()
	cr, err := datasets.OpenCSV(file, name)
	if err != nil {
		return nil, err
	}
	if a.Columns != nil && !slices.Equal(cr.Header, a.Columns) {
		return nil, fmt.Errorf("%s changed while the notebook ran: its columns are now %s; run the cell again", name,
			strings.Join(cr.Header, ", "))
	}
	cells := make([][]string, len(cr.Header))
	for {
		row, _, err := cr.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, v := range row {
			cells[i] = append(cells[i], v)
		}
	}
	f := &table.Frame{}
	for i, name := range cr.Header {
		f.Columns = append(f.Columns, table.CSVColumn(name, cells[i],
			table.NumberFormat{Decimal: a.Decimal, Thousands: a.Thousands}))
	}
	if a.Decimal == "" && cr.Comma == ';' {
		r.decimalCommas(f, name, a.Thousands)
	}
	return r.resolve(f, &source{origin: originOf(a), plan: p})
}

// decimalCommas reads the text columns of a file with semicolons whose values are all numbers with decimal commas as
// numbers.
func (r *run) decimalCommas(f *table.Frame, name, thousands string) {
	german := table.NumberFormat{Decimal: ",", Thousands: thousands}
	found := false
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.Kind != table.KindText || table.KindByName(c.Name) != "" {
			continue
		}
		numbers := table.CellColumn(c.Name, c.Texts, german)
		if numbers.Kind != table.KindNumber && thousands == "" {
			numbers = table.CellColumn(c.Name, c.Texts, table.NumberFormat{Decimal: ",", Thousands: "."})
		}
		if numbers.Kind == table.KindNumber {
			*c, found = numbers, true
			r.reading(table.Reading{Source: name, Column: c.Name, What: fmt.Sprintf("values of %q have a decimal comma",
				c.Name),
				Fix: `Decimal: "." (--decimal .) reads them as text`}.Count(f, func(row int) (bool, bool) {
				return strings.Contains(c.Texts[row], ","), c.Texts[row] != ""
			}))
		}
	}
	for i := range f.Columns { // 1.234 in such a file may be 1234
		c := &f.Columns[i]
		if c.Kind != table.KindNumber || !found {
			continue
		}
		texts, _ := c.As(table.KindText)
		whole, err := table.NumberFormat{Decimal: ",", Thousands: "."}.ParseNumbers(texts.Texts)
		if err == nil && !slices.EqualFunc(whole, c.Numbers, func(x, y float64) bool { return x == y || x != x }) {
			r.reading(table.Reading{Source: name, Column: c.Name, What: fmt.Sprintf("values of %q have a point, in a "+
				"file with "+
				"decimal commas, and are read as 1.234", c.Name), Fix: `Decimal: "," and Thousands: "." ` +
				`(--decimal , --thousands .) read them as 1234`}.Count(f, func(row int) (bool, bool) {
				return strings.Contains(texts.Texts[row], "."), texts.Texts[row] != ""
			}))
		}
	}
}

func (r *run) parquetSource(p *table.Plan, a datasets.ReadFileArgs) (*table.Frame, error) {
	path, err := r.file(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table: %w", err)
	}
	return r.parquetTable(path, &source{origin: originOf(a), plan: p})
}

// originOf returns the origin of a file's table.
func originOf(a datasets.ReadFileArgs) origin {
	return origin{name: objecturl.Base(a.Path), dir: folder(a.Path), root: a.Root, repeated: a.RepeatedIDs,
		threshold: a.MaskThreshold, color: a.Color, alpha: a.Alpha}
}

// parquetTable reads the table of a Parquet file. The bytes of images that it holds are read when they are needed.
func (r *run) parquetTable(path string, s *source) (*table.Frame, error) {
	r.traced(path, "")
	options := parquet.Options{PutImage: r.putImage, Kind: table.KindByName, Bytes: func(int) bool { return false }}
	t, err := parquet.Read(path, options)
	if err != nil {
		return nil, err
	}
	if len(t.Unread) > 0 {
		r.note("%s: columns that are not read: %s", s.name, strings.Join(t.Unread, ", "))
	}
	s.bad = t.Bad
	if len(t.Held) > 0 {
		s.read = func(rows []int) error {
			options.Bytes = func(row int) bool { _, want := slices.BinarySearch(rows, row); return want }
			again, err := parquet.Read(path, options)
			if err != nil {
				return err
			}
			if err := s.held(again, t.Held, rows); err != nil {
				return err
			}
			return r.readFiles(s.f, rows, s.origin, s.bad)
		}
	}
	return r.resolve(t.Frame, s)
}

// held sets the images and masks of rows whose bytes the table holds, and the rows of which it holds bad bytes.
func (s *source) held(t *parquet.Table, held map[string]map[int]bool, rows []int) error {
	if t.Frame.Len() != s.f.Len() {
		return s.changed()
	}
	for _, row := range rows {
		if s.bad[row] == nil {
			s.bad[row] = t.Bad[row]
		}
		for i := range s.f.Columns {
			c := &s.f.Columns[i]
			if !held[c.Name][row] {
				continue
			}
			if from := t.Frame.Column(c.Name); from == nil || from.Kind != c.Kind {
				return s.changed()
			} else if c.Kind == table.KindImage {
				c.Images[row] = from.Images[row]
			} else {
				c.Masks[row] = from.Masks[row]
			}
		}
	}
	return nil
}

func (r *run) putImage(data []byte) (table.Image, error) {
	extension, err := imagefile.Extension(data)
	if err != nil {
		return table.Image{}, table.BadRow{Reason: err.Error()}
	}
	return r.store.PutBlob(data, extension)
}

// imageFiles lists the images of a folder, or below the URL of a prefix.
func (r *run) imageFiles(dir string) (datasets.ImageFiles, error) {
	if !objecturl.IsRemote(dir) {
		return datasets.ListImageFiles(os.DirFS(dir))
	}
	u, err := objecturl.Parse(dir)
	if err != nil {
		return datasets.ImageFiles{}, err
	}
	sizes, err := r.e.objects.List(r.ctx, u)
	return datasets.ImageFilesOf(slices.Collect(maps.Keys(sizes))), err
}
