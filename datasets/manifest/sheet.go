package manifest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"antipode/internal/plaintext"
)

// Sheet is a CSV file whose columns are found by name.
type Sheet struct {
	Name   string // of the file, for errors
	Header []string
	Rows   [][]string
	lines  []int
}

// ReadSheet parses CSV text: UTF-8 (a byte order mark is dropped) with a header line that contains the named columns in
// any order. Errors name file, line and column.
func ReadSheet(name string, data []byte, need ...string) (*Sheet, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	r := csv.NewReader(bytes.NewReader(data))
	s := &Sheet{Name: name}
	var err error
	if s.Header, err = r.Read(); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s is empty: a header line with the columns %s was expected", name,
				strings.Join(need, ", "))
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, h := range s.Header {
		if slices.Contains(s.Header[:i], h) {
			return nil, fmt.Errorf("%s, line 1: two columns are called %q; rename one", name, plaintext.OneLine(h))
		}
	}
	for _, n := range need {
		if !slices.Contains(s.Header, n) {
			return nil, fmt.Errorf("%s, line 1: no column %q (there are: %s)", name, n,
				plaintext.OneLine(strings.Join(s.Header, ", ")))
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		for i, v := range row {
			if !utf8.ValidString(v) {
				return nil, fmt.Errorf("%s, line %d, column %s: the text is not UTF-8", name, line,
					plaintext.OneLine(s.Header[i]))
			}
		}
		s.Rows = append(s.Rows, row)
		s.lines = append(s.lines, line)
	}
}

// Len returns the number of data rows.
func (s *Sheet) Len() int { return len(s.Rows) }

// Line returns the line of the file on which a row starts, from 1.
func (s *Sheet) Line(row int) int { return s.lines[row] }

// Column returns the index of a column, or -1.
func (s *Sheet) Column(name string) int { return slices.Index(s.Header, name) }

// Cell returns the text of a column in a row without surrounding spaces, or "" if there is no such column.
func (s *Sheet) Cell(row int, column string) string {
	if at := s.Column(column); at >= 0 {
		return strings.TrimSpace(s.Rows[row][at])
	}
	return ""
}

// Errorf returns an error about one value, with file, line, column and the message.
func (s *Sheet) Errorf(row, column int, format string, args ...any) error {
	return fmt.Errorf("%s, line %d, column %s: %s", s.Name, s.lines[row], plaintext.OneLine(s.Header[column]),
		fmt.Sprintf(format, args...))
}

// Number returns the finite number in a cell, or NaN if the cell is empty.
func (s *Sheet) Number(row, column int) (float64, error) {
	v := strings.TrimSpace(s.Rows[row][column])
	if v == "" {
		return math.NaN(), nil
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, s.Errorf(row, column, "%q is not a number", v)
	}
	return x, nil
}

// WriteCSV returns rows as CSV with line feeds, quoted only where needed: the normalized form of every table.
func WriteCSV(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
