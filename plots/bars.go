package plots

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"antipode/datasets"
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
}

func (f Bars) figure() drawer {
	return figure{fmt.Sprintf("bars of %q", f.Y), f.Table, [][2]string{{"Y", f.Y}}, options{
		more: f.MoreY, x: f.X, series: f.Series, panels: f.Panels, panelRows: f.PanelRows, order: f.Order,
		names: f.Names, title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, ylim: f.YLimits, free: f.FreeLimits,
		percent: f.Percent, horizontal: f.Horizontal, sorted: f.Sorted, limit: f.Limit, refs: f.References,
		interval: f.Interval, note: f.Note, theme: f.Theme,
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

func buildBars(f *datasets.Frame, column string, s *options) (drawing, error) {
	v, err := s.read(f, column)
	if err != nil {
		return nil, err
	}
	s.write = digits(v)
	x, series, err := s.barColumns(f)
	if err != nil {
		return nil, err
	}
	xs, err := names(f, x)
	if err != nil {
		return nil, err
	}
	ss, levels, err := s.colored(f, series)
	if err != nil {
		return nil, err
	}
	panels, err := s.split(f, 3)
	if err != nil {
		return nil, err
	}
	c := s.chart(panels, column+" by "+x, s.shown(column)...)
	c.own = s.free || s.sorted && len(panels.rows) > 1
	bars := s.levels(x, xs)
	placed := panels.placed(bars, xs) // the names of each column of panels
	horizontal := s.horizontal
	for _, own := range placed {
		if !fitsBelow(own, s.theme, panels.columns, len(levels)) {
			slanted := len(own) < len(bars) && bandBelow(own, s.theme, panels.columns) >= max(16,
				8*float64(len(levels)))
			c.turned = c.turned || slanted
			horizontal = horizontal || !slanted
		}
	}
	c.turned = c.turned && !horizontal
	if horizontal && !c.own {
		for i := range placed {
			placed[i] = bars // the names are written once, at the left of a row of panels
		}
	}
	var none, left []string
	whiskers := false
	for i, rows := range panels.rows {
		if rows == nil && panels.heads != nil {
			c.panels = append(c.panels, nil)
			continue
		}
		at := cells{}
		var mine []value
		for _, r := range rows {
			k := [2]string{xs[r], ss[r]}
			if _, twice := at[k]; twice {
				return nil, twoRows(f, r, x, xs[r], series, ss[r])
			}
			at[k] = v[r]
			mine = append(mine, v[r])
			whiskers = whiskers || v[r].interval()
			if v[r].none() {
				none = append(none, isolate(strings.Join(strings.Fields(xs[r]+" "+ss[r]+" "+panels.name(i)), " ")))
			}
		}
		own := placed[i%panels.columns]
		if s.sorted {
			own = sortBars(own, levels, at)
		}
		if c.own && s.sorted {
			own = slices.DeleteFunc(own, func(n string) bool {
				return !slices.ContainsFunc(rows, func(r int) bool { return xs[r] == n })
			})
		}
		if s.limit > 0 && len(own) > s.limit {
			left = append(left, fmt.Sprintf("%d of %d", s.limit, len(own)))
			own = own[:s.limit]
		}
		scope := mine
		if !s.free {
			scope = v
		}
		c.panels = append(c.panels, barPanel(panels.titles[i], own, levels, at, shareAxis(scope, s.ylim, s.free, 5),
			horizontal, s))
	}
	c.seriesKeys(series, levels, func(int) int { return boxKey })
	c.refKeys(s)
	c.xname, c.yname = s.xlabel, s.axis(s.ylabel, column)
	if horizontal {
		c.xname, c.yname = c.yname, c.xname
	}
	if first := panels.titles[0]; !horizontal && first == "" && panels.heads == nil {
		for _, w := range v {
			if !w.none() && c.panels[0].y.at(w.top(), 1, 0) < 0.04 {
				c.above = s.theme.Small // the number over a bar that reaches the top
			}
		}
	}
	c.height = 250
	if len(panels.rows) > panels.columns {
		c.height = 180
	}
	if horizontal {
		most := 0.0
		for _, p := range c.panels {
			if p != nil {
				most = max(most, p.y.high)
			}
		}
		c.height = most * max(18, 6+11*float64(len(levels)))
		c.right = 34
	}
	c.sentences(s, f, column, whiskers, none)
	if left != nil {
		c.caption = append(c.caption, "Only the largest are shown: "+list(left, 8)+".")
	}
	c.cut(v, s.ylim)
	if s.ylim.Low > 0 || s.ylim.High < 0 {
		c.caption = append(c.caption, "The bars do not start at zero.")
	}
	return c, nil
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
		if len(wrap(n, th.Text, false, band-6)) > 2 {
			return false
		}
		for _, word := range strings.Fields(n) {
			if measure(word, th.Text, false) > band-6 {
				return false
			}
		}
	}
	return true
}

// sortBars orders names by the value of the first series that has one, largest first, names without data last.
func sortBars(names, series []string, at cells) []string {
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

// barPanel draws the bars of one panel.
func barPanel(title string, names, series []string, at cells, scale axis, horizontal bool, s *options) *panel {
	p := &panel{title: title}
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
		thick := min(long*0.8/float64(len(series)), 44)
		base := min(max(0, scale.low), scale.high)
		for i, name := range names {
			for j, level := range series {
				v, known := at[[2]string{name, level}]
				if !known {
					continue
				}
				offset := (float64(j) - float64(len(series)-1)/2) * thick
				if horizontal {
					y := p.t + (float64(i)+0.5)*long + offset
					sc.flatBar(p, v, y, thick, base, s, j)
				} else {
					x := p.l + (float64(i)+0.5)*long + offset
					sc.tallBar(p, v, x, thick, base, s, j)
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

func (sc *scene) tallBar(p *panel, v value, x, thick, base float64, s *options, j int) {
	th := s.theme
	if v.none() {
		sc.add(label{at: pt{x + 0.36*th.Small, p.py(base) - 5}, text: "no data", size: th.Small, color: th.Muted,
			anchor: start, turn: -90})
		return
	}
	y0, y1 := p.py(base), p.py(v.v)
	sc.box(x-thick/2+0.5, min(y0, y1), thick-1, math.Abs(y1-y0), th.Series[j])
	edge := min(y0, y1)
	if v.interval() {
		sc.whisker(pt{x, p.py(v.low)}, pt{x, p.py(v.high)}, th.Ink)
		edge = min(edge, p.py(v.high))
	}
	text := s.write(v.v)
	if size := min(th.Small, th.Small*(thick-2)/measure(text, th.Small, false)); size >= 0.8*th.Small {
		if v.v < base {
			edge = max(y0, y1, p.py(v.bottom())) + 2*th.Small
		}
		sc.text(x, edge-th.Small*0.75, text, size, th.Ink, middle)
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
