package datasets_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/internal/must"
)

// records reads a CSV file as text.
func records(text string) (rows [][]string, lines []int, err error) {
	cr, err := datasets.OpenCSV(strings.NewReader(text), "t.csv")
	if err != nil {
		return nil, nil, err
	}
	rows = [][]string{cr.Header}
	for {
		row, line, err := cr.Read()
		if errors.Is(err, io.EOF) {
			return rows, lines, nil
		}
		if err != nil {
			return rows, lines, err
		}
		rows, lines = append(rows, row), append(lines, line)
	}
}

// TestOneColumnCSV: an empty line of a file of one column is a row without a value; of other files, and after the last
// row, it is nothing.
func TestOneColumnCSV(t *testing.T) {
	for text, want := range map[string]string{
		"prompt\na\n\nb\n":                 "[a][][b] [2 3 4]",
		"prompt\n\n\na\n\"\"\n\n":          "[][][a][] [2 3 4 5]",
		"prompt\r\n\"a\r\nb\"\r\n\r\nc":    "[a\nb][][c] [2 4 5]",
		"id,prompt\na,b\n\nc,d\n":          "[a b][c d] [2 4]",
		"prompt\na\n\n\n":                  "[a] [2]",
		"\n\nprompt\na\n":                  "[a] [4]",
		"prompt\n":                         " []",
		"\xef\xbb\xbfprompt\n\nन\n\"x\n\"": "[][न][x\n] [2 3 4]",
	} {
		rows, lines, err := records(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var b strings.Builder
		for _, row := range rows[1:] {
			fmt.Fprint(&b, row)
		}
		must.Equal(t, fmt.Sprint(b.String(), " ", lines), want, text)
	}
}

// TestManyColumns: a header of 100,000 columns is refused within a second.
func TestManyColumns(t *testing.T) {
	var header strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&header, "c%d,", i)
	}
	start := time.Now()
	_, _, err := records(header.String() + "last\n")
	if err == nil || !strings.Contains(err.Error(), "100001 columns, more than 10000") ||
		time.Since(start) > time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// FuzzCSV: records have the header's number of cells and rising lines.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"id,image,n\na,x.png,1\nb,,2\n", "prompt\na\n\nb\n", "a;b\n1;2\n",
		"\xff\xfei\x00d\x00\n\x00a\x00\n\x00", "id,full\na,\"[1, 2]\"\n", ",id\n0,a\n", "\"a\"\"b\",c\n\"x\ny\",z\n",
		"a\tb\n1\t2\n", "id,mask\na,\"{\"\"size\"\":[2,2],\"\"counts\"\":\"\"04\"\"}\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rows, lines, err := records(text)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q is not one line", err)
		}
		for i, row := range rows {
			if len(row) != len(rows[0]) || i > 1 && lines[i-1] <= lines[i-2] {
				t.Errorf("record %d of %d cells in line %v, the header has %d", i, len(row), lines, len(rows[0]))
			}
		}
		if len(lines) > 1+strings.Count(text, "\n") && !strings.Contains(text, "\x00") {
			t.Errorf("%d records of %d lines", len(lines), strings.Count(text, "\n"))
		}
	})
}
