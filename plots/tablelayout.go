package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// layout is how a printed table arranges its columns.
type layout struct {
	wide      *[3]string // columns of row names, of column names, of values
	constants []string   // text columns that Wide keeps, since they hold one value
	block     int
	repeated  []string
	separator string
	names     map[string]string
	percent   bool
	decimals  map[string]int // "" = of all
}

// Wide puts a table with a row for each value into the form of papers: a row for each value of the column rows, a column
// for each value of the column columns, both in table order, and the numbers of the column value in the cells, with their
// intervals. Two rows for one cell are an error. Of other columns those stay that hold one text throughout, for
// [TableView.Settings] and CSV.
func (v TableView) Wide(rows, columns, value string) TableView {
	v.layout.wide = &[3]string{rows, columns, value}
	return v
}

// Blocks breaks a wide table into blocks below each other: columns named are repeated in every block, of the others each
// has at most n. Tables 2 to 11 of the IndicTTI paper: Blocks(15, "model", "en"). CSV is never broken.
func (v TableView) Blocks(n int, repeated ...string) TableView {
	v.layout.block, v.layout.repeated = n, repeated
	return v
}

// Spans gives neighbouring columns a common head: what stands before the separator in their names. Markdown and CSV,
// which have no common heads, keep whole names. Table 2 of the CoCo-CroLa paper ("EN Xc", "EN Wc"): Spans(" "); the tables
// of ENTIGEN: Spans(", ").
func (v TableView) Spans(separator string) TableView {
	v.layout.separator = separator
	return v
}

// Head prints another name above a column; CSV keeps the column's own.
func (v TableView) Head(column, name string) TableView {
	names := map[string]string{column: name}
	for c, n := range v.layout.names {
		if c != column {
			names[c] = n
		}
	}
	v.layout.names = names
	return v
}

// Percent prints shares and cosines times 100, with their intervals: all number columns except counts (n, n_…). CSV has
// them as they are.
func (v TableView) Percent() TableView {
	v.layout.percent = true
	return v
}

// Decimals sets how many decimals the numbers of columns have; without columns those of all but counts (n, n_…).
func (v TableView) Decimals(n int, columns ...string) TableView {
	decimals := map[string]int{}
	for c, d := range v.layout.decimals {
		decimals[c] = d
	}
	if len(columns) == 0 {
		columns = []string{""}
	}
	for _, c := range columns {
		decimals[c] = min(max(n, 0), 15)
	}
	v.layout.decimals = decimals
	return v
}

// Settings says below the table what text columns hold that are not printed: how values were made. Without a list these
// are the ones that hold the same text in all rows. In CSV they are columns.
func (v TableView) Settings(columns ...string) TableView {
	v.settings = append([]string{}, columns...)
	return v
}

// said lists the columns that stand below the table.
func (v TableView) said(f *datasets.Frame, printed []string) []string {
	if len(v.settings) > 0 {
		return v.settings
	}
	var out []string
	if v.settings == nil {
		for _, name := range asides {
			if saidOnce(f, name) && len(v.columns) == 0 && f.Column(name).Texts[0] != "" {
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

// asides are the text columns that say how values came about.
var asides = []string{"note", "warning", "settings", "interval"}

// saidOnce says that a column is one of them and says the same of all rows, or nothing.
func saidOnce(f *datasets.Frame, name string) bool {
	return slices.Contains(asides, name) && len(f.Texts(name)) > 0 && distinct(f, name) <= 1
}

// constant lists the text columns that hold one text in all rows.
func constant(f *datasets.Frame) []string {
	var out []string
	for _, c := range f.Columns {
		if c.Kind == client.Text && len(c.Texts) > 0 && c.Texts[0] != "" && distinct(f, c.Name) == 1 {
			out = append(out, c.Name)
		}
	}
	return out
}

func isCount(name string) bool { return name == "n" || strings.HasPrefix(name, "n_") }

// decimalsOf gives the decimals set for a column, -1 = none.
func (l layout) decimalsOf(name string) int {
	if d, set := l.decimals[name]; set {
		return d
	}
	if d, set := l.decimals[""]; set && !isCount(name) {
		return d
	}
	return -1
}

func (l layout) head(name string) string {
	if n, set := l.names[name]; set {
		return n
	}
	return name
}

// spans takes names apart into common heads and what is below them; nil without any.
func (l layout) spans(names []string) (spans, heads []string) {
	if l.separator == "" {
		return nil, names
	}
	spans, heads = make([]string, len(names)), slices.Clone(names)
	any := false
	for i, n := range names {
		if before, after, found := strings.Cut(n, l.separator); found {
			spans[i], heads[i], any = strings.TrimSpace(before), strings.TrimSpace(after), true
		}
	}
	if !any {
		return nil, names
	}
	return spans, heads
}

// split sorts the columns into blocks.
func (l layout) split(columns []string) ([][]string, error) {
	if l.block <= 0 {
		return [][]string{columns}, nil
	}
	var first, others []string
	for _, name := range l.repeated {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("table: no column %q to repeat in every block (there are: %s)", name, list(columns, 20))
		}
	}
	for _, name := range columns {
		if slices.Contains(l.repeated, name) {
			first = append(first, name)
		} else {
			others = append(others, name)
		}
	}
	out := [][]string{}
	for block := range slices.Chunk(others, l.block) {
		out = append(out, append(slices.Clone(first), block...))
	}
	if len(out) == 0 {
		out = append(out, first)
	}
	return out, nil
}

// arrange spreads the table if it is to be wide.
func (l *layout) arrange(f *datasets.Frame) (*datasets.Frame, error) {
	if l.wide == nil {
		return f, nil
	}
	rows, columns, value := l.wide[0], l.wide[1], l.wide[2]
	rowOf, err := names(f, rows)
	if err != nil {
		return nil, err
	}
	columnOf, err := names(f, columns)
	if err != nil {
		return nil, err
	}
	if _, err := f.Need(value, client.Number); err != nil {
		return nil, err
	}
	s := settings{}
	down, across := s.levels(rows, rowOf), s.levels(columns, columnOf)
	const most = 500
	if len(across) > most {
		return nil, fmt.Errorf("column %q has %d values: at most %d columns can be printed; use Where", columns, len(across), most)
	}
	row, column := index(down), index(across)
	at := make([]int, len(down)*len(across)) // row of f, from 1; 0 = none
	for r := range rowOf {
		cell := &at[row[rowOf[r]]*len(across)+column[columnOf[r]]]
		if *cell > 0 {
			return nil, fmt.Errorf("two rows for %s %q, %s %q: %s is the second; use Where", rows, rowOf[r], columns, columnOf[r], rowName(f, r))
		}
		*cell = r + 1
	}
	out := &datasets.Frame{Columns: []client.Column{client.TextColumn(rows, down)}}
	for j, name := range across {
		if name == rows {
			return nil, fmt.Errorf("a value of column %q is named as the column of rows, %q", columns, rows)
		}
		for _, end := range []string{"", "_low", "_high"} {
			numbers := f.Numbers(value + end)
			if numbers == nil || end != "" && !hasInterval(f, value) {
				continue
			}
			v := make([]float64, len(down))
			for i := range down {
				if v[i] = math.NaN(); at[i*len(across)+j] > 0 {
					v[i] = numbers[at[i*len(across)+j]-1]
				}
			}
			out.Columns = append(out.Columns, client.NumberColumn(name+end, v))
		}
	}
	for _, name := range constant(f) {
		if !out.Has(name) && name != columns {
			l.constants = append(l.constants, name)
			out.Columns = append(out.Columns, client.TextColumn(name, slices.Repeat(f.Texts(name)[:1], len(down))))
		}
	}
	return out, nil
}
