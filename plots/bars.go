package plots

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"antipode/datasets"
)

// Bars draws a bar for each row: its length is the value column, its name the column of [X] (else the first text column
// that names rows), its colour the column of [Series] (else the second, where names repeat). Whiskers show the columns
// VALUE_low and VALUE_high. Bars whose names find no room below them lie down, and take the names of their axes with
// them. The value axis is [0, 1] where all values lie in it, and always starts at zero unless [Limits] says otherwise. A
// name that no panel of a column of panels has gets no place there. With [Sorted], [Limit] keeps the first bars.
//
// Figures 3 and 9 of the Decomposed-DIG paper: Values("coverage"), X("score"), Series("setup"), Panels("template").
// Figures 10 and 11: X("object"), Panels("setup"), Horizontal(), Sorted(), FreeLimits().
func Bars(t datasets.Table, value string, options ...Option) Figure {
	return figure(fmt.Sprintf("bars of %q", value), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		f, column, err := s.melt(f, value)
		if err != nil {
			return nil, err
		}
		return buildBars(f, column, s)
	})
}

// cells are the values of one panel by name and series.
type cells map[[2]string]value

func buildBars(f *datasets.Frame, column string, s *settings) (drawing, error) {
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
	ss, err := optional(f, series)
	if err != nil {
		return nil, err
	}
	panels, err := s.split(f, 3)
	if err != nil {
		return nil, err
	}
	c := &chart{theme: s.theme, columns: panels.columns, heads: panels.heads, sides: panels.sides, own: s.free || s.sorted && len(panels.rows) > 1}
	c.title = s.title
	if c.title == "" {
		c.title = column + " by " + x
	}
	levels := s.levels(series, ss)
	if len(levels) > len(s.theme.Series) {
		return nil, fmt.Errorf("column %q has %d values: at most %d colours can be told apart; use Panels or Where", series, len(levels), len(s.theme.Series))
	}
	bars := s.levels(x, xs)
	placed := panels.placed(bars, xs) // the names of each column of panels
	horizontal := s.horizontal
	for _, own := range placed {
		if !fitsBelow(own, s.theme, panels.columns, len(levels)) {
			slanted := len(own) < len(bars) && bandBelow(own, s.theme, panels.columns) >= max(16, 8*float64(len(levels)))
			c.turned = c.turned || slanted
			horizontal = horizontal || !slanted
		}
	}
	c.turned = c.turned && !horizontal
	if horizontal && !c.own {
		for i := range placed {
			placed[i] = bars // the names stand at the left of a row of panels, once
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
				return nil, fmt.Errorf("two rows for %s: %s is the second; name the column that tells them apart in Series or Panels, or use Where", strings.TrimSpace(x+" "+xs[r]+" "+series+" "+ss[r]), rowName(f, r))
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
		if s.sorted && s.limit > 0 && len(own) > s.limit {
			left = append(left, fmt.Sprintf("%d of %d", s.limit, len(own)))
			own = own[:s.limit]
		}
		scope := mine
		if !s.free {
			scope = v
		}
		c.panels = append(c.panels, barPanel(panels.titles[i], own, levels, at, shareAxis(scope, s.limits, s.free, 5), horizontal, s))
	}
	if series != "" {
		for i, l := range levels {
			c.keys = append(c.keys, key{l, s.theme.Series[i], boxKey})
		}
	}
	c.refKeys(s)
	c.names(s, horizontal, column)
	if horizontal && !s.horizontal { // laid down here: the axes have changed places
		c.xname, c.yname = or(s.yname, column), s.xname
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
	if s.limits != nil {
		c.cut(v, *s.limits)
		if s.limits[0] > 0 || s.limits[1] < 0 {
			c.caption = append(c.caption, "The bars do not start at zero.")
		}
	}
	return c, nil
}

// names puts the names of the axes where they belong.
func (c *chart) names(s *settings, horizontal bool, column string) {
	c.yname = column
	if horizontal {
		c.xname, c.yname = column, ""
	}
	if s.xname != "" {
		c.xname = s.xname
	}
	if s.yname != "" {
		c.yname = s.yname
	}
}

// sentences writes the caption that figures of values share.
func (c *chart) sentences(s *settings, f *datasets.Frame, column string, whiskers bool, none []string) {
	if s.note != "" {
		c.caption = append(c.caption, isolate(oneLine(s.note)))
	}
	c.caption = append(c.caption, s.kind(f, column, whiskers), counts(f, all(f.Len())))
	if s.free && len(c.panels) > 1 {
		c.caption = append(c.caption, "Panels differ in scale.")
	}
	if len(none) > 0 {
		c.caption = append(c.caption, "No data: "+list(none, 8)+".")
	}
}

// refKeys puts the names of reference lines into the legend.
func (c *chart) refKeys(s *settings) {
	for _, r := range s.refs {
		c.keys = append(c.keys, key{fmt.Sprintf("%s (%s)", oneLine(r.name), short(r.at)), s.theme.Ink, dashed})
	}
}

// cut tells of values that limits keep off the axis.
func (c *chart) cut(values []value, limits [2]float64) {
	n := 0
	for _, v := range values {
		if !v.none() && (v.bottom() < limits[0] || v.top() > limits[1]) {
			n++
		}
	}
	if n > 0 {
		c.caption = append(c.caption, fmt.Sprintf("%d values or intervals reach beyond the axis and are cut off there.", n))
	}
}

// list joins names, the first few of them.
func list(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// barColumns finds the columns of names and series: the first text column with more than one value, and where names
// repeat the first further one that tells the repeated apart.
func (s *settings) barColumns(f *datasets.Frame) (x, series string, err error) {
	x, series = s.x, s.series
	candidates := nameColumns(f, append(slices.Clone(s.panels), x, series)...)
	if x == "" {
		if len(candidates) == 0 {
			return "", "", fmt.Errorf("no text column names the rows (there are: %s); give one with X", list(columnNames(f), 20))
		}
		at := max(slices.IndexFunc(candidates, func(c string) bool { return distinct(f, c) > 1 }), 0)
		x = candidates[at]
		candidates = slices.Delete(candidates, at, at+1)
	}
	if keys := append([]string{x}, s.panels...); series == "" && distinct(f, keys...) < f.Len() {
		for _, c := range candidates {
			if distinct(f, append(keys, c)...) == f.Len() {
				return x, c, nil
			}
		}
	}
	return x, series, nil
}

// bandBelow is about how much room each of the names has below upright bars.
func bandBelow(names []string, th Theme, columns int) float64 {
	return ((th.Width-80)/float64(columns) - 30) / float64(len(names))
}

// fitsBelow says whether the names can stand below upright bars, each in at most two lines without a broken word.
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
func barPanel(title string, names, series []string, at cells, scale axis, horizontal bool, s *settings) *panel {
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
			zero := []pt{{p.l, p.py(0)}, {p.r, p.py(0)}}
			if horizontal {
				zero = []pt{{p.px(0), p.t}, {p.px(0), p.b}}
			}
			sc.line(th.Ink, 1, zero...)
		}
		for _, ref := range s.refs {
			if !scale.holds(ref.at) {
				continue
			}
			line := []pt{{p.l, p.py(ref.at)}, {p.r, p.py(ref.at)}}
			if horizontal {
				line = []pt{{p.px(ref.at), p.t}, {p.px(ref.at), p.b}}
			}
			sc.add(path{points: line, stroke: th.Ink, width: 1.2, dash: true})
		}
	}
	return p
}

func reversed(names []string) []string {
	out := slices.Clone(names)
	slices.Reverse(out)
	return out
}

func (sc *scene) tallBar(p *panel, v value, x, thick, base float64, s *settings, j int) {
	th := s.theme
	if v.none() {
		sc.add(label{at: pt{x + 0.36*th.Small, p.py(base) - 5}, text: "no data", size: th.Small, color: th.Muted, anchor: start, turn: -90})
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

func (sc *scene) flatBar(p *panel, v value, y, thick, base float64, s *settings, j int) {
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
