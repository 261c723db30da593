package plots

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strings"

	"antipode/plots/internal/letters"
)

// chart is a figure of one or more panels, with title, legend and caption around them.
type chart struct {
	theme        Theme
	title        string
	keys         []key
	caption      []string // sentences
	panels       []*panel // row by row; nil = an empty place
	columns      int
	heads, sides []string // names of columns and rows of panels; nil where panels have titles
	xname, yname string
	own          bool // every panel has its own axes and labels
	height       float64
	equal        bool    // a unit has one length on both axes of the panels, which sets height
	right        float64 // space to the right of every panel's data area
	turned       bool    // names below panels are slanted
	ramp         *ramp   // the scale of colors, for the legend
	above        float64 // space above the first row of panels
	rampName     string  // name of the color scale, where there are other keys
	nameSize     float64 // font size of the names along axes; 0 = that of the theme's text
}

// panel is one pair of axes.
type panel struct {
	title      string
	x, y       axis
	draw       func(s *scene, p *panel)
	rows       map[[2]string]int // of the table, by the names of a mark
	l, t, r, b float64           // the data area, in pixels
	space      float64           // width for the labels at its left
}

func (p *panel) px(v float64) float64 { return p.x.at(v, p.l, p.r) }
func (p *panel) py(v float64) float64 { return p.y.at(v, p.b, p.t) }

// key is an entry of the legend.
type key struct {
	name  string
	color color.NRGBA
	mark  int // < 0: a box; noData: hatched
}

const (
	boxKey  = -1
	hatched = -2
	dashed  = -3
	struck  = -4
	cross   = -5
)

const (
	margin       = 10
	longestSlant = 130.0 // length of slanted names
)

// chart returns a chart with the figure's title, or a default, its panels and the start of its caption.
func (s *options) chart(panels *facets, title string, columns ...string) *chart {
	return &chart{theme: s.theme, title: s.heading(title), caption: s.opening(columns...), own: s.free,
		columns: panels.columns, heads: panels.heads, sides: panels.sides}
}

// fill adds the panels, each with its title, that build makes of the rows of one. A place in rows of panels that has no
// rows stays empty.
func (c *chart) fill(panels *facets, build func(i int, rows []int) (*panel, error)) error {
	for i, rows := range panels.rows {
		if rows == nil && panels.heads != nil {
			c.panels = append(c.panels, nil)
			continue
		}
		p, err := build(i, rows)
		if err != nil {
			return err
		}
		p.title = panels.titles[i]
		c.panels = append(c.panels, p)
	}
	return nil
}

// seriesKeys adds the values of the series column to the legend.
func (c *chart) seriesKeys(column string, levels []string, mark func(i int) int) {
	if column == "" {
		return
	}
	for i, l := range levels {
		c.keys = append(c.keys, key{l, c.theme.Series[i%len(c.theme.Series)], mark(i)})
	}
}

// referred returns values and those of the reference lines, all of which an axis holds.
func (s *options) referred(values []value) []value {
	values = slices.Clip(values)
	for _, r := range s.refs {
		values = append(values, single(r.At))
	}
	return values
}

// refKeys adds the names of reference lines to the legend.
func (c *chart) refKeys(s *options) {
	for _, r := range s.refs {
		c.keys = append(c.keys, key{fmt.Sprintf("%s (%s)", letters.OneLine(r.Name), short(r.At)), s.theme.Ink, dashed})
	}
}

// across is a line over the panel at a value of its horizontal axis, or of its vertical one.
func (p *panel) across(v float64, horizontal bool) []pt {
	if horizontal {
		return []pt{{p.px(v), p.t}, {p.px(v), p.b}}
	}
	return []pt{{p.l, p.py(v)}, {p.r, p.py(v)}}
}

// references draws the reference lines that are within the value axis of a panel.
func (sc *scene) references(p *panel, refs []Mark, horizontal bool, width float64) {
	scale := p.y
	if horizontal {
		scale = p.x
	}
	for _, r := range refs {
		if scale.holds(r.At) {
			sc.add(path{Points: p.across(r.At, horizontal), Stroke: sc.theme.Ink, Width: width, Dash: true})
		}
	}
}

// at returns the panel of a row and a column; nil where there is none.
func (c *chart) at(row, column int) *panel {
	if i := row*c.columns + column; i < len(c.panels) {
		return c.panels[i]
	}
	return nil
}

// first returns the first panel of a place that has rows; nil without any.
func (c *chart) first() *panel {
	if i := slices.IndexFunc(c.panels, func(p *panel) bool { return p != nil }); i >= 0 {
		return c.panels[i]
	}
	return nil
}

// layout is where the panels are: widths, and spaces between and around them.
type layout struct{ x0, left, width, gap, between, bottom float64 }

// layout places panels, next to names of such widths, in a width.
func (c *chart) layout(wide, named, side float64) layout {
	l := layout{x0: margin + named, gap: 14, between: 8}
	l.left, l.bottom = c.margins(wide)
	lefts, first := l.left, c.first()
	if c.own {
		lefts *= float64(c.columns)
	}
	if first != nil && !first.y.bands {
		l.between = 14 // the last tick of one panel and the first of the one below
	}
	if len(c.panels) > 1 && first != nil && !first.x.bands {
		l.gap, l.between = 28, 16 // space for the last tick of one panel and the first of the next
	}
	l.width = (wide - named - side - lefts - l.gap*float64(c.columns-1)) / float64(c.columns)
	if c.equal && first != nil {
		c.height = (l.width - c.right) * (first.y.high - first.y.low) / (first.x.high - first.x.low)
	}
	return l
}

// scene draws the chart.
func (c *chart) scene() (*scene, error) {
	th := c.theme
	s := &scene{width: th.Width, title: c.title, about: strings.Join(c.caption, " "), theme: th}
	wide := th.Width - 2*margin
	y := c.legend(s, s.heading()+4) + c.above
	side, named := 0.0, 0.0
	if c.sides != nil {
		side = th.Text + 8
	}
	if c.yname != "" {
		named = th.Text + 8
	}
	l, top := c.layout(wide, named, side), y
	for row := range (len(c.panels) + c.columns - 1) / c.columns {
		y = c.row(s, l, row, y)
	}
	if c.yname != "" {
		s.add(label{At: pt{margin + th.Text - 2, (top + y - l.bottom) / 2}, Turn: -90, Anchor: middle, Size: th.Text,
			Color: th.Ink, Text: letters.Fit(c.yname, th.Text, false, y-top)})
	}
	if c.xname != "" {
		name := letters.Fit(c.xname, th.Text, false, wide)
		s.text(l.x0+l.left+(wide-named-l.left-side)/2, y+th.Text/2, name, th.Text, th.Ink, middle)
		y += th.Text + 8
	}
	return s.finish(y + 4), nil
}

// row draws a row of panels below y, with their titles and the row's name, and returns the y below it.
func (c *chart) row(s *scene, l layout, row int, y float64) float64 {
	th, head, last := c.theme, 4.0, c.own
	titles, named := make([][]string, c.columns), false
	for col := range c.columns {
		p, title := c.at(row, col), ""
		if p != nil {
			title = p.title
		}
		if row == 0 && c.heads != nil {
			title = c.heads[col]
		}
		titles[col] = letters.Wrap(title, th.Text, true, l.width+l.gap-8)
		if n := len(titles[col]); n > 0 {
			head = max(head, 1.2*th.Text*float64(n-1)+th.Text+10)
		}
		last = last || p != nil && c.at(row+1, col) == nil // its labels need space
	}
	for col := range c.columns {
		shift := l.left
		if c.own {
			shift = l.left * float64(col+1)
		}
		left := l.x0 + shift + float64(col)*(l.width+l.gap)
		right := left + l.width - c.right
		for n, line := range titles[col] {
			s.add(label{At: pt{(left + right) / 2, y + head - 6 - 1.2*th.Text*float64(len(titles[col])-1-n)},
				Text: line, Size: th.Text, Bold: true, Color: th.Ink, Anchor: middle})
		}
		p := c.at(row, col)
		if p == nil {
			continue
		}
		p.l, p.r, p.t, p.b, p.space = left, right, y+head, y+head+c.height, l.left-8
		c.axes(s, p, c.own || !named, c.own || c.at(row+1, col) == nil)
		named = true
		p.draw(s, p)
	}
	if c.sides != nil {
		s.add(label{At: pt{th.Width - margin - th.Text + 4, y + head + c.height/2}, Turn: 90, Anchor: middle,
			Bold: true, Size: th.Text, Color: th.Ink, Text: letters.Fit(c.sides[row], th.Text, true, c.height)})
	}
	if last {
		return y + head + c.height + l.bottom
	}
	return y + head + c.height + l.between
}

func (c *chart) html() (string, error) {
	s, err := c.scene()
	if err != nil {
		return "", err
	}
	return `<figure style="margin:0"><img style="max-width:100%" alt="` + html.EscapeString(s.description()) +
		`" src="` + dataURI("image/svg+xml", s.svg()) + `"></figure>`, nil
}

// margins returns the space for tick labels to the left of and below a panel.
func (c *chart) margins(wide float64) (left, bottom float64) {
	th := c.theme
	size := cmp.Or(c.nameSize, th.Text)
	for _, p := range c.panels {
		if p == nil {
			continue
		}
		for _, t := range p.y.ticks {
			left = max(left, letters.Measure(t.name, size, false))
		}
	}
	most := 0.38 * wide
	if c.own {
		most = 0.45 * wide / float64(c.columns)
	}
	left = min(left, most) + 10
	lines, slant, space := 0, 0.0, 0.0
	for _, p := range c.panels {
		if p == nil {
			continue
		}
		for _, t := range p.x.ticks {
			if c.turned {
				slant = max(slant, letters.Measure(letters.Fit(t.name, size, false, longestSlant), size, false))
				continue
			}
			if !p.x.bands {
				lines, space = max(lines, 1), 3
				continue
			}
			lines = max(lines, len(letters.Wrap(t.name, th.Text, false, c.band(p, wide, left))))
		}
	}
	if c.turned {
		return left, 14 + th.Text + slant*math.Sqrt2/2
	}
	if lines == 0 {
		return left, 10
	}
	return left, 10 + space + 1.2*th.Text*float64(lines)
}

// band returns the width of a name below a panel, before the panel has its position.
func (c *chart) band(p *panel, wide, left float64) float64 {
	lefts := left
	if c.own {
		lefts *= float64(c.columns)
	}
	return (wide-50-lefts-14*float64(c.columns-1))/float64(c.columns)/p.x.high - 6
}

// named reports which ticks below a panel are labeled: all, or every second, third, …, counted from zero, where labels
// would touch.
func (p *panel) named(size float64) []bool {
	out, zero := make([]bool, len(p.x.ticks)),
		max(0, slices.IndexFunc(p.x.ticks, func(t tick) bool { return t.at == 0 }))
	for every := 1; ; every++ {
		end, free := math.Inf(-1), true
		for i, t := range p.x.ticks {
			if out[i] = p.x.bands || (i-zero)%every == 0; out[i] && !p.x.bands {
				half := letters.Measure(t.name, size, false) / 2
				free, end = free && p.px(t.at)-half >= end+6, p.px(t.at)+half
			}
		}
		if free || every >= len(out) {
			return out
		}
	}
}

// axes draws ticks, grid lines and labels of a panel.
func (c *chart) axes(s *scene, p *panel, yLabels, xLabels bool) {
	th := c.theme
	size := cmp.Or(c.nameSize, th.Text)
	for _, t := range p.y.ticks {
		at := p.py(t.at)
		if !p.y.bands {
			s.line(th.Rule, 1, pt{p.l, at}, pt{p.r, at})
		}
		if yLabels {
			s.text(p.l-6, at, letters.Fit(t.name, size, false, p.space), size, th.Ink, end)
		}
	}
	named := p.named(th.Text)
	for i, t := range p.x.ticks {
		at := p.px(t.at)
		if !p.x.bands {
			s.line(th.Rule, 1, pt{at, p.t}, pt{at, p.b})
		}
		if !xLabels || !named[i] {
			continue
		}
		if !p.x.bands {
			s.text(at, p.b+7+th.Text/2, t.name, th.Text, th.Ink, middle)
			continue
		}
		if c.turned {
			s.add(label{At: pt{at + size/3, p.b + size}, Text: letters.Fit(t.name, size, false, longestSlant),
				Size: size, Color: th.Ink, Anchor: end, Turn: -45})
			continue
		}
		for i, line := range letters.Wrap(t.name, th.Text, false, (p.r-p.l)/p.x.high-6) {
			s.text(at, p.b+4+th.Text*(0.5+1.2*float64(i)), line, th.Text, th.Ink, middle)
		}
	}
	if p.x.bands {
		s.line(th.Ink, 1, pt{p.l, p.b}, pt{p.r, p.b})
	}
	if p.y.bands {
		s.line(th.Ink, 1, pt{p.l, p.t}, pt{p.l, p.b})
	}
	if !p.x.bands && !p.y.bands {
		s.line(th.Muted, 1, pt{p.l, p.t}, pt{p.l, p.b}, pt{p.r, p.b})
	}
}

// legend draws the keys in lines below the title and returns the y below them.
func (c *chart) legend(s *scene, y float64) float64 {
	if len(c.keys) == 0 && c.ramp == nil {
		return y
	}
	th := c.theme
	x, wide := float64(margin), th.Width-margin
	if c.ramp != nil {
		if c.rampName != "" {
			s.text(x, y+0.75*th.Text, c.rampName, th.Text, th.Ink, start)
			x += letters.Measure(c.rampName, th.Text, false) + 10
		}
		x = c.ramp.draw(s, x, y+0.75*th.Text)
	}
	for _, k := range c.keys {
		name := letters.Fit(k.name, th.Text, false, (wide-margin)/2)
		w := 20 + letters.Measure(name, th.Text, false) + 16
		if x > margin && x+w > wide+16 {
			x, y = margin, y+1.5*th.Text
		}
		mid := y + 0.75*th.Text
		switch {
		case k.mark == boxKey:
			s.box(x, mid-6, 12, 12, k.color)
		case k.mark == hatched:
			s.hatch(x, mid-6, 12, 12)
		case k.mark == struck:
			s.add(path{Points: []pt{{x, mid - 6}, {x + 12, mid - 6}, {x + 12, mid + 6}, {x, mid + 6}}, Closed: true,
				Stroke: th.Muted, Width: 0.8})
			s.strike(x, mid-6, 12, 12, k.color)
		case k.mark == cross:
			s.cross(pt{x + 6, mid}, 4, k.color)
		case k.mark == dashed:
			s.add(path{Points: []pt{{x - 2, mid}, {x + 14, mid}}, Stroke: k.color, Width: 1.4, Dash: true})
		default:
			s.mark(k.mark, pt{x + 6, mid}, 5, k.color, th.Paper)
		}
		s.text(x+18, mid, name, th.Text, th.Ink, start)
		x += w
	}
	return y + 1.5*th.Text + 6
}

// whisker draws a vertical or horizontal interval with small end lines.
func (sc *scene) whisker(from, to pt, c color.NRGBA) {
	sc.line(c, 1.3, from, to)
	const h = 3
	if from[0] == to[0] {
		sc.line(c, 1.3, pt{from[0] - h, from[1]}, pt{from[0] + h, from[1]})
		sc.line(c, 1.3, pt{to[0] - h, to[1]}, pt{to[0] + h, to[1]})
	} else {
		sc.line(c, 1.3, pt{from[0], from[1] - h}, pt{from[0], from[1] + h})
		sc.line(c, 1.3, pt{to[0], to[1] - h}, pt{to[0], to[1] + h})
	}
}
