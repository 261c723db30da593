package indictti

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"antipode/kernel/client"
)

// arrange makes the array of a group's vectors. Nothing in it depends on the order of the rows, but for pictures that have neither index nor id.
func (r *reader) arrange(g *group, groups []*group) error {
	members := r.members[g]
	for prompt := range r.all[g] {
		shared := true
		for _, other := range groups {
			shared = shared && (!r.common || r.all[other][prompt])
		}
		if shared {
			g.pictures.Prompts = append(g.pictures.Prompts, prompt)
		}
	}
	slices.Sort(g.pictures.Prompts)
	slices.SortStableFunc(members, func(a, b member) int {
		if c := cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.prompt, b.prompt)); c != 0 {
			return c
		}
		return cmp.Or(compareIndex(a.index, b.index), cmp.Compare(a.id, b.id), cmp.Compare(a.row, b.row))
	})
	slots, err := r.slots(members, g.most)
	if err != nil {
		return err
	}
	if slots == nil {
		slices.SortStableFunc(members, func(a, b member) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.row, b.row)) })
		o := r.call.Options
		if pairs := o["pairs"]; g.most > 1 && (pairs != "" && pairs != string(MeanAll) || o["images"] == string(SameSeed)) {
			r.notes.Add(fmt.Sprintf("the column %q gives the images no indices in common (equal seeds across languages and prompts): "+
				"they are numbered in the order of their ids, so equal numbers mean nothing", o["index"]), g.label())
		}
	}
	p := &g.pictures
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
	missing := 0
	n := p.indices()
	g.refused, g.empty = make([]int, len(p.Languages)), make([]int, len(p.Languages))
	for l, prompts := range p.Vectors {
		for k, pictures := range prompts {
			at := rowCell{g, p.Languages[l], p.Prompts[k]}
			g.refused[l] += r.refused[at]
			g.empty[l] += r.empty[at]
			missing += n
			for _, v := range pictures {
				if v != nil {
					missing--
				}
			}
		}
	}
	if missing > 0 && r.failing {
		return fmt.Errorf("%s%d pictures of %d are missing: make them, or score with missing=count", g.name(r.call.By), missing, n*len(p.Languages)*len(p.Prompts))
	}
	return nil
}

// slots gives each index its place: nil where there are none, or more than the rows of any cell, so that they cannot be in common.
func (r *reader) slots(sorted []member, most int) (map[string]int, error) {
	var names []string
	indexed := true
	for i, m := range sorted {
		if m.index == "" {
			indexed = false
			continue
		}
		if i > 0 && sorted[i-1].cell == m.cell {
			return nil, client.BadRow{Row: m.row + 1, ID: m.id, Column: r.call.Options["index"], Reason: fmt.Sprintf("row %d is the same picture: language %q, prompt %q, index %q; keep one, or group by model", sorted[i-1].row+1, m.language, m.prompt, m.index)}
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

// compareIndex compares numbers by value, other texts by letter.
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
