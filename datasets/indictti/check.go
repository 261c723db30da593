package indictti

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/check"
	"antipode/datasets/table"
)

// releasedColumns are the columns of the released files with their kinds: captions are lists of pairs, which tables
// hold as JSON.
var releasedColumns = datasets.Columns(idColumn+":text", URLColumn+":text", EnglishColumn+":text",
	CaptionsColumn+":text", scoreColumn+":number")

// The rows of the splits, as the data set's page states them, rounded to hundreds.
var releasedRows = map[string]int{"train": 879_000, "test": 14_900}

// releasedFile matches the names of the released files: the split, and the number of the file of how many.
var releasedFile = regexp.MustCompile(`^(train|test)-(\d{5})-of-(\d{5})(?:-[0-9a-f]+)?\.parquet$`)

// ReleaseCheck compares files of LAION-COCO-NLLB with what [Released] and the table operations on captions expect. Call
// File for each file, Rows for the rows of it that are checked, and Report at the end.
type ReleaseCheck struct {
	report  check.Report
	files   []string
	rows    map[string]int // by split
	checked int
	first   map[string]string // id → file
	lacking map[string]int    // language → rows without a caption
	faults  map[string][]string
}

// NewReleaseCheck returns a check without files.
func NewReleaseCheck() *ReleaseCheck {
	return &ReleaseCheck{rows: map[string]int{}, first: map[string]string{}, lacking: map[string]int{},
		faults: map[string][]string{}}
}

// File adds a file with its columns and its number of rows.
func (c *ReleaseCheck) File(name string, columns []table.ColumnSpec, rows int) {
	c.files = append(c.files, name)
	split := "other"
	if m := releasedFile.FindStringSubmatch(name); m != nil {
		split = m[1]
	}
	c.rows[split] += rows
	c.report.Fact("%s: %d rows, columns %s", name, rows, table.NameList(columns))
	for _, want := range releasedColumns {
		at := table.Position(columns, want.Name)
		switch {
		case at < 0 && want.Name == scoreColumn:
			c.report.Differ("%s: no column %q, which is optional", name, want.Name)
		case at < 0:
			c.report.Lack("%s: no column %q", name, want.Name)
		case columns[at].Kind != want.Kind:
			c.report.Lack("%s: column %q holds %s values, not %s", name, want.Name, columns[at].Kind, want.Kind)
		}
	}
}

// Broken adds a file that cannot be read.
func (c *ReleaseCheck) Broken(name string, err error) {
	c.files = append(c.files, name)
	c.report.Lack("%v", err)
}

// Rows checks rows of a file, of which the first is row number start, from 1.
func (c *ReleaseCheck) Rows(name string, start int, f *table.Frame) {
	ids, urls, english, captions := f.Texts(idColumn), f.Texts(URLColumn), f.Texts(EnglishColumn),
		f.Texts(CaptionsColumn)
	if ids == nil || urls == nil || english == nil || captions == nil {
		return // File has reported it
	}
	c.checked += f.Len()
	for row, id := range ids {
		fault := func(kind string, detail string) {
			c.faults[kind] = append(c.faults[kind], fmt.Sprintf("%s, row %d%s", name, start+row, detail))
		}
		if at, twice := c.first[id]; twice {
			fault("repeated ids", fmt.Sprintf(" (%q, also in %s)", id, at))
		} else if id == "" {
			fault("empty ids", "")
		} else {
			c.first[id] = name
		}
		if at, err := url.Parse(urls[row]); err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
			fault("rows without the URL of an image", "")
		}
		if strings.TrimSpace(english[row]) == "" {
			fault("rows without an English caption", "")
		}
		texts, err := Captions(captions[row])
		if err != nil {
			fault(unreadable, fmt.Sprintf(" (%v)", err))
			continue
		}
		for _, l := range Languages() {
			if l.Source == NLLB && texts[l.Code] == "" {
				c.lacking[l.Code]++
			}
		}
	}
}

// unreadable is the fault of rows that stop a run.
const unreadable = "rows whose captions cannot be read"

// Report returns the result.
func (c *ReleaseCheck) Report() *check.Report {
	r := &c.report
	if len(c.files) == 0 {
		r.Lack("no Parquet file; put data/train-*.parquet and data/test-*.parquet of the data set into the folder")
		return r
	}
	r.Fact("%d rows checked", c.checked)
	for split, n := range releasedRows {
		if have := c.rows[split]; have > 0 && max(have-n, n-have) > n/100 {
			r.Differ("%s has %d rows; the data set's page states about %d", split, have, n)
		} else if have == 0 {
			r.Differ("no file of the split %s", split)
		}
	}
	c.series()
	for _, kind := range []string{"repeated ids", "empty ids", unreadable, "rows without the URL of an image",
		"rows without an English caption"} {
		if list := c.faults[kind]; len(list) > 0 {
			text := kind + ", " + check.First(list)
			if kind == unreadable || strings.HasSuffix(kind, " ids") {
				r.Lack("%s", text)
			} else {
				r.Differ("%s", text)
			}
		}
	}
	var none, some []string
	for _, l := range Languages() {
		switch n := c.lacking[l.Code]; {
		case l.Source != NLLB || n == 0 || c.checked == 0:
		case n == c.checked:
			none = append(none, l.Code)
		default:
			some = append(some, fmt.Sprintf("%s %d", l.Code, n))
		}
	}
	if len(none) > 0 {
		r.Lack("languages without any caption, %s", check.First(none))
	}
	if len(some) > 0 {
		r.Differ("rows without a caption in a language of the paper, %s", check.First(some))
	}
	slices.SortStableFunc(r.Differences, func(a, b check.Difference) int { return strings.Compare(a.Text, b.Text) })
	return r
}

// series reports files that are missing from a numbered series, and files of several series, whose rows would be read
// twice.
func (c *ReleaseCheck) series() {
	type series struct {
		split string
		of    int
	}
	have := map[series][]int{}
	var other []string
	for _, name := range c.files {
		m := releasedFile.FindStringSubmatch(name)
		if m == nil {
			other = append(other, name)
			continue
		}
		number, _ := strconv.Atoi(m[2])
		of, _ := strconv.Atoi(m[3])
		s := series{m[1], of}
		have[s] = append(have[s], number)
	}
	if len(other) > 0 {
		c.report.Differ("files with other names than the released ones, %s", check.First(other))
	}
	for s, numbers := range have {
		var missing []string
		for n := range s.of {
			if !slices.Contains(numbers, n) {
				missing = append(missing, fmt.Sprintf("%s-%05d-of-%05d", s.split, n, s.of))
			}
		}
		if len(missing) > 0 {
			c.report.Differ("missing files of the split %s, %s", s.split, check.First(missing))
		}
		for t := range have {
			if t.split == s.split && t.of > s.of {
				c.report.Differ("files of two versions of the split %s: of %d and of %d files", s.split, s.of, t.of)
			}
		}
	}
}
