package plots

import (
	"fmt"
	"image/color"
	"math"

	"antipode/datasets"
)

// Heat draws a table of coloured cells: a row for each value of the column of [Rows], a column for each value of
// [Columns] (else the first two text columns that name rows), the number in the cell where it fits. Colours go from white
// at the smallest value to dark at the largest, or between [Limits]; with [Reference] they part at that value: darker
// blue above it, darker orange below it.
func Heat(t datasets.Table, value string, options ...Option) Figure {
	return figure(fmt.Sprintf("heat table of %q", value), t, options, func(f *datasets.Frame, s *settings) (drawing, error) {
		return buildHeat(f, value, s)
	})
}

// ramp gives colours to values.
type ramp struct {
	low, high float64
	ref       *reference
	theme     Theme
	write     func(float64) string
}

func (r ramp) color(v float64) color.NRGBA {
	if r.ref == nil {
		return mix(r.theme.Paper, r.theme.High, min(max((v-r.low)/(r.high-r.low), 0), 1))
	}
	reach := max(r.high-r.ref.at, r.ref.at-r.low)
	t := min(max((v-r.ref.at)/reach, -1), 1)
	if t < 0 {
		return mix(r.theme.Paper, r.theme.Low, -t)
	}
	return mix(r.theme.Paper, r.theme.High, t)
}

func buildHeat(f *datasets.Frame, column string, s *settings) (drawing, error) {
	v, err := values(f, column)
	if err != nil {
		return nil, err
	}
	down, across := s.rows, s.columns
	candidates := nameColumns(f, down, across)
	for _, c := range []*string{&down, &across} {
		if *c == "" {
			if len(candidates) == 0 {
				return nil, fmt.Errorf("a heat table needs two columns of names (there are: %s); give them with Rows and Columns", list(columnNames(f), 20))
			}
			*c, candidates = candidates[0], candidates[1:]
		}
	}
	rowOf, err := names(f, down)
	if err != nil {
		return nil, err
	}
	columnOf, err := names(f, across)
	if err != nil {
		return nil, err
	}
	rows, columns := s.levels(down, rowOf), s.levels(across, columnOf)
	if len(rows)*len(columns) > 10_000 || len(columns) > 100 {
		return nil, fmt.Errorf("%d rows × %d columns: at most 100 columns and 10,000 cells can be seen; use Where", len(rows), len(columns))
	}
	at := cells{}
	colors := ramp{low: math.Inf(1), high: math.Inf(-1), theme: s.theme, write: digits(v)}
	whiskers := false
	for i := range v {
		k := [2]string{rowOf[i], columnOf[i]}
		if _, twice := at[k]; twice {
			return nil, fmt.Errorf("two rows for %s %q, %s %q: %s is the second; use Where", down, k[0], across, k[1], rowName(f, i))
		}
		at[k] = v[i]
		if !v[i].none() {
			colors.low, colors.high = min(colors.low, v[i].v), max(colors.high, v[i].v)
		}
		whiskers = whiskers || v[i].interval()
	}
	if s.limits != nil {
		colors.low, colors.high = s.limits[0], s.limits[1]
	}
	if len(s.refs) > 0 {
		colors.ref = &s.refs[0]
		colors.low, colors.high = min(colors.low, colors.ref.at), max(colors.high, colors.ref.at)
	}
	if colors.low >= colors.high {
		colors.low, colors.high = colors.low-0.5, colors.high+0.5
	}
	if s.sorted {
		rows = sortBars(rows, columns, at)
	}
	c := &chart{theme: s.theme, title: or(s.title, fmt.Sprintf("%s by %s and %s", column, down, across)), columns: 1, ramp: &colors}
	c.xname, c.yname = or(s.xname, across), or(s.yname, down)
	c.turned = !fitsBelow(columns, s.theme, 1, 1)
	p := &panel{x: bandAxis(columns), y: bandAxis(reversed(rows))}
	var none []string
	for _, r := range rows {
		for _, col := range columns {
			if w, known := at[[2]string{r, col}]; !known || w.none() {
				none = append(none, isolate(r+" × "+col))
			}
		}
	}
	p.draw = func(sc *scene, p *panel) { sc.heat(p, rows, columns, at, colors) }
	c.panels = []*panel{p}
	c.height = min(max(float64(len(rows))*28, 40), max(560, float64(len(rows))*15))
	if s.note != "" {
		c.caption = append(c.caption, isolate(oneLine(s.note)))
	}
	if whiskers {
		c.caption = append(c.caption, "Intervals stand in the table and are not drawn.")
	}
	c.caption = append(c.caption, counts(f, all(f.Len())))
	if len(none) > 0 {
		c.keys = append(c.keys, key{"no data", s.theme.Muted, hatched})
		c.caption = append(c.caption, fmt.Sprintf("No data: %s.", list(none, 4)))
	}
	return c, nil
}

func (sc *scene) heat(p *panel, rows, columns []string, at cells, colors ramp) {
	th := sc.theme
	w, h := (p.r-p.l)/float64(len(columns)), (p.b-p.t)/float64(len(rows))
	size := min(th.Small, h-3)
	for _, v := range at {
		if !v.none() {
			size = min(size, th.Small*(w-3)/(measure(colors.write(v.v), th.Small, false)))
		}
	}
	for i, r := range rows {
		for j, c := range columns {
			x, y := p.l+float64(j)*w, p.t+float64(i)*h
			v, known := at[[2]string{r, c}]
			if !known || v.none() {
				sc.hatch(x+.5, y+.5, w-1, h-1)
				continue
			}
			fill := colors.color(v.v)
			sc.box(x+.5, y+.5, w-1, h-1, fill)
			ink := th.Ink
			if th.dark(fill) {
				ink = th.Paper
			}
			if size >= 7 {
				sc.text(x+w/2, y+h/2, colors.write(v.v), size, ink, middle)
			}
		}
	}
}

// draw puts the scale of colours into the legend and gives the x right of it.
func (r ramp) draw(s *scene, x, mid float64) float64 {
	th := s.theme
	low, high := r.write(r.low), r.write(r.high)
	s.text(x, mid, low, th.Text, th.Ink, start)
	x += measure(low, th.Text, false) + 6
	const steps, wide = 24, 120.0
	for i := range steps {
		v := r.low + (r.high-r.low)*(float64(i)+0.5)/steps
		s.box(x+float64(i)*wide/steps, mid-6, wide/steps+0.3, 12, r.color(v))
	}
	s.add(path{points: []pt{{x, mid - 6}, {x + wide, mid - 6}, {x + wide, mid + 6}, {x, mid + 6}}, closed: true, stroke: th.Rule, width: 1})
	s.text(x+wide+6, mid, high, th.Text, th.Ink, start)
	end := x + wide + 6 + measure(high, th.Text, false) + 16
	if r.ref != nil {
		at := x + wide*(r.ref.at-r.low)/(r.high-r.low)
		s.line(th.Ink, 1.2, pt{at, mid - 8}, pt{at, mid + 8})
		name := fmt.Sprintf("| %s (%s)", r.ref.name, short(r.ref.at))
		s.text(end, mid, name, th.Text, th.Ink, start)
		end += measure(name, th.Text, false) + 16
	}
	return end
}
