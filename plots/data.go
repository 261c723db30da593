package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/plots/internal/letters"
)

// ErrNoData is wrapped by the error of a figure whose table has no rows, or no value in any row.
var ErrNoData = errors.New("no data to draw")

// value is one number with its interval; NaN = none.
type value struct{ v, low, high float64 }

// single returns a value without an interval.
func single(v float64) value { return value{v, math.NaN(), math.NaN()} }

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

// rowName identifies a row in an error: its number from 1, and its id where the table has one.
func rowName(f *datasets.Frame, row int) string {
	for _, c := range f.Columns {
		if c.Kind == table.KindText && c.Name == "id" {
			return fmt.Sprintf("row %d (id %q)", row+1, c.Texts[row])
		}
	}
	for _, c := range f.Columns {
		if c.Kind == table.KindText {
			return fmt.Sprintf("row %d (%s %q)", row+1, c.Name, c.Texts[row])
		}
	}
	return fmt.Sprintf("row %d", row+1)
}

// values reads a number column with its interval columns. NaN is a missing value; an infinite value, or an interval
// whose ends are swapped, is an error with its row.
func values(f *datasets.Frame, column string) ([]value, error) {
	c, err := f.Need(column, table.KindNumber)
	if err != nil {
		return nil, err
	}
	low, high := f.Numbers(column+"_low"), f.Numbers(column+"_high")
	out := make([]value, f.Len())
	any := false
	for i, v := range c.Numbers {
		out[i] = single(v)
		if low != nil && high != nil {
			out[i].low, out[i].high = low[i], high[i]
		}
		for _, x := range []float64{out[i].v, out[i].low, out[i].high} {
			if math.IsInf(x, 0) {
				return nil, fmt.Errorf("column %q is infinite in %s", column, rowName(f, i))
			}
		}
		if out[i].low > out[i].high {
			return nil, fmt.Errorf("column %q: interval from %.6g to %.6g in %s has its ends swapped", column,
				out[i].low, out[i].high, rowName(f, i))
		}
		any = any || !out[i].none()
	}
	if !any {
		return nil, fmt.Errorf("%w: column %q has no value in any of %d rows", ErrNoData, column, f.Len())
	}
	return out, nil
}

// read is values, in percent where the figure is.
func (s *options) read(f *datasets.Frame, column string) ([]value, error) {
	out, err := values(f, column)
	for i, v := range out {
		if s.percent {
			out[i] = value{100 * v.v, 100 * v.low, 100 * v.high}
		}
	}
	return out, err
}

// or returns a function that returns the value and keeps the error, if it is the first: several columns are read, then
// their error is checked.
func or[V any](v V, err error) func(first *error) V {
	return func(first *error) V {
		*first = cmp.Or(*first, err)
		return v
	}
}

// names reads a text or number column as names.
func names(f *datasets.Frame, column string) ([]string, error) {
	c := f.Column(column)
	if c == nil {
		_, err := f.Need(column, table.KindText)
		return nil, err
	}
	if c.Kind != table.KindText && c.Kind != table.KindNumber {
		return nil, fmt.Errorf("column %q holds %s values; names need text or numbers", column, c.Kind)
	}
	label := func(row int) string { return operation.LabelOf(c, row) }
	if c.Kind == table.KindNumber && told(c) {
		label = c.Cell
	}
	out := make([]string, f.Len())
	for i := range out {
		if out[i] = letters.OneLine(label(i)); out[i] == "" {
			out[i] = "(none)"
		}
	}
	return out, nil
}

// told reports whether the six digits of cells tell the numbers of a column apart.
func told(c *table.Column) bool {
	of := map[string]float64{}
	for row, v := range c.Numbers {
		cell := c.Cell(row)
		if first, known := of[cell]; known && first != v && v == v {
			return false
		}
		of[cell] = v
	}
	return true
}

// optional is names, or the empty name in every row for column "".
func optional(f *datasets.Frame, column string) ([]string, error) {
	if column == "" {
		return make([]string, f.Len()), nil
	}
	return names(f, column)
}

// name returns the name of a value column in the figure.
func (s *options) name(column string) string { return cmp.Or(letters.OneLine(s.names[column]), column) }

// colored reads the column whose values have a color each; "" is one empty value.
func (s *options) colored(f *datasets.Frame, column string) (of, levels []string, err error) {
	if of, err = optional(f, column); err != nil {
		return nil, nil, err
	}
	levels = s.levels(column, of)
	if len(levels) > len(s.theme.Series) {
		return nil, nil, fmt.Errorf("column %q has %d values: at most %d colors are distinguishable; use Panels "+
			"or Where", column, len(levels), len(s.theme.Series))
	}
	return of, levels, nil
}

// levels lists the different names of a column: those of Order first, the others in table order.
func (s *options) levels(column string, names []string) []string {
	var out []string
	for _, o := range s.order[column] {
		if o = operation.Label(o); slices.Contains(names, o) && !slices.Contains(out, o) {
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

// aside are the text columns that describe a row without naming it.
var aside = []string{"id", "interval", "method", "reason", "outcome", "prompt", "caption", "image_id", "prompt_id",
	"profile", "flagged", "note", "warning", "settings"}

// nameColumns lists the text columns that can name rows, in order.
func nameColumns(f *datasets.Frame, taken ...string) []string {
	var out []string
	for _, c := range f.Columns {
		if c.Kind == table.KindText && !slices.Contains(aside, c.Name) && !slices.Contains(taken, c.Name) {
			out = append(out, c.Name)
		}
	}
	return out
}

// melt stacks several value columns into one: each row occurs once for every column, with the column's name in "score".
func (s *options) melt(f *datasets.Frame, first string) (*datasets.Frame, string, error) {
	if len(s.more) == 0 {
		return f, first, nil
	}
	columns := append([]string{first}, s.more...)
	s.melted = columns
	n := f.Len()
	var rows []int
	var score []string
	values := map[string][]float64{}
	gaps := slices.Repeat([]float64{math.NaN()}, n)
	for _, name := range columns {
		if _, err := f.Need(name, table.KindNumber); err != nil {
			return nil, "", err
		}
		for _, end := range []string{"", "_low", "_high"} {
			numbers := f.Numbers(name + end)
			if numbers == nil {
				numbers = gaps
			}
			values[end] = append(values[end], numbers...)
		}
		shown := cmp.Or(letters.OneLine(s.names[name]), spaced(name))
		rows, score = append(rows, all(n)...), append(score, slices.Repeat([]string{shown}, n)...)
	}
	out := f.Pick(rows).With(table.TextColumn("score", score), table.NumberColumn("value", values[""]),
		table.NumberColumn("value_low", values["_low"]), table.NumberColumn("value_high", values["_high"]))
	return out, "value", nil
}

func all(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// decimals returns the number of decimals of values, the same in tables and figures: none for whole numbers, with
// intervals up to the first digit of a quarter of the median interval, otherwise three digits of the largest.
func decimals(values []value) int {
	wholeNumbers, largest := true, 0.0
	var halves []float64
	for _, v := range values {
		if !finite(v.v) {
			continue
		}
		wholeNumbers = wholeNumbers && v.v == math.Trunc(v.v)
		largest = max(largest, math.Abs(v.v))
		if finite(v.low) && finite(v.high) && v.high > v.low {
			halves = append(halves, (v.high-v.low)/2)
		}
	}
	n := 0
	switch {
	case len(halves) > 0:
		slices.Sort(halves)
		n = -int(math.Floor(math.Log10(halves[len(halves)/2] / 2)))
	case !wholeNumbers && largest > 0:
		n = 2 - int(math.Floor(math.Log10(largest)))
	}
	return min(max(n, 0), 6)
}

// digits returns the format of values next to marks.
func digits(values []value) func(float64) string { return rounded(decimals(values)) }

// rounded returns the format with a number of decimals.
func rounded(decimals int) func(float64) string {
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
		seen[f.Key(r, columns...)] = true
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
