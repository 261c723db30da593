package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
)

// Heat draws a table of coloured cells: a row for each value of the column of [Rows], a column for each value of
// [Columns] (else the first two text columns that name rows), the number in the cell where it fits. Colours go from white
// at the smallest value to dark at the largest, or between [Limits]; with [Reference] they part at that value: darker
// blue above it, darker orange below it. [Panels] splits, with one scale of colours for all panels; the figure widens
// where its columns need the room. [Groups] keeps rows and columns of one kind together, [Hatched] strikes cells out,
// [Totals] adds sums.
//
// Figure 3 of the IndicTTI paper: Rows("language_a"), Columns("language_b"), Panels("model"), Hatched("kind", "SCWL"),
// Percent().
func Heat(t datasets.Table, value string, options ...Option) Figure {
	return figure(fmt.Sprintf("heat table of %q", value), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildHeat(f, value, s)
	})
}

// heatTable is what the panels of a heat table share: its names and colours.
type heatTable struct {
	v             []value
	down, across  string // columns of names
	rowOf, colOf  []string
	rows, columns []string
	rowEnds       []int // how many rows stand before each line between groups
	columnEnds    []int
	hatchedIn     []string // the column of Hatched
	colors        ramp
	dense         bool                 // too many cells for a box each
	sums          func(float64) string // how totals are written; nil = none
}

// heatPanel is one panel's cells.
type heatPanel struct {
	at      cells
	hatched map[[2]string]bool
}

func buildHeat(f *datasets.Frame, column string, s *settings) (drawing, error) {
	h, err := s.heatTable(f, column)
	if err != nil {
		return nil, err
	}
	panels, err := s.split(f, 2)
	if err != nil {
		return nil, err
	}
	c := &chart{theme: s.theme, title: or(s.title, fmt.Sprintf("%s by %s and %s", column, h.down, h.across)), columns: panels.columns, heads: panels.heads, sides: panels.sides, ramp: &h.colors}
	c.xname, c.yname = or(s.xname, h.across), or(s.yname, h.down)
	if s.note != "" {
		c.caption = append(c.caption, isolate(oneLine(s.note)))
	}
	const most = 1500
	h.dense = len(h.rows)*len(h.columns)*len(panels.rows) > most
	var none []string
	gaps, whiskers := 0, false
	for i, mine := range panels.rows {
		if mine == nil && panels.heads != nil {
			c.panels = append(c.panels, nil)
			continue
		}
		hp := heatPanel{cells{}, map[[2]string]bool{}}
		for _, r := range mine {
			k := [2]string{h.rowOf[r], h.colOf[r]}
			if _, twice := hp.at[k]; twice {
				return nil, fmt.Errorf("two rows for %s %q, %s %q: %s is the second; name the column that tells them apart in Panels, or use Where", h.down, k[0], h.across, k[1], rowName(f, r))
			}
			hp.at[k] = h.v[r]
			hp.hatched[k] = h.hatchedIn != nil && h.hatchedIn[r] == s.hatched[1]
			whiskers = whiskers || h.v[r].interval()
		}
		rows := h.rows
		if s.sorted {
			rows = sortBars(h.rows, h.columns, hp.at)
		}
		for _, r := range rows {
			for _, col := range h.columns {
				if w, known := hp.at[[2]string{r, col}]; !known || w.none() {
					if gaps++; gaps <= 4 {
						none = append(none, isolate(r+" × "+col))
					}
				}
			}
		}
		x, y := slices.Clone(h.columns), slices.Clone(rows)
		if h.sums != nil {
			x, y = append(x, "total"), append(y, "total")
			if sentence := h.agreement(hp); sentence != "" {
				c.caption = append(c.caption, or(panels.titles[i], "All")+": "+sentence)
			}
		}
		p := &panel{title: panels.titles[i], x: bandAxis(x), y: bandAxis(reversed(y))}
		p.draw = func(sc *scene, p *panel) { sc.heat(p, rows, h, hp) }
		c.panels = append(c.panels, p)
	}
	c.fitHeat(len(h.columns), len(h.rows), h.sums != nil)
	if c.turned = !fitsBelow(h.columns, c.theme, panels.columns, 1); c.turned { // slanted lines of text need room
		band := (c.theme.Width - frame - 14*float64(c.columns-1)) / float64(c.columns) / c.panels[0].x.high
		if size := max(0.68*band, 8); size < c.theme.Text {
			c.nameSize = min(or(c.nameSize, size), size)
		}
	}
	if whiskers {
		c.caption = append(c.caption, undrawn)
	}
	if h.sums == nil {
		c.caption = append(c.caption, counts(f, all(f.Len())))
	}
	if s.hatched[0] != "" {
		c.keys = append(c.keys, key{or(s.hatched[1], s.hatched[0]), s.theme.Ink, struck})
	}
	if gaps > 0 {
		c.keys = append(c.keys, key{"no data", s.theme.Muted, hatched})
		c.caption = append(c.caption, "No data: "+list(append(none, make([]string, gaps-len(none))...), 4)+".")
	}
	return c, nil
}

// frame is about how much of a heat table's width names take.
const frame = 120.0

// fitHeat chooses the height of the panels, and the width and the size of the names where there are many.
func (c *chart) fitHeat(columns, rows int, sums bool) {
	if sums {
		columns, rows = columns+1, rows+1
	}
	const band, widest = 13.0, 1400
	c.theme.Width = min(max(c.theme.Width, float64(c.columns*columns)*band+frame+14*float64(c.columns-1)), max(widest, c.theme.Width))
	c.height = min(max(float64(rows)*28, 40), max(560, float64(rows)*15))
	if c.columns > 1 {
		c.height = min(c.height, float64(rows)*max(13, (c.theme.Width-frame)/float64(c.columns*columns)))
	}
	if per := c.height / float64(rows); per < c.theme.Text+1 {
		c.nameSize = max(per-1, 8)
	}
}

// heatTable reads the values, their names and their groups.
func (s *settings) heatTable(f *datasets.Frame, column string) (*heatTable, error) {
	v, err := s.read(f, column)
	if err != nil {
		return nil, err
	}
	h := &heatTable{v: v, down: s.rows, across: s.columns}
	candidates := nameColumns(f, append(slices.Clone(s.panels), h.down, h.across, s.hatched[0], s.groups[0], s.groups[1])...)
	for _, c := range []*string{&h.down, &h.across} {
		if *c == "" {
			if len(candidates) == 0 {
				return nil, fmt.Errorf("a heat table needs two columns of names (there are: %s); give them with Rows and Columns", list(columnNames(f), 20))
			}
			*c, candidates = candidates[0], candidates[1:]
		}
	}
	if h.rowOf, err = names(f, h.down); err != nil {
		return nil, err
	}
	if h.colOf, err = names(f, h.across); err != nil {
		return nil, err
	}
	if h.rows, h.rowEnds, err = s.grouped(f, h.down, h.rowOf, s.groups[0]); err != nil {
		return nil, err
	}
	if h.columns, h.columnEnds, err = s.grouped(f, h.across, h.colOf, s.groups[1]); err != nil {
		return nil, err
	}
	if s.sorted && s.groups[0] != "" {
		return nil, fmt.Errorf("rows cannot both be Sorted and stand in Groups: leave one out")
	}
	if s.hatched[0] != "" {
		if h.hatchedIn, err = names(f, s.hatched[0]); err != nil {
			return nil, err
		}
	}
	if len(h.rows)*len(h.columns) > 10_000 || len(h.columns) > 100 {
		return nil, fmt.Errorf("%d rows × %d columns: at most 100 columns and 10,000 cells can be seen; use Where", len(h.rows), len(h.columns))
	}
	h.colors = ramp{low: math.Inf(1), high: math.Inf(-1), theme: s.theme, write: digits(v)}
	sum := 0.0
	for _, w := range v {
		if !w.none() {
			h.colors.low, h.colors.high, sum = min(h.colors.low, w.v), max(h.colors.high, w.v), sum+w.v
		}
	}
	if s.totals {
		h.sums = digits(append([]value{{sum, sum, sum}}, v...))
	}
	if s.limits != nil {
		h.colors.low, h.colors.high = s.limits[0], s.limits[1]
	}
	if len(s.refs) > 0 {
		h.colors.ref = &s.refs[0]
		h.colors.low, h.colors.high = min(h.colors.low, h.colors.ref.at), max(h.colors.high, h.colors.ref.at)
	}
	if h.colors.low >= h.colors.high {
		h.colors.low, h.colors.high = h.colors.low-0.5, h.colors.high+0.5
	}
	return h, nil
}

// grouped lists the levels of a column, those of a group together, and after how many of them a group ends.
func (s *settings) grouped(f *datasets.Frame, column string, of []string, group string) ([]string, []int, error) {
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
			return nil, nil, fmt.Errorf("%s %q is in two groups of column %q: %q and, in %s, %q", column, n, group, g, rowName(f, i), in[i])
		}
		groupOf[n] = in[i]
	}
	inOrder := make([]string, len(levels)) // groups as their first members come
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

// total adds the values of some cells; none of them gives no value.
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
	return value{sum, math.NaN(), math.NaN()}
}

// agreement says what share of all lies on the diagonal, where rows and columns have the same names.
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
