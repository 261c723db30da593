package table

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// NumberFormat is how the numbers of a text file are written. The zero value is 1234.5.
type NumberFormat struct {
	Decimal   string // the decimal mark: "." or ","; "" = "."
	Thousands string // the mark between thousands, such as "," or "."; "" = none
}

// NotNumber says why a cell is not a number.
type NotNumber struct {
	Row  int // from 0
	Cell string
	Why  string
}

func (n *NotNumber) Error() string {
	return fmt.Sprintf("row %d holds %.40q, which %s", n.Row+1, n.Cell, n.Why)
}

// ParseNumbers returns the numbers of cells, NaN for an empty one. Blanks around a number do not count, and nan, in
// any case, among numbers is no value. Not a number are a code with a leading zero and an integer that a float64 would
// round. The error is a *[NotNumber] of the first such cell; cells without any number are one too.
func (o NumberFormat) ParseNumbers(cells []string) ([]float64, error) {
	out := make([]float64, len(cells))
	nan, any := -1, false
	for i, cell := range cells {
		out[i] = math.NaN()
		text := strings.TrimSpace(cell)
		switch {
		case text == "":
		case strings.EqualFold(text, "nan"):
			if nan < 0 {
				nan = i
			}
		default:
			n, why := o.number(text)
			if why != "" {
				return nil, &NotNumber{i, cell, why}
			}
			out[i], any = n, true
		}
	}
	if !any && nan >= 0 { // a code, such as that of the language Min Nan
		return nil, &NotNumber{nan, cells[nan], "is not a number"}
	}
	return out, nil
}

// number parses a cell, or says why it is not a number.
func (o NumberFormat) number(text string) (n float64, why string) {
	plain := text
	if o.Thousands != "" {
		plain = oneMark(text, o.Thousands)
		if !groupedDigits(plain, o.Thousands, o.mark()) {
			return 0, "is not a number"
		}
		plain = strings.ReplaceAll(plain, o.Thousands, "")
	}
	if o.mark() == "," {
		if strings.Contains(plain, ".") {
			return 0, "is not a number with a decimal comma"
		}
		plain = strings.Replace(plain, ",", ".", 1)
	}
	digits := strings.TrimLeft(plain, "+-")
	if len(digits) > 1 && digits[0] == '0' && '0' <= digits[1] && digits[1] <= '9' {
		return 0, "begins with 0, as a code does"
	}
	n, err := strconv.ParseFloat(plain, 64)
	switch {
	case err != nil && o == (NumberFormat{}):
		return 0, otherFormat(text)
	case err != nil || strings.ContainsAny(digits, "xX_"):
		return 0, "is not a number"
	case math.Abs(n) >= 1<<53 && !strings.ContainsAny(digits, ".eE") && len(digits) > 0 && digits[0] <= '9' &&
		strconv.FormatFloat(n, 'f', 0, 64) != strings.TrimPrefix(plain, "+"):
		return 0, "has more digits than a number keeps"
	}
	return n, ""
}

func (o NumberFormat) mark() string {
	if o.Decimal == "" {
		return "."
	}
	return o.Decimal
}

// sameMarks are characters that are written for one mark between thousands.
var sameMarks = [][]string{{" ", "\u00a0", "\u202f", "\u2009"}, {"'", "\u2019"}}

// oneMark returns a number with one character for the mark between thousands.
func oneMark(text, thousands string) string {
	for _, marks := range sameMarks {
		if slices.Contains(marks, thousands) {
			for _, mark := range marks {
				text = strings.ReplaceAll(text, mark, thousands)
			}
		}
	}
	return text
}

// groupedDigits reports whether a number has marks only in its whole part, between groups of three digits, or as in
// 12,34,567 of two digits before the last three.
func groupedDigits(text, thousands, decimal string) bool {
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "+-"), decimal)
	groups := strings.Split(whole, thousands)
	last := len(groups) - 1
	if strings.Contains(fraction, thousands) || groups[0] == "" || last > 0 && len(groups[last]) != 3 {
		return false
	}
	for _, digits := range []int{3, 2} {
		other := func(group string) bool { return len(group) != digits }
		if last == 0 || len(groups[0]) <= digits && !slices.ContainsFunc(groups[1:last], other) {
			return true
		}
	}
	return false
}

// formats are those that a file may have instead of the default, and the options that read them.
var formats = []struct {
	NumberFormat
	fix string
}{
	{NumberFormat{Decimal: ","}, `Decimal: "," (--decimal ,)`},
	{NumberFormat{Thousands: ","}, `Thousands: "," (--thousands ,)`},
	{NumberFormat{Decimal: ",", Thousands: "."}, `Decimal: "," and Thousands: "." (--decimal , --thousands .)`},
	{NumberFormat{Thousands: " "}, `Thousands: " " (--thousands " ")`},
	{NumberFormat{Decimal: ",", Thousands: " "}, `Decimal: "," and Thousands: " " (--decimal , --thousands " ")`},
	{NumberFormat{Thousands: "'"}, `Thousands: "'" (--thousands "'")`},
}

// otherFormat says why a cell is not a number: it is one in another format, or none.
func otherFormat(text string) string {
	var reads []string
	known := map[float64]bool{}
	for _, f := range formats {
		if n, why := f.number(text); why == "" && !known[n] {
			known[n] = true
			reads = append(reads, fmt.Sprintf("%s reads %s as %s", f.fix, text, NumberText(n)))
		}
	}
	if len(reads) > 0 {
		return "is a number in another format: " + strings.Join(reads, ", and ")
	}
	return "is not a number"
}

// LooksNumeric reports whether a text is a number, in whatever format, or a percentage, so that its place in the order
// of texts is not that of its value.
func LooksNumeric(text string) bool {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	_, why := NumberFormat{}.number(text)
	return text != "" && (why == "" || strings.Contains(why, "another format") || strings.HasPrefix(why, "has more"))
}

// dayFirst is a date whose place in the order of texts is not that of its day.
var dayFirst = regexp.MustCompile(`^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}$`)

// IsDayFirst reports whether a text is a date such as 29.03.2026 or 3/29/2026.
func IsDayFirst(text string) bool { return dayFirst.MatchString(strings.TrimSpace(text)) }

// NumberText returns the text of a number: integers with all their digits, others in the shortest form that parses to
// the same value, "" for NaN, which is no value.
func NumberText(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// CellColumn returns the column of the cells of a text file: numbers if all that are not empty are, else text. A number
// column keeps its cells where one is not the [NumberText] of its number, so that it is written as it was read.
func CellColumn(name string, cells []string, o NumberFormat) Column {
	numbers, err := o.ParseNumbers(cells)
	if err != nil || IsBlank(cells) {
		return TextColumn(name, cells)
	}
	c := NumberColumn(name, numbers)
	for i, n := range numbers {
		if cells[i] != NumberText(n) {
			c.Texts = cells
			break
		}
	}
	return c
}

// IsBlank reports whether no text has a value.
func IsBlank(texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return s != "" })
}

// Text returns a value of a text or number column as text: that of a number as the file has it, else its [NumberText].
// It is "" for other kinds.
func (c *Column) Text(row int) string {
	switch {
	case c.Texts != nil:
		return c.Texts[row]
	case c.Kind == KindNumber:
		return NumberText(c.Numbers[row])
	}
	return ""
}

// CSV returns a value as the cell of a CSV file: "" for no value, numbers as they were read or as [NumberText], vectors
// as JSON lists, masks as JSON objects, images as paths.
func (c *Column) CSV(row int) string {
	if c.Texts != nil {
		return c.Texts[row]
	}
	return c.of().text(c, row, true)
}

// As returns the column with values of another kind: numbers as text, texts that are all numbers as numbers, JSON lists
// of numbers as vectors, and a text column without a value as any kind. The error names the first value of another
// kind.
func (c *Column) As(kind Kind) (*Column, error) {
	out := Column{ColumnSpec: ColumnSpec{c.Name, kind}}
	k, known := kind.of()
	switch {
	case kind == "" || kind == c.Kind:
		return c, nil
	case kind == KindText && c.Kind == KindNumber:
		if out.Texts = c.Texts; c.Texts == nil {
			out.Texts = make([]string, len(c.Numbers))
			for row, x := range c.Numbers {
				out.Texts[row] = NumberText(x)
			}
		}
	case c.Kind == KindText && IsBlank(c.Texts):
		k.pick(&out, &out, slices.Repeat([]int{-1}, len(c.Texts)))
	case c.Kind == KindText && known:
		if err := k.addParsed(&out, c.Texts); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("column %q holds %s values, not %s", c.Name, c.Kind, kind)
	}
	return &out, nil
}

// Fits reports whether a column of a kind may hold values that [Column.As] returns as another one.
func Fits(kind, want Kind) bool {
	return kind == want || kind == "" || want == "" || kind == KindText || kind == KindNumber && want == KindText
}
