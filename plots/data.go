package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// ErrNoData is wrapped by the error of a figure whose table has no rows, or no value in any row.
var ErrNoData = errors.New("no data to draw")

// value is one number with its interval; NaN = none.
type value struct{ v, low, high float64 }

func (v value) none() bool     { return math.IsNaN(v.v) }
func (v value) interval() bool { return !v.none() && !math.IsNaN(v.low) && !math.IsNaN(v.high) }

// top and bottom are the ends of what is drawn for the value.
func (v value) top() float64 {
	if v.interval() {
		return max(v.v, v.high)
	}
	return v.v
}

func (v value) bottom() float64 {
	if v.interval() {
		return min(v.v, v.low)
	}
	return v.v
}

var missing = value{math.NaN(), math.NaN(), math.NaN()}

// rowName says which row an error is about: its number from 1, and its id where the table has one.
func rowName(f *datasets.Frame, row int) string {
	for _, c := range f.Columns {
		if c.Kind == client.Text && c.Name == "id" {
			return fmt.Sprintf("row %d (id %q)", row+1, c.Texts[row])
		}
	}
	for _, c := range f.Columns {
		if c.Kind == client.Text {
			return fmt.Sprintf("row %d (%s %q)", row+1, c.Name, c.Texts[row])
		}
	}
	return fmt.Sprintf("row %d", row+1)
}

// values reads a number column with its interval columns. NaN is no value; an infinite value, or an interval that is upside down, is an error with its row.
func values(f *datasets.Frame, column string) ([]value, error) {
	c, err := f.Need(column, client.Number)
	if err != nil {
		return nil, err
	}
	low, high := f.Numbers(column+"_low"), f.Numbers(column+"_high")
	out := make([]value, f.Len())
	any := false
	for i, v := range c.Numbers {
		out[i] = value{v, math.NaN(), math.NaN()}
		if low != nil && high != nil {
			out[i].low, out[i].high = low[i], high[i]
		}
		for _, x := range []float64{out[i].v, out[i].low, out[i].high} {
			if math.IsInf(x, 0) {
				return nil, fmt.Errorf("column %q is infinite in %s", column, rowName(f, i))
			}
		}
		if out[i].low > out[i].high {
			return nil, fmt.Errorf("column %q: interval from %.6g to %.6g in %s is upside down", column, out[i].low, out[i].high, rowName(f, i))
		}
		any = any || !out[i].none()
	}
	if !any {
		return nil, fmt.Errorf("%w: column %q holds no value in any of %d rows", ErrNoData, column, f.Len())
	}
	return out, nil
}

// read is values, in per cent where the figure is.
func (s *settings) read(f *datasets.Frame, column string) ([]value, error) {
	out, err := values(f, column)
	for i, v := range out {
		if s.percent {
			out[i] = value{100 * v.v, 100 * v.low, 100 * v.high}
		}
	}
	return out, err
}

// names reads a text or number column as names.
func names(f *datasets.Frame, column string) ([]string, error) {
	c := f.Column(column)
	if c == nil {
		_, err := f.Need(column, client.Text)
		return nil, err
	}
	if c.Kind != client.Text && c.Kind != client.Number {
		return nil, fmt.Errorf("column %q holds %s values; names need text or numbers", column, c.Kind)
	}
	out := make([]string, f.Len())
	for i := range out {
		if out[i] = oneLine(c.Cell(i)); out[i] == "" {
			out[i] = "(none)"
		}
	}
	return out, nil
}

// optional is names, or the empty name in every row where no column is named.
func optional(f *datasets.Frame, column string) ([]string, error) {
	if column == "" {
		return make([]string, f.Len()), nil
	}
	return names(f, column)
}

// levels lists the different names of a column: those ordered first, the others as they come.
func (s *settings) levels(column string, names []string) []string {
	var out []string
	for _, o := range s.order[column] {
		if slices.Contains(names, o) && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	seen := map[string]bool{}
	for _, o := range out {
		seen[o] = true
	}
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// aside are text columns that describe a row and never name it.
var aside = []string{"id", "interval", "method", "reason", "outcome", "prompt", "caption", "image_id", "prompt_id", "profile", "flagged", "note", "warning", "settings"}

// nameColumns lists the text columns that may name rows, in order.
func nameColumns(f *datasets.Frame, taken ...string) []string {
	var out []string
	for _, c := range f.Columns {
		if c.Kind == client.Text && !slices.Contains(aside, c.Name) && !slices.Contains(taken, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
}

// melt makes one value column out of a first one and those of [Values]: each row once for every column, with the column's
// name in "score".
func (s *settings) melt(f *datasets.Frame, first string) (*datasets.Frame, string, error) {
	if len(s.values) == 0 {
		return f, first, nil
	}
	columns := append([]string{first}, s.values...)
	n := f.Len()
	var rows []int
	score := make([]string, 0, n*len(columns))
	var v, low, high []float64
	gaps := slices.Repeat([]float64{math.NaN()}, n)
	for _, name := range columns {
		c, err := f.Need(name, client.Number)
		if err != nil {
			return nil, "", err
		}
		v = append(v, c.Numbers...)
		for _, end := range []struct {
			to   *[]float64
			name string
		}{{&low, name + "_low"}, {&high, name + "_high"}} {
			if values := f.Numbers(end.name); values != nil {
				*end.to = append(*end.to, values...)
			} else {
				*end.to = append(*end.to, gaps...)
			}
		}
		for i := range n {
			rows, score = append(rows, i), append(score, or(s.called[name], name))
		}
	}
	out := f.Pick(rows).With(client.TextColumn("score", score), client.NumberColumn("value", v),
		client.NumberColumn("value_low", low), client.NumberColumn("value_high", high))
	return out, "value", nil
}

// Sentences of captions.
const (
	noCounts    = "n: not given in the table."
	noIntervals = "No intervals in the table."
	undrawn     = "Intervals stand in the table and are not drawn."
)

// counts says how many images stand behind the values.
func counts(f *datasets.Frame, rows []int) string {
	var parts []string
	for _, c := range []struct{ column, noun string }{{"n_real", "real"}, {"n_generated", "generated"}, {"n_used", "used"}, {"n", ""}} {
		numbers := f.Numbers(c.column)
		if numbers == nil {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range rows {
			if !math.IsNaN(numbers[i]) {
				low, high = min(low, numbers[i]), max(high, numbers[i])
			}
		}
		switch {
		case low > high:
			continue
		case low == high:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%.10g %s", low, c.noun)))
		default:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%.10g–%.10g %s", low, high, c.noun)))
		}
	}
	if parts == nil {
		return noCounts
	}
	return "n per value: " + strings.Join(parts, ", ") + "."
}

// kind says what the intervals are; drawn says whether there are any.
func (s *settings) kind(f *datasets.Frame, column string, drawn bool) string {
	if !drawn {
		return noIntervals
	}
	kind := s.interval
	for _, name := range []string{"interval", "method"} {
		if texts := f.Texts(name); kind == "" && len(texts) > 0 {
			kind = texts[0]
			for _, t := range texts {
				if t != kind {
					kind = "of several kinds, see column " + name
					break
				}
			}
		}
	}
	if kind == "" {
		kind = fmt.Sprintf("%s_low to %s_high (kind not given)", column, column)
	}
	return "Whiskers: " + isolate(oneLine(kind)) + "."
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// digits gives the way values are written at marks: shares with two decimals, smaller and larger ones with the decimals
// that their largest makes worth reading, whole numbers whole.
func digits(values []value) func(float64) string {
	largest, fraction := 0.0, false
	for _, v := range values {
		for _, x := range []float64{v.v, v.low, v.high} {
			if finite(x) {
				largest, fraction = max(largest, math.Abs(x)), fraction || x != math.Trunc(x)
			}
		}
	}
	decimals := 0
	switch {
	case !fraction:
	case largest < 1:
		decimals = min(1-int(math.Floor(math.Log10(largest))), 9)
	case largest < 10:
		decimals = 2
	case largest < 100:
		decimals = 1
	}
	return func(v float64) string {
		if math.Abs(v) < 0.5*math.Pow10(-decimals) {
			v = 0 // no "-0.00"
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
}

// distinct counts the different combinations of values in columns; columns that are missing do not count.
func distinct(f *datasets.Frame, columns ...string) int {
	seen := map[string]bool{}
	for r := range f.Len() {
		k := ""
		for _, name := range columns {
			if c := f.Column(name); c != nil {
				k += "\x00" + c.Cell(r)
			}
		}
		seen[k] = true
	}
	return len(seen)
}

func columnNames(f *datasets.Frame) []string {
	var out []string
	for _, c := range f.Columns {
		out = append(out, c.Name)
	}
	return out
}
