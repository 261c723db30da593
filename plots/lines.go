package plots

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// Lines joins the rows of each value of [Series] in the order of the column x, with a mark at each value of y and a pale
// band for its interval. x is a number column, or a text column whose values stand beside each other in table order or in
// that of [Order]. A missing value breaks the line and is named in the caption.
//
// Figures 4 and 9 of the IndicTTI paper: Lines(t, "language", "scwl", Values("dwl"), Series("model"), Panels("score")).
func Lines(t datasets.Table, x, y string, options ...Option) Figure {
	return figure(fmt.Sprintf("lines of %q over %q", y, x), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		f, column, err := s.melt(f, y)
		if err != nil {
			return nil, err
		}
		return buildLines(f, x, column, s)
	})
}

// places gives the horizontal position of each row; bands are the names there where x is text.
func (s *settings) places(f *datasets.Frame, x string) (xs []value, bands []string, err error) {
	if c := f.Column(x); c != nil && c.Kind == client.Text {
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
	at, err := f.Need(x, client.Number)
	if err != nil {
		return nil, nil, err
	}
	for i, n := range at.Numbers {
		if !finite(n) {
			return nil, nil, fmt.Errorf("column %q holds no finite number in %s: a line needs its place", x, rowName(f, i))
		}
		xs = append(xs, value{n, n, n})
	}
	return xs, nil, nil
}

func buildLines(f *datasets.Frame, x, y string, s *settings) (drawing, error) {
	xs, bands, err := s.places(f, x)
	if err != nil {
		return nil, err
	}
	v, err := s.read(f, y)
	if err != nil {
		return nil, err
	}
	seriesOf, err := optional(f, s.series)
	if err != nil {
		return nil, err
	}
	levels := s.levels(s.series, seriesOf)
	if len(levels) > len(s.theme.Series) {
		return nil, fmt.Errorf("column %q has %d values: at most %d colours can be told apart; use Panels or Where", s.series, len(levels), len(s.theme.Series))
	}
	beside := 2
	if bands != nil && !fitsBelow(bands, s.theme, beside, 1) {
		beside = 1
	}
	panels, err := s.split(f, beside)
	if err != nil {
		return nil, err
	}
	c := &chart{theme: s.theme, title: or(s.title, y+" over "+x), columns: panels.columns, heads: panels.heads, sides: panels.sides,
		xname: or(s.xname, x), yname: or(s.yname, y), own: s.free, height: 250, right: 10}
	var none []string
	shaded := false
	for i, rows := range panels.rows {
		px, py := xs, v
		if s.free {
			px, py = choose(xs, rows), choose(v, rows)
		}
		p := &panel{title: panels.titles[i], x: snugAxis(px, s.xlim, 7, 0), y: shareAxis(py, or(s.ylim, s.limits), s.free, 5)}
		if bands != nil {
			p.x = bandAxis(bands)
			c.turned = !fitsBelow(bands, s.theme, panels.columns, 1)
		}
		lines := make([][]int, len(levels))
		of := index(levels)
		for _, r := range rows {
			j := of[seriesOf[r]]
			lines[j] = append(lines[j], r)
			shaded = shaded || v[r].interval()
			if v[r].none() {
				none = append(none, isolate(strings.TrimSpace(seriesOf[r]+" at "+f.Column(x).Cell(r))))
			}
		}
		for j, l := range lines {
			slices.SortStableFunc(l, func(a, b int) int {
				switch {
				case xs[a].v < xs[b].v:
					return -1
				case xs[a].v > xs[b].v:
					return 1
				}
				return 0
			})
			for i := 1; bands != nil && i < len(l); i++ {
				if xs[l[i]].v == xs[l[i-1]].v {
					return nil, fmt.Errorf("two rows for %s: %s is the second; name the column that tells them apart in Series or Panels, or use Where", strings.TrimSpace(f.Column(x).Cell(l[i])+" "+levels[j]), rowName(f, l[i]))
				}
			}
		}
		p.draw = func(sc *scene, p *panel) {
			for j, l := range lines {
				for _, run := range runs(l, v) {
					sc.run(p, run, xs, v, j)
				}
			}
			for _, r := range s.refs {
				if p.y.holds(r.at) {
					sc.add(path{points: []pt{{p.l, p.py(r.at)}, {p.r, p.py(r.at)}}, stroke: s.theme.Ink, width: 1.2, dash: true})
				}
			}
		}
		c.panels = append(c.panels, p)
	}
	if s.series != "" {
		for i, l := range levels {
			c.keys = append(c.keys, key{l, s.theme.Series[i], i % markKinds})
		}
	}
	c.refKeys(s)
	c.sentences(s, f, y, shaded, none)
	if limits := or(s.ylim, s.limits); limits != nil {
		c.cut(v, *limits)
	}
	for i, sentence := range c.caption {
		c.caption[i] = strings.Replace(sentence, "Whiskers:", "Bands:", 1)
	}
	return c, nil
}

// runs breaks a line at missing values.
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
	for _, r := range rows {
		x := p.px(xs[r].v)
		line = append(line, pt{x, p.py(v[r].v)})
		if v[r].interval() {
			upper, lower = append(upper, pt{x, p.py(v[r].high)}), append(lower, pt{x, p.py(v[r].low)})
		}
	}
	if len(upper) > 1 {
		slices.Reverse(lower)
		pale := color
		pale.A = 50
		sc.add(path{points: append(upper, lower...), closed: true, fill: pale})
	}
	if len(line) > 1 {
		sc.line(color, 2, line...)
	}
	for _, q := range line {
		sc.mark(j, q, 4, color, sc.theme.Paper)
	}
}
