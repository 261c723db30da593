package datasets

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

// sniffRows is the number of rows that determine the separator.
const sniffRows = 200

// CSV returns the table of a CSV file with a header line: UTF-8, or UTF-16 with its byte order mark; cells separated by
// commas, or by the semicolons, tabs or bars of a header that holds no comma; lines ended by LF or CRLF. Columns
// image and mask are paths relative to the file's folder (a mask image: non-zero = object); paths outside that folder
// are refused unless [FileOptions].Root names a parent. An empty cell is "no value". The unnamed first column that
// pandas writes for its index is read as id, or as index if the table has an id; a table of images without ids gets the
// paths of its images, or its row numbers.
//
// The kind of a column whose name has none is decided when the table runs, from all of its cells: numbers, if all that
// are not empty are, else text ([table.NumberFormat.ParseNumbers]: 007 and 9007199254740993 are text). A column of
// numbers is used as text where text is needed, such as in Count, and written as it was read.
func CSV(path string, options ...FileOptions) Table {
	args, t := fileArgs("CSV", path, options)
	if t.err != nil {
		return t
	}
	if objecturl.IsRemote(args.Path) {
		return New("csv", args, nil).opened().named(objecturl.Base(path))
	}
	var err error
	if args.Columns, err = csvHeader(args.Path, path); err != nil {
		return t.failed(err)
	}
	columns := headerKinds(args.Columns)
	if table.NeedsID(columns) {
		columns = append(Columns("id:text"), columns...)
	}
	return New("csv", args, columns).named(filepath.Base(args.Path))
}

// csvHeader returns the names of a CSV file's columns; name is the file's name for messages.
func csvHeader(path, name string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", name, plainPathError(err))
	}
	defer f.Close()
	cr, err := OpenCSV(f, filepath.Base(path))
	if err != nil {
		return nil, err
	}
	return cr.Header, nil
}

// headerKinds returns the columns of a CSV file. Their kinds are those of their names; that of other names,
// and of vectors, is "" until the table runs.
func headerKinds(header []string) []table.ColumnSpec {
	specs := make([]table.ColumnSpec, len(header))
	for i, name := range header {
		specs[i].Name = name
		if kind := table.KindByName(name); kind != table.KindVector {
			specs[i].Kind = kind
		}
	}
	return specs
}

// CSVReader reads the records of a CSV file; see [OpenCSV].
type CSVReader struct {
	Header []string // the columns' names, each once
	Comma  rune     // the separator
	name   string
	cr     *csv.Reader
	tail   *tail

	rows, next int      // records read, and the line after the last one
	empty      int      // rows of a single column that are empty lines, before held
	held       []string // the record after them
	line       int      // of held
}

// csvHead is the number of bytes that determine a file's encoding and separator.
const csvHead = 1 << 16

// OpenCSV reads the header of a CSV file in one of the forms that [CSV] accepts. name is the file's name for messages.
func OpenCSV(r io.Reader, name string) (*CSVReader, error) {
	in := bufio.NewReaderSize(r, csvHead)
	head, err := in.Peek(csvHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot read the table %s: %w", name, plainPathError(err))
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		text := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(in)
		in = bufio.NewReaderSize(text, csvHead)
		head, _ = in.Peek(csvHead)
	} else if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		in.Discard(3)
		head = head[3:]
	}
	if err := notCSV(head, name); err != nil {
		return nil, err
	}
	comma := separator(head)
	end := &tail{r: in}
	c := &CSVReader{name: name, Comma: comma, cr: csv.NewReader(end), tail: end}
	c.cr.Comma = comma
	if c.Header, _, err = c.Read(); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is empty: a table needs a header line", name)
	}
	if err != nil {
		return nil, err
	}
	return c, c.checkHeader()
}

// checkHeader checks the column names and names the column of a pandas index.
func (c *CSVReader) checkHeader() error {
	if len(c.Header) == 1 && strings.ContainsAny(c.Header[0], ";\t|") {
		return fmt.Errorf("%s: the header %.40q contains no comma, and another separator does not split its rows "+
			"evenly; "+
			"separate the cells by commas (pandas: to_csv(path, sep=\",\", index=False))", c.name, c.Header[0])
	}
	if strings.Contains(strings.Join(c.Header, ""), "\r") {
		return fmt.Errorf("%s: its lines end in CR alone; save the table with line ends LF or CRLF", c.name)
	}
	if len(c.Header) > 1 && c.Header[0] == "" {
		c.Header[0] = "id"
		if slices.Contains(c.Header[1:], "id") {
			c.Header[0] = "index"
		}
	}
	if err := table.CheckRows(0, int64(len(c.Header))); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	seen := map[string]bool{}
	for i, h := range c.Header {
		if h = strings.TrimSpace(h); h == "" {
			return fmt.Errorf("%s: column %d has no name; name it, or leave it out (pandas: to_csv(path, index=False))",
				c.name, i+1)
		}
		if seen[h] {
			return fmt.Errorf("%s: two columns are called %q; rename one", c.name, h)
		}
		seen[h], c.Header[i] = true, h
	}
	return nil
}

// Read returns the next record and the number of its line, from 1; [io.EOF] after the last one. In a file of one
// column, an empty line before the last record is a row without a value.
func (c *CSVReader) Read() (record []string, line int, err error) {
	if c.rows++; c.rows > table.MaxRows+1 { // and the header
		return nil, 0, fmt.Errorf("%s: %w", c.name, table.CheckRows(int64(c.rows), 0))
	}
	if c.empty == 0 && c.held == nil {
		if c.held, c.line, err = c.read(); err != nil {
			c.held = nil
			return nil, c.line, err
		}
		if len(c.Header) == 1 {
			c.empty = c.line - c.next
		}
		c.next = c.line + 1 + strings.Count(strings.Join(c.held, ""), "\n")
	}
	if c.empty > 0 {
		c.empty--
		return []string{""}, c.line - c.empty - 1, nil
	}
	record, c.held = c.held, nil
	return record, c.line, nil
}

// read reads a record and checks its encoding.
func (c *CSVReader) read() (record []string, line int, err error) {
	record, err = c.cr.Read()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse) && errors.Is(err, csv.ErrFieldCount):
		return nil, parse.Line, fmt.Errorf("%s, line %d: %d instead of %d cells; complete the row, and quote cells "+
			"that contain the separator %q",
			c.name, parse.Line, len(record), len(c.Header), c.cr.Comma)
	case errors.As(err, &parse) && errors.Is(err, csv.ErrQuote) && (parse.Line > parse.StartLine || c.tail.ends(c.cr,
		parse.Column)):
		return nil, parse.Line, fmt.Errorf("%s: a quote opened in line %d is never closed; close it, or double a "+
			"quotation mark that is part of a cell", c.name, parse.StartLine)
	case errors.As(err, &parse):
		return nil, parse.Line, fmt.Errorf("%s, line %d: %w; quote cells that contain a quotation mark, and "+
			"double the mark",
			c.name, parse.Line, parse.Err)
	case errors.Is(err, io.EOF):
		return nil, 0, err
	case err != nil:
		return nil, 0, fmt.Errorf("cannot read the table %s: %w", c.name, plainPathError(err))
	}
	line, _ = c.cr.FieldPos(0)
	for i, v := range record {
		nul := strings.IndexByte(v, 0) >= 0
		if utf8.ValidString(v) && !nul {
			continue
		}
		where := fmt.Sprintf("column %d", i+1)
		if c.Header != nil {
			where = fmt.Sprintf("column %q", c.Header[i])
		}
		if nul {
			return nil, line, fmt.Errorf("%s, line %d, %s: a NUL byte, which is not text; remove it (tr -d '\\0')",
				c.name, line, where)
		}
		return nil, line, fmt.Errorf("%s, line %d, %s: not UTF-8 (as Latin-1 the cell is %.40q); "+
			"save the table as UTF-8 (pandas: to_csv(path, encoding=\"utf-8\"))", c.name, line, where, latin1(v))
	}
	return record, line, nil
}

// tail is a reader that knows the length of the last line.
type tail struct {
	r     io.Reader
	bytes int64 // read so far
	line  int   // the length of the last line that is not empty
	next  bool  // its line end was read
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.bytes += int64(n)
	for _, b := range p[:n] {
		switch {
		case b == '\n' || b == '\r':
			t.next = true
		case t.next:
			t.line, t.next = 1, false
		default:
			t.line++
		}
	}
	return n, err
}

// ends reports whether a problem in a column of the last line that cr read is the end of the file.
func (t *tail) ends(cr *csv.Reader, column int) bool {
	return cr.InputOffset() == t.bytes && column > t.line
}

// latin1 decodes text as ISO 8859-1.
func latin1(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

func notCSV(head []byte, name string) error {
	for magic, what := range map[string]string{
		"PK\x03\x04":       "a zip archive or an Excel workbook; save the table as CSV UTF-8",
		"PAR1":             "a Parquet file; name it .parquet",
		"\x1f\x8b":         "compressed; decompress it (gunzip)",
		"\x28\xb5\x2f\xfd": "compressed; decompress it (unzstd)",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return fmt.Errorf("%s is not a CSV file but %s", name, what)
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return fmt.Errorf("%s contains NUL bytes: it is UTF-16 without a byte order mark, or not text; save the "+
			"table as UTF-8", name)
	}
	return nil
}

// separator returns the cell separator of a file that begins with head: a comma, unless the header contains none and
// another separator splits the header and the rows after it into the same number of cells.
func separator(head []byte) rune {
	if fields, _ := divided(head, ','); fields > 1 {
		return ','
	}
	for _, comma := range []rune{';', '\t', '|'} {
		if fields, even := divided(head, comma); fields > 1 && even {
			return comma
		}
	}
	return ','
}

// divided returns the number of cells of the header, 0 if it cannot be parsed, and whether the rows after it have the
// same number.
func divided(head []byte, comma rune) (fields int, even bool) {
	whole := len(head) < csvHead-3
	cr := csv.NewReader(bytes.NewReader(head))
	cr.Comma = comma
	header, err := cr.Read()
	if err != nil {
		return 0, false
	}
	for range sniffRows {
		if _, err := cr.Read(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			at := cr.InputOffset()
			return len(header), !whole && at >= int64(len(head)) // the row that head truncates
		}
	}
	return len(header), true
}
