package plots

import (
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/plots/internal/letters"
)

// Forest draws a line for each row of a table: its name (the column Y), its value (the number column X) with the
// interval X_low to X_high, and both as text. With References, a mark is filled where the whole interval is on one
// side of the first of them and hollow where the interval touches it. Use it for gaps between regions with simultaneous
// intervals.
//
// Crossed draws a cross and a dashed interval in place of the marks of some rows: values to which the caption makes an
// exception. For the result of disparity.GapSensitivity it is {"verdict", disparity.Explained}: the gaps that errors
// of the segmentation can explain.
//
// Joined connects the marks of a row, for example the similarities of default, stereotypical and other images of an
// identity: the length of the line is their distance.
type Forest struct {
	Table      datasets.Table
	X          string            // number column: the values
	MoreX      []string          // further number columns; the default Series then names them
	Y          string            // column of the rows' names (default: the first text column that names rows)
	Series     string            // column of colors and shapes (default: the second, where names repeat)
	Panels     string            // column with a panel for each value
	PanelRows  string            // column with a row of panels for each value; Panels then has a column for each
	Order      Order             // order of the values of columns
	Names      map[string]string // names of the columns X and MoreX in the figure
	Title      string
	XLabel     string // label of the value axis, with the unit
	YLabel     string
	XLimits    Range
	FreeLimits bool   // panels have separate limits
	Percent    bool   // values, intervals and axis are times 100; XLimits and References are then in percent
	Sorted     bool   // largest first, rows without data last
	Joined     bool   // the marks of a row are on one line and connected; intervals are not drawn
	Crossed    Match  // rows with a cross as mark; their value of the column is in the legend
	References []Mark // lines across the value axis, for example the zero of a gap
	Interval   string // kind of the intervals (default: the text column "interval")
	Note       string // first sentence of the caption
	Theme      Theme

	Browse datasets.Table // images: below the figure, a page on which a click on a mark selects those of its group
}

func (f Forest) figure() drawer {
	return figure{fmt.Sprintf("intervals of %q", f.X), f.Table, [][2]string{{"X", f.X}}, options{
		more: f.MoreX, x: f.Y, series: f.Series, panels: f.Panels, panelRows: f.PanelRows, order: f.Order,
		names: f.Names, title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, xlim: f.XLimits, free: f.FreeLimits,
		percent: f.Percent, sorted: f.Sorted, joined: f.Joined,
		crossed: f.Crossed, refs: f.References, interval: f.Interval,
		note: f.Note, images: f.Browse, theme: f.Theme,
	}, func(frame *datasets.Frame, s *options) (drawing, error) {
		frame, column, err := s.melt(frame, f.X)
		if err != nil {
			return nil, err
		}
		if len(s.more) > 0 && s.series == "" {
			s.series = "score"
		}
		return buildForest(frame, column, s)
	}}
}

func buildForest(f *datasets.Frame, column string, s *options) (drawing, error) {
	b, c, err := s.named(f, column, 2)
	crossed := or(optional(f, s.crossed.Column))(&err)
	if err != nil {
		return nil, err
	}
	c.xname, c.yname = s.axis(s.xlabel, column), s.ylabel
	rows := s.levels(b.x, b.xs)
	n, lanes := 0, 1 // rows that are crossed, lines of a row: one, unless it has values of several series in a panel
	if b.most > 1 {
		lanes = len(b.levels)
	}
	err = c.fill(b.panels, func(_ int, mine []int) (*panel, error) {
		at, of, err := b.cells(mine, "")
		if err != nil {
			return nil, err
		}
		out := map[[2]string]bool{}
		for k, r := range of {
			if out[k] = s.crossed.Column != "" && crossed[r] == s.crossed.Value; out[k] {
				n++
			}
			c.right = max(c.right, 16+letters.Measure(s.withInterval(at[k]), s.theme.Small, false))
		}
		own := s.ranked(rows, b.levels, at)
		return &panel{x: snugAxis(s.referred(scope(s, b.values, mine)), s.xlim, 6/b.panels.columns+2, 0),
			y: bandAxis(reversed(own)), rows: of,
			draw: func(sc *scene, p *panel) { sc.forest(p, own, b.levels, at, out, lanes, s) }}, nil
	})
	if err != nil {
		return nil, err
	}
	c.height = float64(len(rows)) * max(22, 6+15*float64(lanes))
	if s.joined {
		c.height, c.right = float64(len(rows))*18, 8
	}
	c.seriesKeys(b.series, b.levels, func(i int) int { return i % markKinds })
	if s.crossed.Column != "" {
		c.keys = append(c.keys, key{letters.OneLine(s.crossed.Value), s.theme.Ink, cross})
	}
	c.refKeys(s)
	c.sentences(s, f, column, b.whiskers && !s.joined, b.none)
	if s.joined && b.whiskers {
		c.reword(noIntervals, undrawn)
	}
	c.cut(b.values, s.xlim)
	if len(s.refs) > 0 && b.whiskers && !s.joined {
		name := letters.Isolate("“" + letters.OneLine(s.refs[0].Name) + "”")
		c.caption = append(c.caption, "Filled: the interval does not touch the line "+name+".")
	}
	if s.crossed.Column != "" {
		name := letters.Isolate("“" + letters.OneLine(s.crossed.Value) + "”")
		c.caption = append(c.caption, fmt.Sprintf("Crossed: %s (%d of %d).", name, n, len(crossed)))
	}
	return c, nil
}

func (sc *scene) forest(p *panel, rows, levels []string, at cells, crossed map[[2]string]bool, lanes int,
	s *options) {
	th := s.theme
	band := (p.b - p.t) / p.y.high
	sc.references(p, s.refs, true, 1.2)
	for i, row := range rows {
		if s.joined {
			sc.joined(p, row, levels, at, p.t+(float64(i)+0.5)*band)
			continue
		}
		for j, level := range levels {
			k := [2]string{row, level}
			v, known := at[k]
			if !known {
				continue
			}
			y := p.t + (float64(i)+0.5)*band
			if lanes > 1 {
				y += (float64(j) - float64(lanes-1)/2) * min(15, band*0.8/float64(lanes))
			}
			if v.none() {
				sc.text(p.r+10, y, "no data", th.Small, th.Muted, start)
				continue
			}
			sc.behind(p, k, p.l, y-min(7, band/2), p.r-p.l, min(14, band))
			color := th.Series[j]
			if v.interval() {
				sc.add(path{Points: []pt{{p.px(v.low), y}, {p.px(v.high), y}}, Stroke: color, Width: 2,
					Dash: crossed[k]})
			}
			fill := color
			if len(s.refs) > 0 && v.interval() && v.low <= s.refs[0].At && v.high >= s.refs[0].At {
				fill = th.Paper
			}
			if crossed[k] {
				sc.cross(pt{p.px(v.v), y}, 4.5, color)
			} else {
				sc.mark(j, pt{p.px(v.v), y}, 4.5, fill, color)
			}
			sc.text(p.r+10, y, s.withInterval(v), th.Small, th.Ink, start)
		}
	}
}

// joined draws the marks of a row on one line, the line first.
func (sc *scene) joined(p *panel, row string, levels []string, at cells, y float64) {
	th := sc.theme
	ends := []float64{math.Inf(1), math.Inf(-1)}
	for _, level := range levels {
		if v, known := at[[2]string{row, level}]; known && !v.none() {
			ends[0], ends[1] = min(ends[0], p.px(v.v)), max(ends[1], p.px(v.v))
		}
	}
	if ends[0] > ends[1] {
		sc.text(p.l+5, y, "no data", th.Small, th.Muted, start)
		return
	}
	sc.line(mix(th.Rule, th.Muted, 0.4), 2, pt{ends[0], y}, pt{ends[1], y})
	for j, level := range levels {
		if v, known := at[[2]string{row, level}]; known && !v.none() {
			apart := 3 * (float64(j) - float64(len(levels)-1)/2) // marks at one value are all seen
			sc.mark(j, pt{p.px(v.v), y + apart}, 4.5, th.Series[j], th.Paper)
			sc.behind(p, [2]string{row, level}, p.px(v.v)-6, y+apart-6, 12, 12)
		}
	}
}

// withInterval writes a value as 0.53 [0.48, 0.58].
func (s *options) withInterval(v value) string {
	if !v.interval() {
		return s.write(v.v)
	}
	return fmt.Sprintf("%s [%s, %s]", s.write(v.v), s.write(v.low), s.write(v.high))
}
