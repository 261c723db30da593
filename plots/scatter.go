package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
)

// Scatter draws a mark for each row at two value columns, with a colour and a shape for each value of the column of
// [Label] (else the first text column that names rows), which also stands beside the mark where there is room. With
// [Series] colour and shape are those of another column, with [Shade] the colour is that of a number; marks then have
// names only where Label says so. Whiskers show the interval columns of both. The axes reach a little beyond the data, end
// in ticks, and are shared by all panels. [Line] draws a line, for example the diagonal, [Fits] what another table says
// of each panel.
//
// Figure 4 of the Decomposed-DIG paper: Scatter(t, "precision", "coverage", Label("region"), Panels("setup")); Figure 12:
// Panels("template", "setup").
func Scatter(t datasets.Table, x, y string, options ...Option) Figure {
	return figure(fmt.Sprintf("scatter of %q and %q", x, y), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildScatter(f, x, y, s)
	})
}

// looks says how the rows of a scatter are drawn.
type looks struct {
	column string // of colours and shapes; "" = all alike
	levels []string
	of     []string // the level of each row
	names  []string // beside the marks
	colors *ramp    // of the column of Shade, in place of the levels' colours
	shades []value
}

func (s *settings) looks(f *datasets.Frame) (*looks, error) {
	l := &looks{column: or(s.series, s.label)}
	if l.column == "" && s.shade == "" {
		if candidates := nameColumns(f, s.panels...); len(candidates) > 0 {
			l.column, s.label = candidates[0], candidates[0]
		}
	}
	if s.shade != "" {
		l.column = s.series
	}
	var err error
	if l.of, err = optional(f, l.column); err != nil {
		return nil, err
	}
	l.levels = s.levels(l.column, l.of)
	const most = 24 // colours × shapes before one comes twice
	if len(l.levels) > most {
		return nil, fmt.Errorf("column %q has %d values: at most %d marks can be told apart; use Where, or Series for the column of colours", l.column, len(l.levels), most)
	}
	if l.names, err = optional(f, s.label); err != nil {
		return nil, err
	}
	if s.shade == "" {
		return l, nil
	}
	if l.shades, err = s.read(f, s.shade); err != nil {
		return nil, err
	}
	pale := s.theme
	pale.Paper = mix(s.theme.Paper, s.theme.High, 0.25) // the smallest value is seen, too
	l.colors = &ramp{low: math.Inf(1), high: math.Inf(-1), theme: pale, write: digits(l.shades)}
	for _, v := range l.shades {
		if !v.none() {
			l.colors.low, l.colors.high = min(l.colors.low, v.v), max(l.colors.high, v.v)
		}
	}
	if l.colors.low >= l.colors.high {
		l.colors.low, l.colors.high = l.colors.low-0.5, l.colors.high+0.5
	}
	return l, nil
}

func buildScatter(f *datasets.Frame, x, y string, s *settings) (drawing, error) {
	xs, err := s.read(f, x)
	if err != nil {
		return nil, err
	}
	ys, err := s.read(f, y)
	if err != nil {
		return nil, err
	}
	look, err := s.looks(f)
	if err != nil {
		return nil, err
	}
	panels, err := s.split(f, 3)
	if err != nil {
		return nil, err
	}
	fits, err := s.fitsOf(panels)
	if err != nil {
		return nil, err
	}
	c := &chart{theme: s.theme, title: s.title, columns: panels.columns, heads: panels.heads, sides: panels.sides, own: s.free, right: 8, ramp: look.colors, rampName: s.shade}
	if c.title == "" {
		c.title = y + " and " + x
		if look.column != "" {
			c.title += " by " + look.column
		}
	}
	c.xname, c.yname = or(s.xname, x), or(s.yname, y)
	xlim, ylim := or(s.xlim, s.limits), or(s.ylim, s.limits)
	at := index(look.levels)
	var none []string
	outside, whiskers := 0, false
	for i, rows := range panels.rows {
		if rows == nil && panels.heads != nil {
			c.panels = append(c.panels, nil)
			continue
		}
		px, py := xs, ys
		if s.free {
			px, py = choose(xs, rows), choose(ys, rows)
		}
		ticks := 5
		if panels.columns > 2 {
			ticks = 4
		}
		p := &panel{title: panels.titles[i], x: snugAxis(px, xlim, ticks, 0.02), y: snugAxis(py, ylim, ticks, 0.02)}
		var points []point
		for _, r := range rows {
			switch {
			case xs[r].none() || ys[r].none() || look.shades != nil && look.shades[r].none():
				none = append(none, isolate(strings.TrimSpace(or(look.names[r], look.of[r])+" "+p.title)))
			case !p.x.holds(xs[r].v) || !p.y.holds(ys[r].v):
				outside++
			default:
				q := point{x: xs[r], y: ys[r], name: look.names[r], kind: at[look.of[r]] % markKinds, color: s.theme.Series[at[look.of[r]]%len(s.theme.Series)]}
				if look.colors != nil {
					q.color = look.colors.color(look.shades[r].v)
				}
				points = append(points, q)
				whiskers = whiskers || xs[r].interval() || ys[r].interval()
			}
		}
		p.draw = func(sc *scene, p *panel) {
			sc.straights(p, append(slices.Clone(s.lines), fits[i].lines...))
			sc.points(p, points, fits[i].text)
		}
		c.panels = append(c.panels, p)
	}
	if look.column != "" {
		for i, l := range look.levels {
			k := key{l, s.theme.Series[i%len(s.theme.Series)], i % markKinds}
			if look.colors != nil {
				k.color = s.theme.Muted
			}
			c.keys = append(c.keys, k)
		}
	}
	for _, l := range s.lines {
		if l.name != "" {
			c.keys = append(c.keys, key{oneLine(l.name), s.theme.Ink, dashed})
		}
	}
	c.height = 330
	switch {
	case panels.columns > 2:
		c.height = 190
	case panels.columns == 2:
		c.height = 260
	}
	c.sentences(s, f, x, whiskers, none)
	for i, sentence := range c.caption {
		if sentence == noCounts {
			c.caption[i] = fmt.Sprintf("n = %d points.", f.Len()-len(none)-outside)
		}
	}
	if slices.ContainsFunc(fits, func(fit panelFit) bool { return fit.lines != nil }) {
		c.caption = append(c.caption, "Unbroken line: the fit.")
	}
	if outside > 0 {
		c.caption = append(c.caption, fmt.Sprintf("%d points lie outside the axes.", outside))
	}
	return c, nil
}

type point struct {
	x, y  value
	name  string
	kind  int
	color color.NRGBA
}

// points draws whiskers, then marks, then the lines of a note in the corner with fewest marks, then the names that find
// room.
func (sc *scene) points(p *panel, points []point, note []string) {
	th := sc.theme
	var taken []rect
	r := 5.0
	if len(points) > 60 {
		r = 4
	}
	if len(points) > 300 {
		r = 2.5
	}
	for _, q := range points {
		x, y := p.px(q.x.v), p.py(q.y.v)
		pale := mix(q.color, th.Paper, 0.25)
		if q.x.interval() {
			a, b := p.px(q.x.low), p.px(q.x.high)
			sc.line(pale, 1.3, pt{a, y}, pt{b, y})
			taken = append(taken, rect{a, y - 1, b, y + 1})
		}
		if q.y.interval() {
			a, b := p.py(q.y.high), p.py(q.y.low)
			sc.line(pale, 1.3, pt{x, a}, pt{x, b})
			taken = append(taken, rect{x - 1, a, x + 1, b})
		}
		taken = append(taken, rect{x - r, y - r, x + r, y + r})
	}
	for _, q := range points {
		sc.mark(q.kind, pt{p.px(q.x.v), p.py(q.y.v)}, r, q.color, th.Paper)
	}
	taken = append(taken, sc.corner(p, note, taken))
	for _, q := range points {
		if q.name == "" {
			continue
		}
		x, y, w, h := p.px(q.x.v), p.py(q.y.v), measure(q.name, th.Small, false), th.Small
		ends := rect{-r, -r, r, r} // of the mark with its whiskers
		if q.x.interval() {
			ends.l, ends.r = min(-r, p.px(q.x.low)-x), max(r, p.px(q.x.high)-x)
		}
		if q.y.interval() {
			ends.t, ends.b = min(-r, p.py(q.y.high)-y), max(r, p.py(q.y.low)-y)
		}
		places := []pt{{r + 3, -h / 2}, {-r - 3 - w, -h / 2}, {r, -h - r}, {r, r}, {-w - r, -h - r}, {-w - r, r},
			{ends.r + 3, -h / 2}, {ends.l - 3 - w, -h / 2}, {-w / 2, ends.t - 2 - h}, {-w / 2, ends.b + 2}, {0, ends.t - 2 - h}, {0, ends.b + 2}, {-w, ends.t - 2 - h}, {-w, ends.b + 2}}
		for _, place := range places {
			box := rect{x + place.x, y + place.y, x + place.x + w, y + place.y + h}
			if box.l < p.l+2 || box.r > p.r || box.t < p.t || box.b > p.b-2 || box.hits(taken) {
				continue
			}
			sc.text(box.l, (box.t+box.b)/2, q.name, th.Small, mix(q.color, th.Ink, 0.55), start)
			taken = append(taken, box)
			break
		}
	}
}

type rect struct{ l, t, r, b float64 }

func (a rect) hits(others []rect) bool {
	for _, b := range others {
		if a.l < b.r && b.l < a.r && a.t < b.b && b.t < a.b {
			return true
		}
	}
	return false
}

func choose(values []value, rows []int) []value {
	out := make([]value, len(rows))
	for i, r := range rows {
		out[i] = values[r]
	}
	return out
}

// or gives the first value unless it is zero, then the second.
func or[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}
