package datasets

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func init() {
	operation.Verb("count", countRows)
	operation.Verb("group", aggregate)
	operation.Verb("describe", describe)
}

// Count returns a row for every combination of values in the text columns by, with the number of rows in column "n".
func (t Table) Count(by ...string) Table {
	return t.groups("count", columnsArgs{by}, by, table.ColumnSpec{Name: "n", Kind: table.KindNumber})
}

// groups returns the table of an operation that makes a row for every group.
func (t Table) groups(op string, args any, by []string, added ...table.ColumnSpec) Table {
	var specs []table.ColumnSpec
	for _, name := range table.WithShown(by, t.has) {
		t = t.need(name, table.KindText)
		specs = append(specs, table.ColumnSpec{Name: name, Kind: table.KindText})
	}
	return New(op, args, append(specs, added...), t)
}

// Unique returns a row for every combination of values in the text columns, in the order of their first rows.
func (t Table) Unique(columns ...string) Table { return t.Count(columns...).Select(columns...) }

// Grouped is a table in groups of equal values; see [Table.GroupBy].
type Grouped struct {
	table Table
	by    []string
}

// GroupBy groups the rows by their values in text columns; without columns, all rows are one group. Each method of
// [Grouped] returns a table with a row for every group, in the order of their first rows: the columns by, the
// column of the method, and n, the number of the group's rows with a value.
func (t Table) GroupBy(by ...string) Grouped { return Grouped{t, by} }

type groupArgs struct {
	By     []string `json:"by"`
	Column string   `json:"column"`
	What   string   `json:"what"`
	P      float64  `json:"p,omitempty"`
}

func (g Grouped) of(column, what string, p float64) Table {
	t := g.table.need(column, table.KindNumber)
	if column == "n" || slices.Contains(g.by, column) {
		return t.failed(fmt.Errorf("GroupBy: the column %q would occur twice in the result; Rename it", column))
	}
	return t.groups("group", groupArgs{g.by, column, what, p}, g.by, Columns(column+":number", "n:number")...)
}

// Mean returns the mean of a number column in each group.
func (g Grouped) Mean(column string) Table { return g.of(column, "mean", 0) }

// Sum returns the sum of a number column in each group; 0 without values.
func (g Grouped) Sum(column string) Table { return g.of(column, "sum", 0) }

// Min returns the smallest value of a number column in each group.
func (g Grouped) Min(column string) Table { return g.of(column, "quantile", 0) }

// Max returns the largest value of a number column in each group.
func (g Grouped) Max(column string) Table { return g.of(column, "quantile", 1) }

// Quantile returns the p-quantile, 0 ≤ p ≤ 1, of a number column in each group, interpolated linearly between the two
// nearest values, as pandas and NumPy do by default; 0.5 is the median.
func (g Grouped) Quantile(column string, p float64) Table {
	if !(p >= 0 && p <= 1) {
		return g.table.failed(fmt.Errorf("GroupBy: Quantile(%q, %g): p is not between 0 and 1", column, p))
	}
	return g.of(column, "quantile", p)
}

// groups returns the groups of a frame's rows by the labels in columns, in order of first appearance.
func groups(call *Call, f *Frame, by []string) ([]table.Group, error) {
	out, err := table.Groups(call.Labels(by, []*Frame{f})[0], by)
	if f.Len() == 0 {
		out = nil
	}
	return out, err
}

// groupName describes a group for a message: region "Africa", object "bag".
func groupName(by, values []string) string {
	if len(by) == 0 {
		return "the table"
	}
	parts := make([]string, len(by))
	for i := range by {
		parts[i] = fmt.Sprintf("%s %q", by[i], values[i])
	}
	return strings.Join(parts, ", ")
}

// perGroup returns a frame with a row for every group: the columns by and those of the numbers that of returns.
func perGroup(call *Call, f *Frame, by []string, columns []string, of func(rows []int) []float64) (*Frame, error) {
	by = table.WithShown(by, f.Has)
	all, err := groups(call, f, by)
	if err != nil {
		return nil, err
	}
	var specs []table.ColumnSpec
	for _, name := range by {
		specs = append(specs, table.ColumnSpec{Name: name, Kind: table.KindText})
	}
	for _, name := range columns {
		specs = append(specs, table.ColumnSpec{Name: name, Kind: table.KindNumber})
	}
	out := table.NewFrame(specs)
	for _, g := range all {
		out.Add(g.By, of(g.Rows)...)
	}
	return out, nil
}

func countRows(call *Call, a columnsArgs, in []*Frame) (*Frame, error) {
	return perGroup(call, in[0], a.Columns, []string{"n"}, func(rows []int) []float64 {
		return []float64{float64(len(rows))}
	})
}

func aggregate(call *Call, a groupArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, table.KindNumber)
	if err != nil {
		return nil, err
	}
	return perGroup(call, in[0], a.By, []string{a.Column, "n"}, func(rows []int) []float64 {
		s := summaryOf(c, rows)
		value := s.sum
		switch a.What {
		case "mean":
			value = s.mean()
		case "quantile":
			value = s.quantile(a.P)
		}
		return []float64{value, float64(len(s.sorted))}
	})
}

// summary holds the values of a number column's rows.
type summary struct {
	sorted []float64
	sum    float64
}

func summaryOf(c *Column, rows []int) (s summary) {
	for _, row := range rows {
		if v := c.Numbers[row]; !math.IsNaN(v) {
			s.sorted, s.sum = append(s.sorted, v), s.sum+v
		}
	}
	slices.Sort(s.sorted)
	return s
}

// mean returns NaN without values.
func (s summary) mean() float64 { return s.sum / float64(len(s.sorted)) }

// sd returns the standard deviation with n − 1; NaN under two values.
func (s summary) sd() float64 {
	if len(s.sorted) < 2 {
		return math.NaN()
	}
	mean, sum := s.mean(), 0.0
	for _, v := range s.sorted {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(s.sorted)-1))
}

// quantile interpolates linearly between order statistics at p·(n−1) (type 7); NaN without values.
func (s summary) quantile(p float64) float64 {
	if len(s.sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(s.sorted)-1)
	i := int(at)
	if at == float64(i) {
		return s.sorted[i]
	}
	return s.sorted[i] + (at-float64(i))*(s.sorted[i+1]-s.sorted[i])
}

// described are the columns of [Table.Describe].
var described = Columns("column:text", "kind:text", "n:number", "missing:number", "unique:number", "mean:number",
	"sd:number", "min:number", "q25:number", "median:number", "q75:number", "max:number")

// Describe returns a row for every column: its name in column, its kind, n (rows with a value), missing (rows without),
// unique (different values of texts and numbers), and of number columns mean, sd (standard deviation with n − 1), min,
// the quartiles q25, median and q75 (as [Grouped.Quantile]), and max.
func (t Table) Describe() Table { return New("describe", nil, slices.Clone(described), t) }

func describe(_ *Call, _ struct{}, in []*Frame) (*Frame, error) {
	out := table.NewFrame(described)
	for i := range in[0].Columns {
		c := &in[0].Columns[i]
		if as, err := c.As(table.KindNumber); err == nil && table.KindByName(c.Name) != table.KindText &&
			c.Kind == table.KindText && !table.IsBlank(c.Texts) {
			c = as // of a file, where kinds are decided when a column is used
		}
		missing, values, rows := 0, map[string]bool{}, make([]int, c.Len())
		for row := range rows {
			rows[row] = row
			if c.Missing(row) {
				missing++
			} else if c.Kind == table.KindText || c.Kind == table.KindNumber {
				values[operation.LabelOf(c, row)] = true
			}
		}
		numbers := []float64{float64(c.Len() - missing), float64(missing), float64(len(values))}
		if c.Kind != table.KindText && c.Kind != table.KindNumber {
			numbers[2] = math.NaN()
		}
		var s summary
		if c.Kind == table.KindNumber {
			s = summaryOf(c, rows)
		}
		numbers = append(numbers, s.mean(), s.sd())
		for _, p := range []float64{0, 0.25, 0.5, 0.75, 1} {
			numbers = append(numbers, s.quantile(p))
		}
		out.Add([]string{c.Name, string(c.Kind)}, numbers...)
	}
	return out, nil
}

// Len runs the table and returns the number of its rows. It fails as [Table.MustRows] does.
func (t Table) Len() int { return t.MustRows().Len() }
