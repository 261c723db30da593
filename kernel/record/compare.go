package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// comparison compares the columns of a recorded table a with those of a recomputed one b.
type comparison struct {
	a, b   *table.Frame
	moved  []Moved
	beyond []string // differences that the tolerance does not allow
	others []string // differences that another device may make
}

// columns compares tables of the same columns and number of rows. On the same kind of device, texts and images must be
// equal.
func (c *comparison) columns(tolerance float64, same bool) {
	for i := range c.a.Columns {
		x, y := &c.a.Columns[i], &c.b.Columns[i]
		if x.Kind == table.KindNumber {
			c.numbers(x, y, tolerance)
			continue
		}
		n := 0
		for row, text := range x.Texts {
			if strings.ReplaceAll(y.Texts[row], "\r\n", "\n") != text { // as a CSV file is read
				n++
			}
		}
		switch what := fmt.Sprintf("%s differs in %d of %d rows", x.Name, n, len(x.Texts)); {
		case n == 0 || isVerdict(x.ColumnSpec): // these are listed one by one
		case same:
			c.beyond = append(c.beyond, what)
		default:
			c.others = append(c.others, what)
		}
	}
}

func (c *comparison) numbers(x, y *table.Column, tolerance float64) {
	largest, apart, missing := 0.0, 0.0, 0
	for row, a := range x.Numbers {
		b := y.Numbers[row]
		switch {
		case a == b || math.IsNaN(a) && math.IsNaN(b):
		case math.IsNaN(a) || math.IsNaN(b) || math.IsInf(a-b, 0):
			missing++
		default:
			apart = max(apart, math.Abs(a-b))
		}
		if !math.IsNaN(a) && !math.IsInf(a, 0) {
			largest = max(largest, math.Abs(a))
		}
	}
	if missing > 0 {
		c.beyond = append(c.beyond, fmt.Sprintf("%s has %d values that one side lacks", x.Name, missing))
	}
	if apart == 0 {
		return
	}
	by := apart / largest // +Inf where all were 0
	c.moved = append(c.moved, Moved{x.Name, by, int(max(0, math.Floor(-math.Log10(by))))})
	if by > tolerance {
		c.beyond = append(c.beyond, fmt.Sprintf("%s differs by %.1e of its largest value, more than %.0e", x.Name, by,
			tolerance))
	}
}

// Summary says what a verification found, as a table of results, one of the digits that differ, and one of the
// conclusions that change; the last two may have no rows.
func Summary(outcomes []*Outcome) (results, digits, changes *table.Frame) {
	results = table.NewFrame(datasets.Columns("result:text", "rows:number", "status:text", "digits:text",
		"conclusions:number", "changed:number"))
	digits = table.NewFrame(datasets.Columns("result:text", "column:text", "digits:number", "difference:number",
		"tolerance:number"))
	changes = table.NewFrame(datasets.Columns("result:text", "row:text", "column:text", "was:text", "is:text"))
	for _, o := range outcomes {
		agree := "all"
		for _, m := range o.Moved {
			digits.Add([]string{o.Result.name, m.Column}, float64(m.Digits), m.By, o.Tolerance)
		}
		if len(o.Moved) > 0 {
			agree = fmt.Sprint(slices.MinFunc(o.Moved, func(a, b Moved) int { return a.Digits - b.Digits }).Digits)
		}
		if o.Status == NotVerifiable {
			agree = ""
		}
		results.Add([]string{o.Result.name, string(o.Status), agree}, float64(o.Result.Rows),
			float64(o.Verdicts), float64(len(o.Changes)))
		for _, x := range o.Changes {
			changes.Add([]string{o.Result.name, x.Row, x.Column, x.Was, x.Is})
		}
	}
	return results, digits, changes
}
