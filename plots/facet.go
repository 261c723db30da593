package plots

import (
	"fmt"

	"antipode/datasets"
)

type facets struct {
	rows    [][]int  // row numbers of each panel, panel rows first
	titles  []string // one a panel, where there is one panel column
	heads   []string // where there are two
	sides   []string
	columns int
}

// split assigns the rows to panels; most is the largest number of panels side by side.
func (s *options) split(f *datasets.Frame, most int) (*facets, error) {
	if s.panels == "" {
		return &facets{rows: [][]int{all(f.Len())}, titles: []string{""}, columns: 1}, nil
	}
	across, err := names(f, s.panels)
	if err != nil {
		return nil, err
	}
	levels := s.levels(s.panels, across)
	col := index(levels)
	if s.panelRows == "" {
		out := &facets{rows: make([][]int, len(levels)), titles: levels, columns: min(most, len(levels))}
		if len(levels) == most+1 && most > 2 {
			out.columns = (len(levels) + 1) / 2
		}
		for i, n := range across {
			out.rows[col[n]] = append(out.rows[col[n]], i)
		}
		return out, checkPanels(len(levels))
	}
	down, err := names(f, s.panelRows)
	if err != nil {
		return nil, err
	}
	out := &facets{sides: s.levels(s.panelRows, down), heads: levels, columns: len(levels)}
	out.rows = make([][]int, len(out.sides)*len(out.heads))
	out.titles = make([]string, len(out.rows))
	row := index(out.sides)
	for i := range down {
		p := row[down[i]]*out.columns + col[across[i]]
		out.rows[p] = append(out.rows[p], i)
	}
	if out.columns > 6 {
		return nil, fmt.Errorf("%d panels next to each other (column %q): at most 6 are readable; use Where",
			out.columns, s.panels)
	}
	return out, checkPanels(len(out.rows))
}

func checkPanels(n int) error {
	if n > 48 {
		return fmt.Errorf("%d panels: at most 48 can be drawn; use Where to choose", n)
	}
	return nil
}

func index(levels []string) map[string]int {
	at := map[string]int{}
	for i, l := range levels {
		at[l] = i
	}
	return at
}

// name names a panel in messages; "" where there is only one.
func (p *facets) name(i int) string {
	if p.heads != nil {
		return p.sides[i/p.columns] + " " + p.heads[i%p.columns]
	}
	return p.titles[i]
}

// placed lists the names that occur in each column of panels, in the order of all names.
func (p *facets) placed(all, of []string) [][]string {
	out := make([][]string, p.columns)
	for column := range out {
		seen := map[string]bool{}
		for i := column; i < len(p.rows); i += p.columns {
			for _, r := range p.rows[i] {
				seen[of[r]] = true
			}
		}
		for _, n := range all {
			if seen[n] {
				out[column] = append(out[column], n)
			}
		}
	}
	return out
}
