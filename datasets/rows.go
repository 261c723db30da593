package datasets

import (
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
)

func init() {
	operation.Verb("sort", sortRows)
	operation.Verb("head", head)
	operation.Verb("sample", sample)
}

// SortOptions are the options of [Table.Sort] and [Table.SortDown].
type SortOptions struct {
	// As is the kind that values are compared as, [table.KindNumber] or [table.KindText]; "" = that of the column, and
	// numbers for texts that all are numbers. More than half of the values being numbers is an error then, because 10
	// comes before 9 in the order of texts; in ids and other columns that are always texts it is not.
	As table.Kind
}

type sortArgs struct {
	Column     string     `json:"column"`
	Descending bool       `json:"descending,omitempty"`
	As         table.Kind `json:"as,omitempty"`
}

// Sort orders the rows by a text or number column in ascending order. Rows without a value are last; equal rows
// stay in order.
func (t Table) Sort(column string, options ...SortOptions) Table {
	return t.sort(column, false, options)
}

// SortDown orders the rows by a text or number column in descending order. Rows without a value are last; equal rows
// stay in order.
func (t Table) SortDown(column string, options ...SortOptions) Table {
	return t.sort(column, true, options)
}

func (t Table) sort(column string, down bool, options []SortOptions) Table {
	o, err := table.One(options)
	if err != nil {
		return t.failed(fmt.Errorf("Sort: %w", err))
	}
	return t.need(column, o.As).derive("sort", sortArgs{column, down, o.As})
}

func sortRows(_ *Call, a sortArgs, in []*Frame) (*Frame, error) {
	c, err := in[0].Need(a.Column, a.As)
	if err == nil && c.Kind != table.KindText && c.Kind != table.KindNumber {
		err = fmt.Errorf("column %q is not a text or number column", a.Column)
	}
	if err == nil && a.As == "" && c.Kind == table.KindText {
		if numbers, text := c.As(table.KindNumber); text == nil && !table.IsBlank(c.Texts) {
			c = numbers
		} else {
			err = mostlyNumbers(c, text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("Sort: %w", err)
	}
	rows, missing := make([]int, c.Len()), make([]bool, c.Len())
	for i := range rows {
		rows[i], missing[i] = i, c.Missing(i)
	}
	sort.SliceStable(rows, func(x, y int) bool {
		i, j := rows[x], rows[y]
		if missing[i] || missing[j] {
			return !missing[i] && missing[j]
		}
		if a.Descending {
			i, j = j, i
		}
		if c.Kind == table.KindText {
			return c.Texts[i] < c.Texts[j]
		}
		return c.Numbers[i] < c.Numbers[j]
	})
	return in[0].Pick(rows), nil
}

// textOrder returns an error for a column of dates whose order as text, by the day of the month, is not that of the
// dates, if its values are ordered.
func textOrder(c *table.Column, ordered bool) error {
	other := func(text string) bool { return text != "" && !table.IsDayFirst(text) }
	if !ordered || c.Kind != table.KindText || table.IsBlank(c.Texts) || slices.ContainsFunc(c.Texts, other) {
		return nil
	}
	return fmt.Errorf("column %q holds dates such as %s, whose order as text is not that of the days: write them as "+
		"2026-03-29", c.Name, firstValue(c.Texts))
}

// mostlyNumbers returns an error for a text column more than half of whose values are numbers: its order as text, in
// which 10 comes before 9, is not what its user expects. text is the error of reading it as numbers.
func mostlyNumbers(c *Column, text error) error {
	if table.KindByName(c.Name) == table.KindText {
		return nil
	}
	if err := textOrder(c, true); err != nil {
		return fmt.Errorf("%w, and SortOptions{As: \"text\"} (--sort %s --as text) sorts them as they are", err, c.Name)
	}
	values, numbers := 0, 0
	for _, text := range c.Texts {
		if text != "" {
			values++
			if table.LooksNumeric(text) {
				numbers++
			}
		}
	}
	if text == nil || 2*numbers <= values {
		return nil
	}
	return fmt.Errorf("%w, and SortOptions{As: \"text\"} (--sort %s --as text) sorts them as text", text, c.Name)
}

type headArgs struct {
	N int `json:"n"`
}

// Head returns the first n rows.
func (t Table) Head(n int) Table {
	if n < 0 {
		return t.failed(fmt.Errorf("Head(%d): the number of rows is negative", n))
	}
	return t.derive("head", headArgs{n})
}

func head(_ *Call, a headArgs, in []*Frame) (*Frame, error) {
	if a.N < 0 {
		return nil, &table.Error{Code: table.CodeUsage,
			Message: fmt.Sprintf("Head(%d): the number of rows is negative", a.N)}
	}
	rows := make([]int, min(a.N, in[0].Len()))
	for i := range rows {
		rows[i] = i
	}
	return in[0].Pick(rows), nil
}

type sampleArgs struct {
	N    int    `json:"n"`
	By   string `json:"by,omitempty"`
	Seed int64  `json:"seed"`
}

// Sample samples n rows without replacement from every group of equal values in the text columns by ("region", or
// "region,object"; "" = the whole table is one group) and returns them in table order. The sample depends on the seed
// and the rows' ids. A group with fewer than n rows is an error.
func (t Table) Sample(n int, by string, seed int64) Table {
	if n <= 0 {
		return t.failed(fmt.Errorf("Sample(%d, …): sample at least one row", n))
	}
	for _, column := range SplitColumns(by) {
		t = t.need(column, table.KindText)
	}
	return t.derive("sample", sampleArgs{n, by, seed})
}

func sample(call *Call, a sampleArgs, in []*Frame) (*Frame, error) {
	if a.N <= 0 {
		return nil, &table.Error{Code: table.CodeUsage,
			Message: fmt.Sprintf("Sample(%d, …): sample at least one row", a.N)}
	}
	by := SplitColumns(a.By)
	all, err := groups(call, in[0], by)
	if err != nil {
		return nil, err
	}
	var chosen []int
	for _, g := range all {
		rows := g.Rows
		if len(rows) < a.N {
			return nil, fmt.Errorf("Sample: %d rows requested from each group, but %s has %d", a.N,
				groupName(by, g.By), len(rows))
		}
		type ranked struct {
			row  int
			rank [32]byte
		}
		order := make([]ranked, len(rows))
		for i, row := range rows {
			name := fmt.Sprint(row)
			if ids := in[0].Texts("id"); ids != nil && ids[row] != "" {
				name = ids[row]
			}
			var seed [8]byte
			binary.LittleEndian.PutUint64(seed[:], uint64(a.Seed))
			order[i] = ranked{row, sha256.Sum256(append(seed[:], name...))}
		}
		slices.SortStableFunc(order, func(x, y ranked) int { return slices.Compare(x.rank[:], y.rank[:]) })
		for _, o := range order[:a.N] {
			chosen = append(chosen, o.row)
		}
	}
	slices.Sort(chosen)
	return in[0].Pick(chosen), nil
}
