package plots

import (
	"cmp"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/plots/internal/letters"
)

// Heat draws a table of colored cells: a row for each value of the column Rows, a column for each value of Columns, the
// number in the cell where it fits. Colors range from white at the smallest value to dark at the largest, or between
// Limits; with Reference they diverge from that value: blue above it, orange below it. All panels share one color
// scale. The figure is wider where its columns need the space.
//
// Figure 3 of the IndicTTI paper: Rows: "language_a", Columns: "language_b", Panels: "model",
// Hatched: {"kind", "SCWL"}, Percent.
type Heat struct {
	Table        datasets.Table
	Value        string // number column of the cells
	Rows         string // column of the rows' names (default: the first text column that names rows)
	Columns      string // column of the columns' names (default: the second)
	RowGroups    string // column whose values group the rows, with a line between groups
	ColumnGroups string // column whose values group the columns
	Panels       string // column with a panel for each value
	PanelRows    string // column with a row of panels for each value; Panels then has a column for each
	Order        Order  // order of the values of columns
	Title        string
	XLabel       string
	YLabel       string
	Limits       Range  // ends of the color scale
	Percent      bool   // values are times 100; Limits and Reference are then in percent
	Sorted       bool   // rows by the value of their first column, largest first; not with RowGroups
	Reference    Mark   // value from which colors diverge; at 0 it needs a name
	Hatched      Match  // cells to strike out: their number is of another kind, as on the diagonal of a table of pairs
	Totals       bool   // sums of rows and columns, for counts; with equal names also the share on the diagonal
	Note         string // first sentence of the caption
	Theme        Theme

	Browse datasets.Table // images: below the figure, a page on which a click on a mark selects those of its group
}

func (f Heat) figure() drawer {
	set := options{rows: f.Rows, columns: f.Columns, groups: [2]string{f.RowGroups, f.ColumnGroups}, panels: f.Panels,
		panelRows: f.PanelRows, order: f.Order, title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, limits: f.Limits,
		percent: f.Percent, sorted: f.Sorted, hatched: f.Hatched, totals: f.Totals, note: f.Note, images: f.Browse,
		theme: f.Theme}
	if f.Reference != (Mark{}) {
		set.refs = []Mark{f.Reference}
	}
	return figure{fmt.Sprintf("heat table of %q", f.Value), f.Table, [][2]string{{"Value", f.Value}}, set,
		func(frame *datasets.Frame, s *options) (drawing, error) { return buildHeat(frame, f.Value, s) }}
}

// heatTable is what the panels of a heat table share: names and colors.
type heatTable struct {
	v             []value
	down, across  string // columns of names
	rowOf, colOf  []string
	rows, columns []string
	rowEnds       []int // number of rows before each line between groups
	columnEnds    []int
	hatchedIn     []string // the column of Hatched
	colors        *ramp
	dense         bool                 // too many cells for a box each
	sums          func(float64) string // how totals are written; nil = none
}

type heatPanel struct {
	at      cells
	hatched map[[2]string]bool
}

func buildHeat(f *datasets.Frame, column string, s *options) (drawing, error) {
	h, err := s.heatTable(f, column)
	panels := or(s.split(f, 2))(&err)
	if err != nil {
		return nil, err
	}
	c := s.chart(panels, fmt.Sprintf("%s by %s and %s", column, h.down, h.across), column)
	c.ramp, c.own = h.colors, c.own || s.sorted && len(panels.rows) > 1
	c.xname, c.yname = cmp.Or(s.xlabel, spaced(h.across)), cmp.Or(s.ylabel, spaced(h.down))
	const most = 1500
	h.dense = len(h.rows)*len(h.columns)*len(panels.rows) > most
	var none []string
	err = c.fill(panels, func(i int, mine []int) (*panel, error) {
		hp, of, err := h.cells(f, mine, s.hatched)
		if err != nil {
			return nil, err
		}
		rows := s.ranked(h.rows, h.columns, hp.at)
		for _, r := range rows {
			for _, col := range h.columns {
				if w, known := hp.at[[2]string{r, col}]; !known || w.none() {
					none = append(none, letters.Isolate(r+" × "+col))
				}
			}
		}
		x, y := slices.Clone(h.columns), slices.Clone(rows)
		if h.sums != nil {
			x, y = append(x, "total"), append(y, "total")
			if sentence := h.agreement(hp); sentence != "" {
				c.caption = append(c.caption, cmp.Or(panels.name(i), "All")+": "+sentence)
			}
		}
		return &panel{x: bandAxis(x), y: bandAxis(reversed(y)), rows: of,
			draw: func(sc *scene, p *panel) { sc.heat(p, rows, h, hp) }}, nil
	})
	if err != nil {
		return nil, err
	}
	c.fitHeat(h)
	c.cut(h.v, s.limits)
	if slices.ContainsFunc(h.v, value.interval) {
		c.caption = append(c.caption, undrawn)
	}
	if h.sums == nil {
		c.count(f)
	}
	if s.hatched.Column != "" {
		c.keys = append(c.keys, key{cmp.Or(s.hatched.Value, s.hatched.Column), s.theme.Ink, struck})
	}
	if none != nil {
		c.keys = append(c.keys, key{"no data", s.theme.Muted, hatched})
		c.caption = append(c.caption, "No data: "+list(none, 4)+".")
	}
	return c, nil
}

// cells returns the cells of the rows of a panel, and which row of the table each is.
func (h *heatTable) cells(f *datasets.Frame, rows []int, hatched Match) (hp heatPanel, of map[[2]string]int,
	err error) {
	hp, of = heatPanel{cells{}, map[[2]string]bool{}}, map[[2]string]int{}
	for _, r := range rows {
		k := [2]string{h.rowOf[r], h.colOf[r]}
		if _, twice := hp.at[k]; twice {
			return hp, nil, fmt.Errorf("two rows for %s %q, %s %q: %s is the second; set Panels to the column that "+
				"distinguishes them, or use Where", h.down, k[0], h.across, k[1], rowName(f, r))
		}
		hp.at[k], of[k] = h.v[r], r
		hp.hatched[k] = hatched.Column != "" && h.hatchedIn[r] == hatched.Value
	}
	return hp, of, nil
}

// frame estimates the width of a heat table's names.
const frame = 120.0

// fitHeat chooses the height of the panels, and with many names the width and the font size.
func (c *chart) fitHeat(h *heatTable) {
	columns, rows := len(h.columns), len(h.rows)
	if h.sums != nil {
		columns, rows = columns+1, rows+1
	}
	const band, widest = 13.0, 1400
	c.theme.Width = min(max(c.theme.Width, float64(c.columns*columns)*band+frame+14*float64(c.columns-1)),
		max(widest, c.theme.Width))
	c.height = min(max(float64(rows)*28, 40), max(560, float64(rows)*15))
	if c.columns > 1 {
		c.height = min(c.height, float64(rows)*max(13, (c.theme.Width-frame)/float64(c.columns*columns)))
	}
	if per := c.height / float64(rows); per < c.theme.Text+1 {
		c.nameSize = max(per-1, 8)
	}
	if c.turned = !fitsBelow(h.columns, c.theme, c.columns, 1); c.turned { // slanted text needs space
		band := (c.theme.Width - frame - 14*float64(c.columns-1)) / float64(c.columns) / float64(columns)
		if size := max(0.68*band, 8); size < c.theme.Text {
			c.nameSize = min(cmp.Or(c.nameSize, size), size)
		}
	}
}

// heatTable reads the values, their names and their groups.
func (s *options) heatTable(f *datasets.Frame, column string) (*heatTable, error) {
	h := &heatTable{down: s.rows, across: s.columns}
	candidates := nameColumns(f, s.panelRows, s.panels, h.down, h.across, s.hatched.Column, s.groups[0], s.groups[1])
	for _, c := range []*string{&h.down, &h.across} {
		if *c == "" {
			if len(candidates) == 0 {
				return nil, fmt.Errorf("a heat table needs two columns of names (there are: %s); set Rows and "+
					"Columns", list(columnNames(f), 20))
			}
			*c, candidates = candidates[0], candidates[1:]
		}
	}
	var err error
	h.v = or(s.read(f, column))(&err)
	h.rowOf, h.colOf = or(names(f, h.down))(&err), or(names(f, h.across))(&err)
	h.hatchedIn = or(optional(f, s.hatched.Column))(&err)
	if err != nil {
		return nil, err
	}
	if h.rows, h.rowEnds, err = s.grouped(f, h.down, h.rowOf, s.groups[0]); err != nil {
		return nil, err
	}
	if h.columns, h.columnEnds, err = s.grouped(f, h.across, h.colOf, s.groups[1]); err != nil {
		return nil, err
	}
	if s.sorted && s.groups[0] != "" {
		return nil, fmt.Errorf("Sorted and RowGroups both order the rows; set one of them")
	}
	if len(h.rows)*len(h.columns) > 10_000 || len(h.columns) > 100 {
		return nil, fmt.Errorf("%d rows × %d columns: at most 100 columns and 10,000 cells are readable; use Where",
			len(h.rows), len(h.columns))
	}
	h.colors = s.ramp(h.v, 0)
	if s.totals {
		sum := 0.0
		for _, v := range h.v {
			if !v.none() {
				sum += v.v
			}
		}
		h.sums = digits(append([]value{{sum, sum, sum}}, h.v...))
	}
	return h, nil
}

// grouped lists the levels of a column, those of a group together, and the positions where a group ends.
func (s *options) grouped(f *datasets.Frame, column string, of []string, group string) ([]string, []int, error) {
	levels := s.levels(column, of)
	if group == "" {
		return levels, nil, nil
	}
	in, err := names(f, group)
	if err != nil {
		return nil, nil, err
	}
	groupOf := map[string]string{}
	for i, n := range of {
		if g, known := groupOf[n]; known && g != in[i] {
			return nil, nil, fmt.Errorf("%s %q is in two groups of column %q: %q and, in %s, %q", column, n, group, g,
				rowName(f, i), in[i])
		}
		groupOf[n] = in[i]
	}
	inOrder := make([]string, len(levels)) // groups in order of first appearance
	for i, n := range levels {
		inOrder[i] = groupOf[n]
	}
	rank := index(s.levels(group, inOrder))
	slices.SortStableFunc(levels, func(a, b string) int { return cmp.Compare(rank[groupOf[a]], rank[groupOf[b]]) })
	var ends []int
	for i := 1; i < len(levels); i++ {
		if groupOf[levels[i]] != groupOf[levels[i-1]] {
			ends = append(ends, i)
		}
	}
	return levels, ends, nil
}

// total returns the sum of some cells; missing if all are.
func (hp heatPanel) total(rows, columns []string) value {
	sum, any := 0.0, false
	for _, r := range rows {
		for _, c := range columns {
			if v, known := hp.at[[2]string{r, c}]; known && !v.none() {
				sum, any = sum+v.v, true
			}
		}
	}
	if !any {
		return missing
	}
	return single(sum)
}

// agreement returns a sentence with the share of the total on the diagonal, if rows and columns have the same names.
func (h *heatTable) agreement(hp heatPanel) string {
	if len(h.rows) != len(h.columns) {
		return ""
	}
	same := 0.0
	for _, r := range h.rows {
		if !slices.Contains(h.columns, r) {
			return ""
		}
		if v := hp.total([]string{r}, []string{r}); !v.none() {
			same += v.v
		}
	}
	sum := hp.total(h.rows, h.columns)
	if sum.none() || sum.v <= 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s agree (%.1f %%).", h.sums(same), h.sums(sum.v), 100*same/sum.v)
}
