package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
)

// Histogram draws the number of rows in each of a number of equal bins, as steps of one color for each value of Series.
// A value on the border of two bins counts in the upper one, the largest value in the last one. All panels share their
// axes.
//
// Figure 6 of the CoCo-CroLa paper: X: "cross_consistency", PanelRows: "language", Panels: "model", Bins: 50,
// XLimits: {0, 1}.
type Histogram struct {
	Table      datasets.Table
	X          string // number column
	Series     string // column with a color for each value
	Panels     string // column with a panel for each value
	PanelRows  string // column with a row of panels for each value; Panels then has a column for each
	Order      Order  // order of the values of columns
	Bins       int    // number of bins (default: the square root of the number of rows, 5 to 40)
	Stacked    bool   // series are on top of each other
	Title      string
	XLabel     string // with the unit
	YLabel     string // default: rows
	XLimits    Range
	YLimits    Range
	Percent    bool   // values are times 100; XLimits and References are then in percent
	References []Mark // thresholds: lines across the horizontal axis
	Note       string // first sentence of the caption
	Theme      Theme
}

func (f Histogram) figure() drawer {
	return figure{fmt.Sprintf("histogram of %q", f.X), f.Table, [][2]string{{"X", f.X}}, options{
		series: f.Series, panels: f.Panels, panelRows: f.PanelRows, order: f.Order, bins: f.Bins, stacked: f.Stacked,
		title: f.Title, xlabel: f.XLabel, ylabel: f.YLabel, xlim: f.XLimits, ylim: f.YLimits, percent: f.Percent,
		refs: f.References, note: f.Note, theme: f.Theme,
	}, func(frame *datasets.Frame, s *options) (drawing, error) { return buildHistogram(frame, f.X, s) }}
}

func buildHistogram(f *datasets.Frame, column string, s *options) (drawing, error) {
	v, err := s.read(f, column)
	if err != nil {
		return nil, err
	}
	seriesOf, levels, err := s.colored(f, s.series)
	panels := or(s.split(f, 2))(&err)
	if err != nil {
		return nil, err
	}
	if panels.heads == nil && len(panels.rows) > 4 {
		panels.columns = 1
	}
	bins := s.bins
	if bins <= 0 {
		bins = min(max(int(math.Sqrt(float64(f.Len()))), 5), 40)
	}
	points := make([]value, 0, len(v)+len(s.refs))
	for _, w := range v {
		points = append(points, single(w.v))
	}
	for _, r := range s.refs {
		points = append(points, single(r.At))
	}
	scale := snugAxis(points, s.xlim, 7, 0)
	none, inside := 0, 0
	for _, w := range v {
		if w.none() {
			none++
		} else if scale.holds(w.v) {
			inside++
		}
	}
	at, tallest := index(levels), 0
	counted := make([][][]int, len(panels.rows)) // panel, series, bin
	for i, rows := range panels.rows {
		counted[i] = scale.count(rows, bins, len(levels), func(r int) (float64, int) { return v[r].v, at[seriesOf[r]] })
		for j, bars := range counted[i] {
			for bin := range bars {
				if s.stacked && j > 0 { // each series starts where the one before it ends
					bars[bin] += counted[i][j-1][bin]
				}
				tallest = max(tallest, bars[bin])
			}
		}
	}
	c := s.chart(panels, "Histogram of "+column, column)
	c.xname, c.yname, c.height, c.right = s.axis(s.xlabel, column), cmp.Or(s.ylabel, "rows"), 220, 8
	ticks := 4
	if len(panels.rows)/panels.columns > 3 {
		c.height, ticks = 62, 2
	}
	for i := range panels.rows {
		p := &panel{title: panels.titles[i], x: scale,
			y: snugAxis([]value{single(0), single(float64(tallest))}, s.ylim, ticks, 0)}
		if panels.columns > 2 {
			p.x = numberAxis(0, 0, Range{scale.low, scale.high}, 2) // the bins' ends
		}
		p.draw = func(sc *scene, p *panel) { sc.steps(p, counted[i], s) }
		c.panels = append(c.panels, p)
	}
	c.seriesKeys(s.series, levels, func(int) int { return boxKey })
	c.refKeys(s)
	c.caption = append(c.caption, fmt.Sprintf("n = %d rows in %s.", inside, plural(bins, "bin")))
	c.say(none, "No data in %d rows.")
	c.say(len(v)-none-inside, "%d rows are outside the axis.")
	if s.ylim.set() && float64(tallest) > s.ylim.High {
		c.caption = append(c.caption, fmt.Sprintf("Bars of up to %d rows are cut off at the axis.", tallest))
	}
	return c, nil
}

// count counts the rows of each series in each bin of an axis.
func (a axis) count(rows []int, bins, series int, of func(row int) (v float64, series int)) [][]int {
	counted := make([][]int, series)
	for j := range counted {
		counted[j] = make([]int, bins)
	}
	for _, r := range rows {
		if v, j := of(r); a.holds(v) { // not NaN
			counted[j][min(int((v-a.low)/(a.high-a.low)*float64(bins)+1e-9), bins-1)]++
		}
	}
	return counted
}

// steps draws the histograms of one panel, each as an area with a stepped edge.
func (sc *scene) steps(p *panel, counted [][]int, s *options) {
	th := s.theme
	for n := range counted {
		j := n
		if s.stacked {
			j = len(counted) - 1 - n // the highest is drawn first
		}
		bins := counted[j]
		w := (p.r - p.l) / float64(len(bins))
		edge := []pt{{p.l, p.b}}
		for i, count := range bins {
			y := p.py(float64(count))
			if last := len(edge) - 1; last > 0 && edge[last][1] == y { // a flat stretch is one line
				edge[last][0] = p.l + float64(i+1)*w
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
		sc.add(path{Points: slices.Clone(edge), Closed: true, Fill: fill})
		if s.stacked {
			sc.line(th.Paper, 0.6, edge...)
			continue
		}
		sc.line(th.Series[j], 1.5, edge...)
	}
	sc.references(p, s.refs, true, 1.4)
}
