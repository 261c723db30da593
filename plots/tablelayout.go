package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// limit returns the maximal number of rows in HTML and text.
func (v Table) limit() int {
	if v.Limit > 0 {
		return v.Limit
	}
	return 200
}

// scaled returns the frame with its values times 100 if Percent is set.
func (v Table) scaled(f *datasets.Frame) *datasets.Frame {
	if !v.Percent {
		return f
	}
	for _, c := range f.Columns {
		if c.Kind != table.KindNumber || isCount(c.Name) {
			continue
		}
		numbers := make([]float64, len(c.Numbers))
		for i := range numbers {
			numbers[i] = 100 * c.Numbers[i]
		}
		f = f.With(table.NumberColumn(c.Name, numbers))
	}
	return f
}

// below lists the columns that are printed once, below the table.
func (v Table) below(f *datasets.Frame, printed []string) []string {
	if len(v.Footer) > 0 {
		return v.Footer
	}
	var out []string
	if !v.Constants {
		for _, name := range asides {
			if onceBelow(f, name) && len(v.Columns) == 0 && f.Column(name).Texts[0] != "" {
				out = append(out, name)
			}
		}
		return out
	}
	for _, name := range constant(f) {
		if !slices.Contains(printed, name) {
			out = append(out, name)
		}
	}
	return out
}

// asides are the text columns that describe how values were computed.
var asides = []string{"note", "warning", "settings", "interval"}

// onceBelow reports whether a column is one of asides and has the same text in all rows.
func onceBelow(f *datasets.Frame, name string) bool {
	return slices.Contains(asides, name) && len(f.Texts(name)) > 0 && distinct(f, name) <= 1
}

// constant lists the text columns with the same text in all rows.
func constant(f *datasets.Frame) []string {
	var out []string
	for _, c := range f.Columns {
		if c.Kind == table.KindText && len(c.Texts) > 0 && c.Texts[0] != "" && distinct(f, c.Name) == 1 {
			out = append(out, c.Name)
		}
	}
	return out
}

func isCount(name string) bool { return name == "n" || strings.HasPrefix(name, "n_") }

// decimals returns the decimals set for a column, -1 = none.
func (v Table) decimals(name string) int {
	if d, set := v.ColumnDecimals[name]; set {
		return min(max(d, 0), 15)
	}
	if v.Decimals != 0 && !isCount(name) {
		return min(max(v.Decimals, 0), 15)
	}
	return -1
}

// spans splits labels into common labels and those below them; nil without any.
func (v Table) spans(names []string) (spans, labels []string) {
	if v.Span == "" {
		return nil, names
	}
	spans, labels = make([]string, len(names)), slices.Clone(names)
	any := false
	for i, n := range names {
		if before, after, found := strings.Cut(n, v.Span); found {
			spans[i], labels[i], any = strings.TrimSpace(before), strings.TrimSpace(after), true
		}
	}
	if !any {
		return nil, names
	}
	return spans, labels
}

// split divides the columns into blocks.
func (v Table) split(columns []string) ([][]string, error) {
	if v.Block <= 0 {
		return [][]string{columns}, nil
	}
	var first, others []string
	for _, name := range v.Repeat {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("table: no column %q to repeat in every block (there are: %s)", name,
				list(columns, 20))
		}
	}
	for _, name := range columns {
		if slices.Contains(v.Repeat, name) {
			first = append(first, name)
		} else {
			others = append(others, name)
		}
	}
	out := [][]string{}
	for block := range slices.Chunk(others, v.Block) {
		out = append(out, append(slices.Clone(first), block...))
	}
	if len(out) == 0 {
		out = append(out, first)
	}
	return out, nil
}

// arrange returns the table in the form of Wide, and the text columns with the same text in all rows.
func (v Table) arrange(f *datasets.Frame) (out *datasets.Frame, constants []string, err error) {
	if v.Wide == (Wide{}) {
		return f, nil, nil
	}
	rows, columns, value := v.Wide.Rows, v.Wide.Columns, v.Wide.Value
	rowOf, columnOf := or(names(f, rows))(&err), or(names(f, columns))(&err)
	or(f.Need(value, table.KindNumber))(&err)
	if err != nil {
		return nil, nil, err
	}
	s := options{}
	down, across := s.levels(rows, rowOf), s.levels(columns, columnOf)
	const most = 500
	if len(across) > most {
		return nil, nil, fmt.Errorf("column %q has %d values: at most %d columns can be printed; use Where", columns,
			len(across), most)
	}
	row, column := index(down), index(across)
	at := make([]int, len(down)*len(across)) // row of f, from 1; 0 = none
	for r := range rowOf {
		cell := &at[row[rowOf[r]]*len(across)+column[columnOf[r]]]
		if *cell > 0 {
			return nil, nil, fmt.Errorf("two rows for %s %q, %s %q: %s is the second; use Where", rows, rowOf[r],
				columns, columnOf[r], rowName(f, r))
		}
		*cell = r + 1
	}
	out = &datasets.Frame{Columns: []table.Column{table.TextColumn(rows, down)}}
	for j, name := range across {
		if name == rows {
			return nil, nil, fmt.Errorf("a value of column %q is also the name of the column of rows, %q", columns,
				rows)
		}
		for _, end := range []string{"", "_low", "_high"} {
			numbers := f.Numbers(value + end)
			if numbers == nil || end != "" && !hasInterval(f, value) {
				continue
			}
			spread := make([]float64, len(down))
			for i := range down {
				if spread[i] = math.NaN(); at[i*len(across)+j] > 0 {
					spread[i] = numbers[at[i*len(across)+j]-1]
				}
			}
			out.Columns = append(out.Columns, table.NumberColumn(name+end, spread))
		}
	}
	for _, name := range constant(f) {
		if !out.Has(name) && name != columns {
			constants = append(constants, name)
			out.Columns = append(out.Columns, table.TextColumn(name, slices.Repeat(f.Texts(name)[:1], len(down))))
		}
	}
	return out, constants, nil
}
