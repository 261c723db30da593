package consistency

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"antipode/metrics/internal/tabular"
)

// arrange fills the array of a group's vectors. It does not depend on the order of rows, except for images without
// index and id.
func (r *reader) arrange(g *group, groups []*group) error {
	members, most := g.members, 0 // most is the number of rows of the largest cell
	for _, n := range g.rows {
		most = max(most, n.asked)
	}
	for prompt := range g.requested {
		missing := func(other *group) bool { return !other.requested[prompt] }
		if r.Prompts != "common" || !slices.ContainsFunc(groups, missing) {
			g.images.Prompts = append(g.images.Prompts, prompt)
		}
	}
	slices.Sort(g.images.Prompts)
	slices.SortStableFunc(members, func(a, b member) int {
		if c := cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.prompt, b.prompt)); c != 0 {
			return c
		}
		return cmp.Or(compareIndex(a.index, b.index), cmp.Compare(a.id, b.id), cmp.Compare(a.row, b.row))
	})
	slots, err := r.slots(members, most)
	if err != nil {
		return err
	}
	if slots == nil {
		slices.SortStableFunc(members,
			func(a, b member) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.row, b.row)) })
		if most > 1 && r.aligned {
			r.notes.Add(fmt.Sprintf("the column %q has no indices in common (equal seeds across languages "+
				"and prompts); images are numbered in the order of their ids", r.Index), g.label())
		}
	}
	p := &g.images
	p.Languages = r.wanted
	languageAt, promptAt := positions(p.Languages), positions(p.Prompts)
	for range p.Languages {
		p.Vectors = append(p.Vectors, make([][][]float32, len(p.Prompts)))
	}
	for _, m := range members {
		k, kept := promptAt[m.prompt]
		if !kept {
			continue
		}
		to := &p.Vectors[languageAt[m.language]][k]
		if slots == nil {
			*to = append(*to, r.vectors[m.row])
			continue
		}
		if *to == nil {
			*to = make([][]float32, len(slots))
		}
		(*to)[slots[m.index]] = r.vectors[m.row]
	}
	if missing, of := g.count(); missing > 0 && r.Missing == "fail" {
		return fmt.Errorf("%s%d of %d images are missing; generate them, or set the option missing to count",
			g.name(r.By), missing, of)
	}
	return nil
}

// count counts the refused images and the captions of each language, and returns how many images are missing, of how
// many.
func (g *group) count() (missing, of int) {
	p := &g.images
	n := p.indices()
	g.refused, g.captions = make([]int, len(p.Languages)), make([]CaptionCounts, len(p.Languages))
	for l, prompts := range p.Vectors {
		for k, images := range prompts {
			if rows := g.rows[cell{p.Languages[l], p.Prompts[k]}]; rows != nil {
				g.refused[l] += rows.refused
				c := &g.captions[l]
				c.Empty, c.Repeated = c.Empty+rows.captions.Empty, c.Repeated+rows.captions.Repeated
				c.Degenerate += rows.captions.Degenerate
			}
			missing += n
			for _, v := range images {
				if v != nil {
					missing--
				}
			}
		}
	}
	return missing, n * len(p.Languages) * len(p.Prompts)
}

// slots returns the position of each index; nil if there are none, or more than the rows of any cell: then cells have
// no indices in common.
func (r *reader) slots(sorted []member, most int) (map[string]int, error) {
	var names []string
	indexed := true
	for i, m := range sorted {
		if m.index == "" {
			indexed = false
			continue
		}
		if i > 0 && sorted[i-1].cell == m.cell && sorted[i-1].index == m.index {
			return nil, tabular.BadRow(r.frame, m.row, r.Index, "row %d is the same image: language %q, prompt %q, "+
				"index %q; remove one, or group by model", r.frame.RowNumber(sorted[i-1].row), m.language, m.prompt,
				m.index)
		}
		names = append(names, m.index)
	}
	slices.SortFunc(names, compareIndex)
	names = slices.Compact(names)
	if !indexed || len(names) > most {
		return nil, nil
	}
	return positions(names), nil
}

// compareIndex compares numbers by value, other texts as strings.
func compareIndex(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil && x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

func positions(names []string) map[string]int {
	at := map[string]int{}
	for i, n := range names {
		at[n] = i
	}
	return at
}
