package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/plots/internal/letters"
)

// Scatter draws a mark for each row of a table at the number columns X and Y, with a color and a shape for each value
// of Label. The value is also written next to the mark where it fits. With Series, color and shape are those of
// another column; with Shade, the color is that of a number column; marks are then named only where Label is set.
// Whiskers show the intervals of both columns. The axes extend a little beyond the data and end in ticks.
//
// Radius draws a circle around each mark that has a value in it, in the units of the axes, which then have one scale:
// the balls of disparity.Hyperspheres, where vectors have two components.
//
// Fits is a table with a row for each panel, found by the columns Panels and PanelRows, or with one row. Its columns
// pearson, r_squared and n_used are written into the panel, and slope and intercept are drawn as a line. The metric
// cococrola-correlations returns such a table.
//
// Figure 4 of the Decomposed-DIG paper: X: "precision", Y: "coverage", Label: "region", Panels: "vector"; Figure 12 has
// PanelRows: "template" as well.
type Scatter struct {
	Table      datasets.Table
	X, Y       string // number columns
	Label      string // column that names the marks (default: the first text column that names rows)
	Series     string // column of colors and shapes (default: Label)
	Shade      string // number column of colors, with its scale in the legend
	Radius     string // number column of the radii of circles around the marks
	Panels     string // column with a panel for each value
	PanelRows  string // column with a row of panels for each value; Panels then has a column for each
	Order      Order  // order of the values of columns
	Title      string
	XLabel     string // with the unit
	YLabel     string // with the unit
	XLimits    Range
	YLimits    Range
	FreeLimits bool           // panels have separate limits
	Percent    bool           // X, Y and Shade are times 100; limits and lines are then in percent
	Lines      []Line         // straight lines in every panel, for example the diagonal {1, 0, "equal in both"}
	Fits       datasets.Table // fitted lines, from another table
	Interval   string         // kind of the intervals (default: the text column "interval")
	Note       string         // first sentence of the caption
	Theme      Theme

	Browse datasets.Table // images: below the figure, a page on which a click on a mark selects those of its group
}

func (f Scatter) figure() drawer {
	return figure{fmt.Sprintf("scatter of %q and %q", f.X, f.Y), f.Table, [][2]string{{"X", f.X}, {"Y", f.Y}}, options{
		label: f.Label, series: f.Series, shade: f.Shade, radius: f.Radius, panels: f.Panels,
		panelRows: f.PanelRows, order: f.Order,
		title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, xlim: f.XLimits, ylim: f.YLimits, free: f.FreeLimits,
		percent: f.Percent, lines: f.Lines, fits: f.Fits, interval: f.Interval, note: f.Note, images: f.Browse,
		theme: f.Theme,
	}, func(frame *datasets.Frame, s *options) (drawing, error) { return buildScatter(frame, f.X, f.Y, s) }}
}

// style is the appearance of the rows of a scatter.
type style struct {
	column string // of colors and shapes; "" = all alike
	levels []string
	of     []string // the level of each row
	names  []string // next to the marks
	colors *ramp    // of the column of Shade, in place of the levels' colors
	shades []value
}

func (s *options) style(f *datasets.Frame) (*style, error) {
	l := &style{column: cmp.Or(s.series, s.label)}
	if l.column == "" && s.shade == "" {
		if candidates := nameColumns(f, s.panelRows, s.panels); len(candidates) > 0 {
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
	most := len(s.theme.Series) * markKinds // colors × shapes: both go on with each level
	for n := 1; n < most; n++ {
		if n%len(s.theme.Series) == 0 && n%markKinds == 0 {
			most = n
		}
	}
	if len(l.levels) > most {
		return nil, fmt.Errorf("column %q has %d values: at most %d marks are distinguishable; use Where, or set "+
			"Series to the column of colors", l.column, len(l.levels), most)
	}
	if l.names, err = optional(f, s.label); err != nil {
		return nil, err
	}
	if s.shade == "" {
		return l, nil
	}
	l.shades, err = s.read(f, s.shade)
	l.colors = s.ramp(l.shades, 0.25) // the smallest value is visible
	return l, err
}

// pointsOf reads the points, in the order of the rows. One without a value, or without a color, has no place.
func (s *options) pointsOf(f *datasets.Frame, x, y string) (points []point, look *style, err error) {
	xs, ys, radii := or(s.read(f, x))(&err), or(s.read(f, y))(&err), []value(nil)
	if s.radius != "" {
		radii = or(s.read(f, s.radius))(&err)
		if s.free && err == nil {
			err = fmt.Errorf("Radius needs axes of one scale: leave FreeLimits out")
		}
	}
	look = or(s.style(f))(&err)
	if err != nil {
		return nil, nil, err
	}
	at := index(look.levels)
	for r := range xs {
		j := at[look.of[r]]
		q := point{row: r, x: xs[r], y: ys[r], circle: [2]value{xs[r], ys[r]}, name: look.names[r], group: look.of[r],
			kind: j % markKinds, color: s.theme.Series[j%len(s.theme.Series)]}
		if radii != nil {
			q.circle = [2]value{xs[r].around(radii[r].v), ys[r].around(radii[r].v)}
		}
		if look.colors != nil && look.shades[r].none() {
			q.x = missing
		} else if look.colors != nil {
			q.color = look.colors.color(look.shades[r].v)
		}
		points = append(points, q)
	}
	return points, look, nil
}

func buildScatter(f *datasets.Frame, x, y string, s *options) (drawing, error) {
	points, look, err := s.pointsOf(f, x, y)
	panels := or(s.split(f, 3))(&err)
	if err != nil {
		return nil, err
	}
	fits, err := s.fitsOf(panels)
	if err != nil {
		return nil, err
	}
	title := y + " and " + x
	if look.column != "" {
		title += " by " + look.column
	}
	c := s.chart(panels, title, x, y)
	c.right, c.ramp, c.rampName, c.equal = 8, look.colors, spaced(s.shade), s.radius != ""
	c.xname, c.yname = s.axis(s.xlabel, x), s.axis(s.ylabel, y)
	c.height = []float64{330, 260, 190}[min(panels.columns, 3)-1]
	var none []string
	outside, whiskers := 0, false
	err = c.fill(panels, func(i int, rows []int) (*panel, error) {
		p := s.around(scope(s, points, rows), panels.columns)
		var drawn []point
		for _, r := range rows {
			q := points[r]
			switch {
			case q.x.none() || q.y.none():
				none = append(none, letters.Isolate(strings.TrimSpace(cmp.Or(q.name, q.group)+" "+panels.name(i))))
			case !p.x.holds(q.x.v) || !p.y.holds(q.y.v):
				outside++
			default:
				drawn = append(drawn, q)
				whiskers = whiskers || q.x.interval() || q.y.interval()
			}
		}
		p.draw = func(sc *scene, p *panel) {
			sc.straights(p, append(slices.Clone(s.lines), fits[i].lines...))
			if s.radius != "" {
				sc.circles(p, drawn)
			}
			sc.points(p, drawn, fits[i].text)
		}
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	c.scatterKeys(look, s.lines)
	after := len(c.caption) + 1
	c.sentences(s, f, x, whiskers, none)
	if counts(f, all(f.Len())) == "" {
		c.caption = slices.Insert(c.caption, after, fmt.Sprintf("n = %d points.", f.Len()-len(none)-outside))
	}
	if slices.ContainsFunc(fits, func(fit panelFit) bool { return fit.lines != nil }) {
		c.caption = append(c.caption, "Solid line: the fit.")
	}
	if s.radius != "" {
		c.caption = append(c.caption, "Circles: "+s.radius+".")
	}
	c.say(outside, "%d points are outside the axes.")
	return c, nil
}

// around returns a panel, one of so many side by side, whose axes hold points with their circles.
func (s *options) around(points []point, columns int) *panel {
	var x, y []value
	for _, q := range points {
		x, y = append(x, q.circle[0]), append(y, q.circle[1])
	}
	ticks := 5
	if columns > 2 {
		ticks = 4
	}
	return &panel{x: snugAxis(x, s.xlim, ticks, 0.02), y: snugAxis(y, s.ylim, ticks, 0.02)}
}

// scatterKeys adds the marks and the named lines to the legend.
func (c *chart) scatterKeys(look *style, lines []Line) {
	c.seriesKeys(look.column, look.levels, func(i int) int { return i % markKinds })
	for i := range c.keys {
		if look.colors != nil {
			c.keys[i].color = c.theme.Muted
		}
	}
	for _, l := range lines {
		if l.Name != "" {
			c.keys = append(c.keys, key{letters.OneLine(l.Name), c.theme.Ink, dashed})
		}
	}
}

type point struct {
	row    int
	x, y   value
	circle [2]value // its lowest and highest value on each axis
	name   string   // next to the mark
	group  string   // of its color and shape
	kind   int
	color  color.NRGBA
}

// around returns a value with the interval of a circle of a radius; without a radius there is none.
func (v value) around(radius float64) value { return value{v.v, v.v - radius, v.v + radius} }

// circles draws the circles of points, cut off at the edge of the panel.
func (sc *scene) circles(p *panel, points []point) {
	for _, q := range points {
		if !q.circle[0].interval() {
			continue
		}
		tint := q.color
		tint.A = 30
		ring, edge := mix(q.color, sc.theme.Paper, 0.3), q.circle[0].high
		if x, y := q.circle[0], q.circle[1]; p.x.holds(x.low) && p.x.holds(x.high) && p.y.holds(y.low) &&
			p.y.holds(y.high) {
			sc.add(disc{At: pt{p.px(x.v), p.py(y.v)}, Radius: p.px(edge) - p.px(x.v), Stroke: ring, Width: 1,
				Fill: tint})
			continue
		}
		part := path{Closed: true, Stroke: ring, Width: 1, Fill: tint}
		for i := range 72 {
			sin, cos := math.Sincos(float64(i) * math.Pi / 36)
			part.Points = append(part.Points, pt{p.px(q.x.v + (edge-q.x.v)*cos), p.py(q.y.v + (edge-q.x.v)*sin)})
		}
		sc.add(part)
	}
}

// points draws whiskers, then marks, then the lines of a note in the corner with fewest marks, then the names that
// fit.
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
		sc.areas = append(sc.areas, area{p.px(q.x.v) - 7, p.py(q.y.v) - 7, 14, 14, q.row})
	}
	taken = append(taken, sc.corner(p, note, taken))
	for _, q := range points {
		if q.name == "" {
			continue
		}
		x, y, w, h := p.px(q.x.v), p.py(q.y.v), letters.Measure(q.name, th.Small, false), th.Small
		ends := rect{-r, -r, r, r} // of the mark with its whiskers
		if q.x.interval() {
			ends.l, ends.r = min(-r, p.px(q.x.low)-x), max(r, p.px(q.x.high)-x)
		}
		if q.y.interval() {
			ends.t, ends.b = min(-r, p.py(q.y.high)-y), max(r, p.py(q.y.low)-y)
		}
		places := []pt{{r + 3, -h / 2}, {-r - 3 - w, -h / 2}, {r, -h - r}, {r, r}, {-w - r, -h - r}, {-w - r, r},
			{ends.r + 3, -h / 2}, {ends.l - 3 - w, -h / 2}, {-w / 2, ends.t - 2 - h}, {-w / 2, ends.b + 2},
			{0, ends.t - 2 - h}, {0, ends.b + 2}, {-w, ends.t - 2 - h}, {-w, ends.b + 2}}
		for _, place := range places {
			box := rect{x + place[0], y + place[1], x + place[0] + w, y + place[1] + h}
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
	return slices.ContainsFunc(others, func(b rect) bool {
		return a.l < b.r && b.l < a.r && a.t < b.b && b.t < a.b
	})
}

// scope returns the values that the axes of a panel hold: all, or with FreeLimits those of its rows.
func scope[V any](s *options, values []V, rows []int) []V {
	if !s.free {
		return values
	}
	out := make([]V, len(rows))
	for i, r := range rows {
		out[i] = values[r]
	}
	return out
}
