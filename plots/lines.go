package plots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/plots/internal/letters"
)

// Lines connects the rows of each value of Series in the order of the column X, with a mark at each value of Y and a
// pale band for its interval. X is a number column, or a text column whose values are drawn at equal distances, in
// table order or as Order lists them. A missing value breaks the line; the caption names it.
//
// Figures 4 and 9 of the IndicTTI paper: X: "language", Y: "scwl", MoreY: {"dwl"}, Series: "model", Panels: "score".
type Lines struct {
	Table      datasets.Table
	X          string            // number or text column
	Y          string            // number column
	MoreY      []string          // further number columns; the text column "score" then names them
	Series     string            // column with a line for each value
	Panels     string            // column with a panel for each value
	PanelRows  string            // column with a row of panels for each value; Panels then has a column for each
	Order      Order             // order of the values of columns
	Names      map[string]string // names of the columns Y and MoreY in the figure
	Title      string
	XLabel     string // with the unit
	YLabel     string // with the unit
	XLimits    Range  // where X is a number column
	YLimits    Range
	FreeLimits bool   // panels have separate limits
	Percent    bool   // Y and its intervals are times 100; YLimits and References are then in percent
	References []Mark // lines across the vertical axis
	Interval   string // kind of the intervals (default: the text column "interval")
	Note       string // first sentence of the caption
	Theme      Theme
}

func (f Lines) figure() drawer {
	return figure{fmt.Sprintf("lines of %q over %q", f.Y, f.X), f.Table, [][2]string{{"X", f.X}, {"Y", f.Y}}, options{
		more: f.MoreY, series: f.Series, panels: f.Panels, panelRows: f.PanelRows, order: f.Order, names: f.Names,
		title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, xlim: f.XLimits, ylim: f.YLimits, free: f.FreeLimits,
		percent: f.Percent, refs: f.References, interval: f.Interval, note: f.Note, theme: f.Theme,
	}, func(frame *datasets.Frame, s *options) (drawing, error) {
		frame, column, err := s.melt(frame, f.Y)
		if err != nil {
			return nil, err
		}
		return buildLines(frame, f.X, column, s)
	}}
}

// places returns the horizontal position of each row, and for a text column the names of the positions.
func (s *options) places(f *datasets.Frame, x string) (xs []value, bands []string, err error) {
	if c := f.Column(x); c != nil && c.Kind == table.KindText {
		of, err := names(f, x)
		if err != nil {
			return nil, nil, err
		}
		bands = s.levels(x, of)
		at := index(bands)
		for _, n := range of {
			v := float64(at[n]) + 0.5
			xs = append(xs, value{v, v, v})
		}
		return xs, bands, nil
	}
	at, err := f.Need(x, table.KindNumber)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range at.Numbers {
		if !finite(n) {
			return nil, nil, fmt.Errorf("column %q has no finite number in %s, so the row has no position", x,
				rowName(f, i))
		}
		xs = append(xs, value{n, n, n})
	}
	return xs, nil, nil
}

func buildLines(f *datasets.Frame, x, y string, s *options) (drawing, error) {
	xs, bands, err := s.places(f, x)
	v := or(s.read(f, y))(&err)
	if err != nil {
		return nil, err
	}
	across := 2
	if bands != nil && !fitsBelow(bands, s.theme, across, 1) {
		across = 1
	}
	seriesOf, levels, err := s.colored(f, s.series)
	panels := or(s.split(f, across))(&err)
	if err != nil {
		return nil, err
	}
	c := s.chart(panels, y+" over "+x, s.shown(y)...)
	c.xname, c.yname, c.height, c.right = cmp.Or(s.xlabel, spaced(x)), s.axis(s.ylabel, y), 250, 10
	var none []string
	outside := 0
	for i, rows := range panels.rows {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r int) bool {
			out := s.xlim.set() && (xs[r].v < s.xlim.Low || xs[r].v > s.xlim.High)
			if out {
				outside++
			}
			return out
		})
		p := &panel{title: panels.titles[i], x: snugAxis(scope(s, xs, rows), s.xlim, 7, 0),
			y: shareAxis(s.referred(scope(s, v, rows)), s.ylim, s.free, 5)}
		if bands != nil {
			p.x = bandAxis(bands)
			c.turned = !fitsBelow(bands, s.theme, panels.columns, 1)
		}
		lines := ordered(rows, xs, seriesOf, levels)
		for j, l := range lines {
			for i := 1; bands != nil && i < len(l); i++ {
				if xs[l[i]].v == xs[l[i-1]].v {
					return nil, twoRows(f, l[i], f.Column(x).Cell(l[i]), levels[j])
				}
			}
		}
		for _, r := range rows {
			if v[r].none() {
				none = append(none, letters.Isolate(strings.TrimSpace(seriesOf[r]+" at "+f.Column(x).Cell(r))))
			}
		}
		p.draw = func(sc *scene, p *panel) {
			for j, l := range lines {
				for _, run := range runs(l, v) {
					sc.run(p, run, xs, v, j)
				}
			}
			sc.references(p, s.refs, false, 1.2)
		}
		c.panels = append(c.panels, p)
	}
	c.seriesKeys(s.series, levels, func(i int) int { return i % markKinds })
	c.refKeys(s)
	c.sentences(s, f, y, slices.ContainsFunc(v, value.interval), none)
	c.cut(v, s.ylim)
	c.say(outside, "%d points are outside the axes.")
	c.reword("Whiskers:", "Bands:")
	return c, nil
}

// ordered returns the rows of each series from left to right.
func ordered(rows []int, xs []value, seriesOf, levels []string) [][]int {
	lines, of := make([][]int, len(levels)), index(levels)
	for _, r := range rows {
		lines[of[seriesOf[r]]] = append(lines[of[seriesOf[r]]], r)
	}
	for _, l := range lines {
		slices.SortStableFunc(l, func(a, b int) int { return cmp.Compare(xs[a].v, xs[b].v) })
	}
	return lines
}

// runs splits a line at missing values.
func runs(line []int, v []value) [][]int {
	var out [][]int
	var run []int
	for _, r := range line {
		if !v[r].none() {
			run = append(run, r)
			continue
		}
		out, run = append(out, run), nil
	}
	return append(out, run)
}

func (sc *scene) run(p *panel, rows []int, xs, v []value, j int) {
	color := sc.theme.Series[j]
	var line, upper, lower []pt
	band := func() { // of neighbors that have an interval
		if len(upper) == 1 {
			sc.line(color, 1.2, upper[0], lower[0])
		} else if len(upper) > 1 {
			slices.Reverse(lower)
			pale := color
			pale.A = 50
			sc.add(path{Points: append(upper, lower...), Closed: true, Fill: pale})
		}
		upper, lower = nil, nil
	}
	for _, r := range rows {
		x := p.px(xs[r].v)
		line = append(line, pt{x, p.py(v[r].v)})
		if v[r].interval() {
			upper, lower = append(upper, pt{x, p.py(v[r].high)}), append(lower, pt{x, p.py(v[r].low)})
		} else {
			band()
		}
	}
	band()
	if len(line) > 1 {
		sc.line(color, 2, line...)
	}
	for _, q := range line {
		sc.mark(j, q, 4, color, sc.theme.Paper)
	}
}
