package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/plots/internal/letters"
)

type panelFit struct {
	text  []string
	lines []Line
}

func (s *options) fitsOf(panels *facets) ([]panelFit, error) {
	out := make([]panelFit, len(panels.rows))
	f := s.fitted
	if f == nil {
		return out, nil
	}
	at := map[string]int{} // panels by name
	for i := range out {
		name := panels.titles[i]
		if panels.heads != nil {
			name = panels.sides[i/panels.columns] + "\x00" + panels.heads[i%panels.columns]
		}
		at[name] = i
	}
	of := make([]string, f.Len())
	for _, column := range []string{s.panelRows, s.panels} {
		if column == "" {
			continue
		}
		n, err := names(f, column)
		if err != nil {
			return nil, fmt.Errorf("the table of Fits: %w", err)
		}
		for r := range of {
			of[r] = strings.TrimPrefix(of[r]+"\x00"+n[r], "\x00")
		}
	}
	if !slices.ContainsFunc([]string{"pearson", "r_squared", "n_used", "slope", "intercept"}, func(name string) bool {
		return f.Numbers(name) != nil
	}) {
		return nil, fmt.Errorf("the table of Fits has none of the number columns pearson, r_squared, n_used, slope, "+
			"intercept (there are: %s)", list(columnNames(f), 20))
	}
	slope, intercept := f.Numbers("slope"), f.Numbers("intercept")
	seen := map[int]bool{}
	for r := range of {
		i, known := at[of[r]]
		if !known {
			continue
		}
		if seen[i] {
			return nil, fmt.Errorf("the table of Fits: %s is the second for its panel; use Where", rowName(f, r))
		}
		seen[i] = true
		for _, part := range []struct{ column, form string }{{"pearson", "r = %.2f"}, {"r_squared", "r² = %.2f"},
			{"n_used", "n = %.0f"}} {
			if v := f.Numbers(part.column); v != nil && finite(v[r]) {
				out[i].text = append(out[i].text, fmt.Sprintf(part.form, v[r]))
			}
		}
		if slope != nil && intercept != nil && finite(slope[r]) && finite(intercept[r]) {
			b := intercept[r]
			if s.percent {
				b *= 100
			}
			out[i].lines = append(out[i].lines, Line{Slope: slope[r], Intercept: b})
		}
	}
	return out, nil
}

// straights draws lines across a panel: named ones dashed, those of a fit solid.
func (sc *scene) straights(p *panel, lines []Line) {
	for _, l := range lines {
		low, high := p.x.low, p.x.high
		if l.Slope != 0 { // the part within the panel
			a, b := (p.y.low-l.Intercept)/l.Slope, (p.y.high-l.Intercept)/l.Slope
			low, high = max(low, min(a, b)), min(high, max(a, b))
		} else if !p.y.holds(l.Intercept) {
			continue
		}
		if low >= high {
			continue
		}
		ends := []pt{{p.px(low), p.py(l.Slope*low + l.Intercept)}, {p.px(high), p.py(l.Slope*high + l.Intercept)}}
		sc.add(path{Points: ends, Stroke: sc.theme.Ink, Width: 1.2, Dash: l.Name != ""})
	}
}

// corner writes lines into the corner of a panel with the fewest marks and returns their box.
func (sc *scene) corner(p *panel, lines []string, taken []rect) rect {
	if len(lines) == 0 {
		return rect{}
	}
	th := sc.theme
	w, h := 0.0, 1.3*th.Small*float64(len(lines))+4
	for _, l := range lines {
		w = max(w, letters.Measure(l, th.Small, false)+6)
	}
	best, fewest := rect{}, math.MaxInt
	for _, at := range []pt{{p.l + 4, p.t + 4}, {p.r - w - 4, p.b - h - 4}, {p.l + 4, p.b - h - 4},
		{p.r - w - 4, p.t + 4}} {
		box, n := rect{at[0], at[1], at[0] + w, at[1] + h}, 0
		for _, t := range taken {
			if box.hits([]rect{t}) {
				n++
			}
		}
		if n < fewest {
			best, fewest = box, n
		}
	}
	paper := th.Paper
	paper.A = 215
	sc.box(best.l, best.t, w, h, paper)
	for i, l := range lines {
		sc.text(best.l+3, best.t+2+th.Small*(0.65+1.3*float64(i)), l, th.Small, th.Ink, start)
	}
	return best
}
