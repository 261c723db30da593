package plots

import (
	"fmt"

	"antipode/datasets"
)

// facets says which rows belong to which panel.
type facets struct {
	rows    [][]int  // row numbers of each panel, panel rows first
	titles  []string // one a panel, where there is one panel column
	heads   []string // where there are two
	sides   []string
	columns int
}

// split sorts the rows into panels; most is the largest number of panels beside each other.
func (s *settings) split(f *datasets.Frame, most int) (*facets, error) {
	switch len(s.panels) {
	case 0:
		return &facets{rows: [][]int{all(f.Len())}, titles: []string{""}, columns: 1}, nil
	case 1:
		of, err := names(f, s.panels[0])
		if err != nil {
			return nil, err
		}
		levels := s.levels(s.panels[0], of)
		at := index(levels)
		out := &facets{rows: make([][]int, len(levels)), titles: levels, columns: min(most, len(levels))}
		if len(levels) == most+1 && most > 2 {
			out.columns = (len(levels) + 1) / 2
		}
		for i, n := range of {
			out.rows[at[n]] = append(out.rows[at[n]], i)
		}
		return out, checkPanels(len(levels))
	case 2:
		down, err := names(f, s.panels[0])
		if err != nil {
			return nil, err
		}
		across, err := names(f, s.panels[1])
		if err != nil {
			return nil, err
		}
		out := &facets{sides: s.levels(s.panels[0], down), heads: s.levels(s.panels[1], across)}
		out.columns = len(out.heads)
		out.rows = make([][]int, len(out.sides)*len(out.heads))
		out.titles = make([]string, len(out.rows))
		row, col := index(out.sides), index(out.heads)
		for i := range down {
			p := row[down[i]]*out.columns + col[across[i]]
			out.rows[p] = append(out.rows[p], i)
		}
		if out.columns > 6 {
			return nil, fmt.Errorf("%d panels beside each other (column %q): at most 6 can be read; use Where", out.columns, s.panels[1])
		}
		return out, checkPanels(len(out.rows))
	}
	return nil, fmt.Errorf("Panels takes one or two columns, not %d", len(s.panels))
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

// name is what a message calls a panel; "" where there is one.
func (p *facets) name(i int) string {
	if p.heads != nil {
		return p.sides[i/p.columns] + " " + p.heads[i%p.columns]
	}
	return p.titles[i]
}

// placed lists for each column of panels the names that its rows have, in the order of all names.
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
