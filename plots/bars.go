package plots

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"antipode/datasets"
	"antipode/plots/internal/letters"
)

// Bars draws a bar for each row of a table: its length is the number column Y, its name the column X, its color the
// column Series. Whiskers show the columns Y_low and Y_high. Bars are horizontal where their names do not fit below
// them. The value axis is [0, 1] where it contains all values, and includes zero unless YLimits is set. A panel
// has only the names that occur in its column of panels.
//
// Figures 3 and 9 of the Decomposed-DIG paper: MoreY: {"coverage"}, X: "score", Series: "vector", Panels: "template".
// Figures 10 and 11: X: "object", Panels: "vector", Horizontal, Sorted, FreeLimits.
type Bars struct {
	Table      datasets.Table
	Y          string            // number column: the lengths of the bars
	MoreY      []string          // further number columns; the text column "score" then names them
	X          string            // column of the bars' names (default: the first text column that names rows)
	Series     string            // column with a color for each value (default: the second, where names repeat)
	Panels     string            // column with a panel for each value
	PanelRows  string            // column with a row of panels for each value; Panels then has a column for each
	Order      Order             // order of the values of columns
	Names      map[string]string // names of the columns Y and MoreY in the figure
	Title      string
	XLabel     string // label of the axis of names, wherever it is drawn
	YLabel     string // label of the value axis, with the unit
	YLimits    Range  // limits of the value axis
	FreeLimits bool   // panels have separate limits
	Percent    bool   // values, intervals and axis are times 100; YLimits and References are then in percent
	Horizontal bool   // bars are horizontal even where their names fit below them
	Sorted     bool   // largest first, bars without data last
	Limit      int    // shows only the first bars of each panel; needs Sorted
	References []Mark // lines across the value axis
	Interval   string // kind of the intervals (default: the text column "interval")
	Note       string // first sentence of the caption
	Theme      Theme

	Browse datasets.Table // images: below the figure, a page on which a click on a mark selects those of its group
}

func (f Bars) figure() drawer {
	return figure{fmt.Sprintf("bars of %q", f.Y), f.Table, [][2]string{{"Y", f.Y}}, options{
		more: f.MoreY, x: f.X, series: f.Series, panels: f.Panels, panelRows: f.PanelRows, order: f.Order,
		names: f.Names, title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, ylim: f.YLimits, free: f.FreeLimits,
		percent: f.Percent, horizontal: f.Horizontal, sorted: f.Sorted, limit: f.Limit, refs: f.References,
		interval: f.Interval, note: f.Note, images: f.Browse, theme: f.Theme,
	}, func(frame *datasets.Frame, s *options) (drawing, error) {
		if s.limit > 0 && !s.sorted {
			return nil, fmt.Errorf("Limit needs Sorted")
		}
		frame, column, err := s.melt(frame, f.Y)
		if err != nil {
			return nil, err
		}
		return buildBars(frame, column, s)
	}}
}

// cells are the values of one panel by name and series.
type cells map[[2]string]value

// named is what a chart of named values shows: by row of the table, a value, its name and its series.
type named struct {
	s         *options
	f         *datasets.Frame
	values    []value
	x, series string // columns
	xs, ss    []string
	levels    []string // of the series
	panels    *facets
	most      int      // values that a name has in a panel
	none      []string // those without a value
	whiskers  bool
}

// barData is what a chart of bars shows.
type barData struct {
	*named
	placed     [][]string // the bars of each column of panels
	left       []string   // what is left out
	horizontal bool
}

func buildBars(f *datasets.Frame, column string, s *options) (drawing, error) {
	n, c, err := s.named(f, column, 3)
	if err != nil {
		return nil, err
	}
	b := &barData{named: n, horizontal: s.horizontal}
	b.place(c)
	if err := c.fill(b.panels, func(i int, rows []int) (*panel, error) { return b.panel(c, i, rows) }); err != nil {
		return nil, err
	}
	c.seriesKeys(b.series, b.levels, func(int) int { return boxKey })
	c.refKeys(s)
	c.xname, c.yname = s.xlabel, s.axis(s.ylabel, column)
	if b.horizontal {
		c.xname, c.yname = c.yname, c.xname
	}
	b.size(c)
	c.sentences(s, f, column, b.whiskers, b.none)
	if b.left != nil {
		c.caption = append(c.caption, "Only the largest are shown: "+list(b.left, 8)+".")
	}
	c.cut(b.values, s.ylim)
	if s.ylim.Low > 0 || s.ylim.High < 0 {
		c.caption = append(c.caption, "The bars do not start at zero.")
	}
	return c, nil
}

// named reads the values, their names and their panels, at most so many side by side, and begins the chart.
func (s *options) named(f *datasets.Frame, column string, across int) (*named, *chart, error) {
	b := &named{s: s, f: f}
	var err error
	if b.values, err = s.read(f, column); err != nil {
		return nil, nil, err
	}
	s.write = digits(b.values)
	if b.x, b.series, err = s.barColumns(f); err != nil {
		return nil, nil, err
	}
	b.whiskers = slices.ContainsFunc(b.values, value.interval)
	b.xs = or(names(f, b.x))(&err)
	if err != nil {
		return nil, nil, err
	}
	b.ss, b.levels, err = s.colored(f, b.series)
	b.panels = or(s.split(f, across))(&err)
	if err != nil {
		return nil, nil, err
	}
	for _, rows := range b.panels.rows {
		n := map[string]int{}
		for _, r := range rows {
			n[b.xs[r]]++
			b.most = max(b.most, n[b.xs[r]])
		}
	}
	c := s.chart(b.panels, column+" by "+b.x, s.shown(column)...)
	c.own = s.free || s.sorted && len(b.panels.rows) > 1
	return b, c, nil
}

// cells returns the values of the rows of a panel, and which row of the table each is. name is that of the panel.
func (b *named) cells(rows []int, name string) (at cells, of map[[2]string]int, err error) {
	at, of = cells{}, map[[2]string]int{}
	for _, r := range rows {
		k, v := [2]string{b.xs[r], b.ss[r]}, b.values[r]
		if _, twice := at[k]; twice {
			return nil, nil, twoRows(b.f, r, b.x, k[0], b.series, k[1])
		}
		at[k], of[k] = v, r
		if v.none() {
			b.none = append(b.none, letters.Isolate(strings.TrimSpace(strings.TrimSpace(k[0]+" "+k[1])+" "+name)))
		}
	}
	return at, of, nil
}

// place decides which bars a panel has, and whether they are horizontal or their names are turned.
func (b *barData) place(c *chart) {
	bars, s := b.s.levels(b.x, b.xs), b.s
	b.placed = b.panels.placed(bars, b.xs)
	for _, own := range b.placed {
		if !fitsBelow(own, s.theme, b.panels.columns, b.most) {
			slanted := len(own) < len(bars) && bandBelow(own, s.theme, b.panels.columns) >= max(16,
				8*float64(b.most))
			c.turned = c.turned || slanted
			b.horizontal = b.horizontal || !slanted
		}
	}
	c.turned = c.turned && !b.horizontal
	if b.horizontal && !c.own {
		for i := range b.placed {
			b.placed[i] = bars // the names are written once, at the left of a row of panels
		}
	}
}

// panel returns panel i, with rows of the table.
func (b *barData) panel(c *chart, i int, rows []int) (*panel, error) {
	s := b.s
	at, of, err := b.cells(rows, b.panels.name(i))
	if err != nil {
		return nil, err
	}
	own := s.ranked(b.placed[i%b.panels.columns], b.levels, at)
	if c.own && s.sorted {
		own = slices.DeleteFunc(own, func(n string) bool {
			return !slices.ContainsFunc(rows, func(r int) bool { return b.xs[r] == n })
		})
	}
	if s.limit > 0 && len(own) > s.limit {
		b.left = append(b.left, fmt.Sprintf("%d of %d", s.limit, len(own)))
		own = own[:s.limit]
	}
	p := barPanel(own, at, b.scale(scope(s, b.values, rows)), b, s)
	p.rows = of
	return p, nil
}

// scale is the axis of values, with room for the number below a vertical bar that reaches its lower end.
func (b *barData) scale(values []value) axis {
	values = b.s.referred(values)
	a := shareAxis(values, b.s.ylim, b.s.free, 5)
	for _, v := range values {
		if !b.horizontal && !b.s.ylim.set() && v.bottom() < 0 && a.at(v.bottom(), 0, 1) < 0.06 {
			low := single(a.low - 0.02*(a.high-a.low))
			return shareAxis(append(slices.Clone(values), low), b.s.ylim, b.s.free, 5)
		}
	}
	return a
}

// size sets the height of the panels, and the space above and to the right of the bars.
func (b *barData) size(c *chart) {
	if first := b.panels.titles[0]; !b.horizontal && first == "" && b.panels.heads == nil {
		for _, w := range b.values {
			if !w.none() && c.panels[0].y.at(w.top(), 1, 0) < 0.04 {
				c.above = b.s.theme.Small // the number over a bar that reaches the top
			}
		}
	}
	c.height = 250
	if len(b.panels.rows) > b.panels.columns {
		c.height = 180
	}
	if b.horizontal {
		most := 0.0
		for _, p := range c.panels {
			if p != nil {
				most = max(most, p.y.high)
			}
		}
		each := 11.0
		if b.whiskers && b.most > 1 {
			each = 15 // a whisker does not touch the numbers of the bars next to it
		}
		c.height = most * max(18, 6+each*float64(b.most))
		c.right = 34
	}
}

// twoRows is the error for two rows of one name and series; columns are pairs of a column and its value.
func twoRows(f *datasets.Frame, row int, columns ...string) error {
	return fmt.Errorf("two rows for %s: %s is the second; set Series or Panels to the column that distinguishes "+
		"them, or use Where", strings.TrimSpace(strings.Join(columns, " ")), rowName(f, row))
}

// list joins names, the first few of them.
func list(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// barColumns chooses the columns of names and series: the first text column with more than one value, and where names
// repeat the next one that makes the rows distinct.
func (s *options) barColumns(f *datasets.Frame) (x, series string, err error) {
	x, series = s.x, s.series
	candidates := nameColumns(f, s.panelRows, s.panels, s.crossed.Column, x, series)
	if x == "" {
		if len(candidates) == 0 {
			return "", "", fmt.Errorf("no text column names the rows (there are: %s); name one in X or Y",
				list(columnNames(f), 20))
		}
		at := max(slices.IndexFunc(candidates, func(c string) bool { return distinct(f, c) > 1 }), 0)
		x = candidates[at]
		candidates = slices.Delete(candidates, at, at+1)
	}
	if keys := []string{x, s.panelRows, s.panels}; series == "" && distinct(f, keys...) < f.Len() {
		for _, c := range candidates {
			if distinct(f, append(keys, c)...) == f.Len() {
				return x, c, nil
			}
		}
	}
	return x, series, nil
}

// bandBelow estimates the width of each name below vertical bars.
func bandBelow(names []string, th Theme, columns int) float64 {
	return ((th.Width-80)/float64(columns) - 30) / float64(len(names))
}

// fitsBelow reports whether the names fit below vertical bars, each in at most two lines without a broken word.
func fitsBelow(names []string, th Theme, columns, series int) bool {
	band := bandBelow(names, th, columns)
	if band < 16*float64(series) && band < 40 {
		return false
	}
	for _, n := range names {
		if len(letters.Wrap(n, th.Text, false, band-6)) > 2 {
			return false
		}
		for _, word := range strings.Fields(n) {
			if letters.Measure(word, th.Text, false) > band-6 {
				return false
			}
		}
	}
	return true
}

// ranked returns names, with Sorted by the value of the first series that has one, largest first, those without data
// last.
func (s *options) ranked(names, series []string, at cells) []string {
	if !s.sorted {
		return names
	}
	out := slices.Clone(names)
	of := func(n string) float64 {
		for _, s := range series {
			if v, ok := at[[2]string{n, s}]; ok && !v.none() {
				return v.v
			}
		}
		return math.Inf(-1)
	}
	sort.SliceStable(out, func(i, j int) bool { return of(out[i]) > of(out[j]) })
	return out
}

// barPanel draws the bars of one panel. The bars of a name, of the series that it has, are centered at it.
func barPanel(names []string, at cells, scale axis, b *barData, s *options) *panel {
	p := &panel{}
	horizontal := b.horizontal
	if horizontal {
		p.x, p.y = scale, bandAxis(reversed(names))
	} else {
		p.x, p.y = bandAxis(names), scale
	}
	p.draw = func(sc *scene, p *panel) {
		th := s.theme
		long := (p.r - p.l) / p.x.high
		if horizontal {
			long = (p.b - p.t) / p.y.high
		}
		thick := min(long*0.8/float64(b.most), 44)
		number := b.numberSize(p.r - p.l)
		base := min(max(0, scale.low), scale.high)
		for i, name := range names {
			var own []int
			for j, level := range b.levels {
				if _, known := at[[2]string{name, level}]; known {
					own = append(own, j)
				}
			}
			for n, j := range own {
				k := [2]string{name, b.levels[j]}
				v := at[k]
				offset := (float64(n) - float64(len(own)-1)/2) * thick
				if horizontal {
					y := p.t + (float64(i)+0.5)*long + offset
					sc.flatBar(p, v, y, thick, base, s, j)
					sc.behind(p, k, p.l, y-thick/2, p.r-p.l, thick)
				} else {
					x := p.l + (float64(i)+0.5)*long + offset
					sc.tallBar(p, v, x, thick, base, number, s, j)
					sc.behind(p, k, x-thick/2, p.t, thick, p.b-p.t)
				}
			}
		}
		if scale.low < 0 && scale.high > 0 {
			sc.line(th.Ink, 1, p.across(0, horizontal)...)
		}
		sc.references(p, s.refs, horizontal, 1.2)
	}
	return p
}

func reversed(names []string) []string {
	out := slices.Clone(names)
	slices.Reverse(out)
	return out
}

// numberSize is the size of the numbers at vertical bars in panels of a width, the same in all; 0 where one does not
// fit, so that either all bars have their number or none.
func (b *barData) numberSize(width float64) float64 {
	bars, longest := 0, 0.0
	for _, names := range b.placed {
		bars = max(bars, len(names))
	}
	for _, v := range b.values {
		if !v.none() {
			longest = max(longest, letters.Measure(b.s.write(v.v), b.s.theme.Small, false))
		}
	}
	small := b.s.theme.Small
	if size := min(small, small*(min(width/float64(bars)*0.8/float64(b.most), 44)-2)/longest); size >= 0.8*small {
		return size
	}
	return 0
}

func (sc *scene) tallBar(p *panel, v value, x, thick, base, number float64, s *options, j int) {
	th := s.theme
	if v.none() {
		sc.add(label{At: pt{x + 0.36*th.Small, p.py(base) - 5}, Text: "no data", Size: th.Small, Color: th.Muted,
			Anchor: start, Turn: -90})
		return
	}
	y0, y1 := p.py(base), p.py(v.v)
	sc.box(x-thick/2+0.5, min(y0, y1), thick-1, math.Abs(y1-y0), th.Series[j])
	edge := min(y0, y1)
	if v.interval() {
		sc.whisker(pt{x, p.py(v.low)}, pt{x, p.py(v.high)}, th.Ink)
		edge = min(edge, p.py(v.high))
	}
	if number > 0 {
		if v.v < base {
			edge = max(y0, y1, p.py(v.bottom())) + 2*th.Small
		}
		sc.text(x, edge-th.Small*0.75, s.write(v.v), number, th.Ink, middle)
	}
}

func (sc *scene) flatBar(p *panel, v value, y, thick, base float64, s *options, j int) {
	th := s.theme
	if v.none() {
		sc.text(p.px(base)+5, y, "no data", min(th.Small, thick+1), th.Muted, start)
		return
	}
	x0, x1 := p.px(base), p.px(v.v)
	sc.box(min(x0, x1), y-thick/2+0.5, math.Abs(x1-x0), thick-1, th.Series[j])
	edge := max(x0, x1)
	if v.interval() {
		sc.whisker(pt{p.px(v.low), y}, pt{p.px(v.high), y}, th.Ink)
		edge = max(edge, p.px(v.high))
	}
	sc.text(edge+6, y, s.write(v.v), min(th.Small, thick+1), th.Ink, start)
}
