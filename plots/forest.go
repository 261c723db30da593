package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
)

// Forest draws a line for each row: its name (the columns of [Label], else the first text column that names rows), its
// value with the interval VALUE_low to VALUE_high, and both as text. Where [Reference] gives a line, a mark is filled if
// the whole interval lies on one side of it and hollow if the interval touches it. [Series] gives colours, [Panels]
// splits, [Sorted] orders. Use it for gaps between regions with simultaneous intervals. With [Joined] and [Series] or
// [Values] the marks of a row are joined, as default, stereotypical and other pictures of an identity are: the length of
// the line is how far they lie apart.
func Forest(t datasets.Table, value string, options ...Option) Figure {
	return figure(fmt.Sprintf("intervals of %q", value), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		f, column, err := s.melt(f, value)
		if err != nil {
			return nil, err
		}
		if len(s.values) > 0 && s.series == "" {
			s.series = "score"
		}
		return buildForest(f, column, s)
	})
}

func buildForest(f *datasets.Frame, column string, s *settings) (drawing, error) {
	v, err := s.read(f, column)
	if err != nil {
		return nil, err
	}
	s.x, s.write = s.label, digits(v)
	name, series, err := s.barColumns(f)
	if err != nil {
		return nil, err
	}
	rowOf, err := names(f, name)
	if err != nil {
		return nil, err
	}
	seriesOf, err := optional(f, series)
	if err != nil {
		return nil, err
	}
	levels := s.levels(series, seriesOf)
	if len(levels) > len(s.theme.Series) {
		return nil, fmt.Errorf("column %q has %d values: at most %d colours can be told apart; use Panels or Where", series, len(levels), len(s.theme.Series))
	}
	panels, err := s.split(f, 2)
	if err != nil {
		return nil, err
	}
	c := &chart{theme: s.theme, title: or(s.title, column+" by "+name), columns: panels.columns, heads: panels.heads, sides: panels.sides,
		xname: or(s.xname, column), yname: s.yname, own: s.free || s.sorted && len(panels.rows) > 1}
	rows := s.levels(name, rowOf)
	var none []string
	whiskers := false
	withRefs := slices.Clone(v)
	for _, r := range s.refs {
		withRefs = append(withRefs, value{r.at, r.at, r.at})
	}
	ticks := 6 / panels.columns
	for i, mine := range panels.rows {
		if mine == nil && panels.heads != nil {
			c.panels = append(c.panels, nil)
			continue
		}
		at := cells{}
		for _, r := range mine {
			k := [2]string{rowOf[r], seriesOf[r]}
			if _, twice := at[k]; twice {
				return nil, fmt.Errorf("two rows for %s: %s is the second; name the column that tells them apart in Series or Panels, or use Where", strings.TrimSpace(name+" "+k[0]+" "+series+" "+k[1]), rowName(f, r))
			}
			at[k] = v[r]
			whiskers = whiskers || v[r].interval()
			if v[r].none() {
				none = append(none, isolate(strings.TrimSpace(k[0]+" "+k[1])))
			}
			if !s.joined {
				c.right = max(c.right, 16+measure(s.withInterval(v[r]), s.theme.Small, false))
			}
		}
		own, scope := rows, withRefs
		if s.sorted {
			own = sortBars(rows, levels, at)
		}
		if s.free {
			scope = choose(v, mine)
		}
		p := &panel{title: panels.titles[i], x: snugAxis(scope, or(s.xlim, s.limits), ticks+2, 0), y: bandAxis(reversed(own))}
		p.draw = func(sc *scene, p *panel) { sc.forest(p, own, levels, at, s) }
		c.panels = append(c.panels, p)
	}
	c.height = float64(len(rows)) * max(22, 6+15*float64(len(levels)))
	if s.joined {
		c.height, c.right = float64(len(rows))*18, 8
	}
	if series != "" {
		for i, l := range levels {
			c.keys = append(c.keys, key{l, s.theme.Series[i], i % markKinds})
		}
	}
	c.refKeys(s)
	c.sentences(s, f, column, whiskers && !s.joined, none)
	for i, sentence := range c.caption {
		if s.joined && whiskers && sentence == noIntervals {
			c.caption[i] = undrawn
		}
	}
	if limits := or(s.xlim, s.limits); limits != nil {
		c.cut(v, *limits)
	}
	if len(s.refs) > 0 && whiskers && !s.joined {
		c.caption = append(c.caption, "Filled: the interval does not touch the line "+isolate("“"+oneLine(s.refs[0].name)+"”")+".")
	}
	return c, nil
}

func (sc *scene) forest(p *panel, rows, levels []string, at cells, s *settings) {
	th := s.theme
	band := (p.b - p.t) / p.y.high
	for _, ref := range s.refs {
		if p.x.holds(ref.at) {
			sc.add(path{points: []pt{{p.px(ref.at), p.t}, {p.px(ref.at), p.b}}, stroke: th.Ink, width: 1.2, dash: true})
		}
	}
	for i, row := range rows {
		if s.joined {
			sc.joined(p, row, levels, at, p.t+(float64(i)+0.5)*band)
			continue
		}
		for j, level := range levels {
			v, known := at[[2]string{row, level}]
			if !known {
				continue
			}
			y := p.t + (float64(i)+0.5)*band + (float64(j)-float64(len(levels)-1)/2)*min(15, band*0.8/float64(len(levels)))
			if v.none() {
				sc.text(p.r+10, y, "no data", th.Small, th.Muted, start)
				continue
			}
			color := th.Series[j]
			if v.interval() {
				sc.line(color, 2, pt{p.px(v.low), y}, pt{p.px(v.high), y})
			}
			fill := color
			if len(s.refs) > 0 && v.interval() && v.low <= s.refs[0].at && v.high >= s.refs[0].at {
				fill = th.Paper
			}
			sc.mark(j, pt{p.px(v.v), y}, 4.5, fill, color)
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
		}
	}
}

// withInterval writes a value as 0.53 [0.48, 0.58].
func (s *settings) withInterval(v value) string {
	if !v.interval() {
		return s.write(v.v)
	}
	return fmt.Sprintf("%s [%s, %s]", s.write(v.v), s.write(v.low), s.write(v.high))
}
