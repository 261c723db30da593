package plots

import (
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
)

// Histogram draws how many rows have a value in each of a number of equal bins, as steps of one colour for each value of
// [Series]. [Threshold] draws named lines; [Bins] sets the number of bins (else the square root of the number of rows,
// 5 to 40). A value on the border of two bins counts in the upper one, the largest value in the last one. [Stacked] puts
// the series on top of each other; [Panels] with two columns gives many small ones that share their axes.
//
// Figure 6 of the CoCo-CroLa paper: Histogram(t, "cross_consistency", Panels("language", "model"), Bins(50), XLimits(0, 1)).
func Histogram(t datasets.Table, value string, options ...Option) Figure {
	return figure(fmt.Sprintf("histogram of %q", value), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildHistogram(f, value, s)
	})
}

func buildHistogram(f *datasets.Frame, column string, s *settings) (drawing, error) {
	v, err := s.read(f, column)
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
	panels, err := s.split(f, 2)
	if err == nil && panels.heads == nil && len(panels.rows) > 4 {
		panels, err = s.split(f, 1)
	}
	if err != nil {
		return nil, err
	}
	bins := s.bins
	if bins <= 0 {
		bins = min(max(int(math.Sqrt(float64(f.Len()))), 5), 40)
	}
	points := make([]value, 0, len(v)+len(s.refs))
	none := 0
	for _, w := range v {
		points = append(points, value{w.v, math.NaN(), math.NaN()})
		if w.none() {
			none++
		}
	}
	for _, r := range s.refs {
		points = append(points, value{r.at, math.NaN(), math.NaN()})
	}
	scale := snugAxis(points, or(s.xlim, s.limits), 7, 0)
	tallest, outside := 0, 0
	counted := make([][][]int, len(panels.rows)) // panel, series, bin
	for i, rows := range panels.rows {
		counted[i] = make([][]int, len(levels))
		at := index(levels)
		for j := range levels {
			counted[i][j] = make([]int, bins)
		}
		for _, r := range rows {
			if v[r].none() {
				continue
			}
			if !scale.holds(v[r].v) {
				outside++
				continue
			}
			bin := min(int((v[r].v-scale.low)/(scale.high-scale.low)*float64(bins)), bins-1)
			counted[i][at[seriesOf[r]]][bin]++
		}
		for bin := range bins {
			if s.stacked { // each series starts where the one before it ends
				for j := 1; j < len(levels); j++ {
					counted[i][j][bin] += counted[i][j-1][bin]
				}
			}
			for j := range levels {
				tallest = max(tallest, counted[i][j][bin])
			}
		}
	}
	c := &chart{theme: s.theme, title: or(s.title, "Histogram of "+column), columns: panels.columns, heads: panels.heads, sides: panels.sides,
		xname: or(s.xname, column), yname: or(s.yname, "rows"), height: 220, right: 8}
	if len(panels.rows)/panels.columns > 3 {
		c.height = 62
	}
	for i := range panels.rows {
		p := &panel{title: panels.titles[i], x: scale, y: numberAxis(0, float64(tallest), s.ylim, 4)}
		if len(panels.rows)/panels.columns > 3 {
			p.y = numberAxis(0, float64(tallest), s.ylim, 2)
		}
		if panels.columns > 2 {
			p.x = snugAxis(points, or(s.xlim, s.limits), 2, 0)
		}
		p.draw = func(sc *scene, p *panel) { sc.steps(p, counted[i], s) }
		c.panels = append(c.panels, p)
	}
	if s.series != "" {
		for i, l := range levels {
			c.keys = append(c.keys, key{l, s.theme.Series[i], boxKey})
		}
	}
	c.refKeys(s)
	if s.note != "" {
		c.caption = append(c.caption, isolate(oneLine(s.note)))
	}
	c.caption = append(c.caption, fmt.Sprintf("n = %d rows in %d bins.", len(v)-none-outside, bins))
	if none > 0 {
		c.caption = append(c.caption, fmt.Sprintf("No data in %d rows.", none))
	}
	if outside > 0 {
		c.caption = append(c.caption, fmt.Sprintf("%d rows lie outside the axis.", outside))
	}
	return c, nil
}

// steps draws the histograms of one panel, each as an area with a stepped edge.
func (sc *scene) steps(p *panel, counted [][]int, s *settings) {
	th := s.theme
	for n := range counted {
		j := n
		if s.stacked {
			j = len(counted) - 1 - n // what reaches highest lies below
		}
		bins := counted[j]
		w := (p.r - p.l) / float64(len(bins))
		edge := []pt{{p.l, p.b}}
		for i, count := range bins {
			y := p.py(float64(count))
			if last := len(edge) - 1; last > 0 && edge[last].y == y { // a flat stretch is one line
				edge[last].x = p.l + float64(i+1)*w
				continue
			}
			edge = append(edge, pt{p.l + float64(i)*w, y}, pt{p.l + float64(i+1)*w, y})
		}
		edge = append(edge, pt{p.r, p.b})
		fill := th.Series[j]
		fill.A = 90
		if s.stacked {
			fill.A = 255
		}
		sc.add(path{points: slices.Clone(edge), closed: true, fill: fill})
		if s.stacked {
			sc.line(th.Paper, 0.6, edge...)
			continue
		}
		sc.line(th.Series[j], 1.5, edge...)
	}
	for _, r := range s.refs {
		if p.x.holds(r.at) {
			sc.add(path{points: []pt{{p.px(r.at), p.t}, {p.px(r.at), p.b}}, stroke: th.Ink, width: 1.4, dash: true})
		}
	}
}
