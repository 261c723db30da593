package plots

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// Lines joins the rows of each value of [Series] in the order of the number column x, with a mark at each value of y
// and a pale band for its interval. A missing value breaks the line and is named in the caption.
func Lines(t datasets.Table, x, y string, options ...Option) Figure {
	return figure(fmt.Sprintf("lines of %q over %q", y, x), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildLines(f, x, y, s)
	})
}

func buildLines(f *datasets.Frame, x, y string, s *settings) (drawing, error) {
	at, err := f.Need(x, client.Number)
	if err != nil {
		return nil, err
	}
	v, err := values(f, y)
	if err != nil {
		return nil, err
	}
	var xs []value
	for i, n := range at.Numbers {
		if !finite(n) {
			return nil, fmt.Errorf("column %q holds no finite number in %s: a line needs its place", x, rowName(f, i))
		}
		xs = append(xs, value{n, n, n})
	}
	seriesOf, err := optional(f, s.series)
	if err != nil {
		return nil, err
	}
	levels := s.levels(s.series, seriesOf)
	if len(levels) > len(s.theme.Series) {
		return nil, fmt.Errorf("column %q has %d values: at most %d colours can be told apart; use Panels or Where", s.series, len(levels), len(s.theme.Series))
	}
	panels, err := s.split(f, 2)
	if err != nil {
		return nil, err
	}
	c := &chart{theme: s.theme, title: or(s.title, y+" over "+x), columns: panels.columns, heads: panels.heads, sides: panels.sides,
		xname: or(s.xname, x), yname: or(s.yname, y), own: s.free, height: 250, right: 10}
	var none []string
	bands := false
	for i, rows := range panels.rows {
		px, py := xs, v
		if s.free {
			px, py = choose(xs, rows), choose(v, rows)
		}
		p := &panel{title: panels.titles[i], x: snugAxis(px, s.xlim, 7, 0), y: shareAxis(py, or(s.ylim, s.limits), s.free, 5)}
		lines := make([][]int, len(levels))
		of := index(levels)
		for _, r := range rows {
			j := of[seriesOf[r]]
			lines[j] = append(lines[j], r)
			bands = bands || v[r].interval()
			if v[r].none() {
				none = append(none, isolate(strings.TrimSpace(seriesOf[r]+" at "+short(xs[r].v))))
			}
		}
		for _, l := range lines {
			slices.SortStableFunc(l, func(a, b int) int {
				switch {
				case xs[a].v < xs[b].v:
					return -1
				case xs[a].v > xs[b].v:
					return 1
				}
				return 0
			})
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
	c.sentences(s, f, y, bands, none)
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
