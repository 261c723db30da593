package disparity

import (
	"cmp"
	"slices"
	"strings"

	"antipode/metrics/internal/tabular"
)

// balance samples as many images of each cell from every group as the group with the fewest has, on each side, so that
// groups are compared at equal numbers: fewer generated images alone lower coverage, and fewer reference images alone
// raise it. A group without images of a side does not count there. The sample depends on the seed and, where the rows
// have ids, not on their order.
func (c *comparison) balance(groups []*group) {
	for _, role := range roles {
		cells := make([]map[string][]int, len(groups))
		for i, g := range groups {
			cells[i] = g.side(role).byCell(strings.Join(g.values, "\x00"))
		}
		for i, g := range groups {
			s, chosen := g.side(role), []int(nil)
			for cell, rows := range cells[i] {
				n := len(rows)
				for _, other := range cells {
					if len(other) > 0 {
						n = min(n, len(other[cell]))
					}
				}
				if s.ids != nil {
					slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(s.ids[a], s.ids[b]) })
				}
				random := tabular.Random(c.Seed, strings.Join(append(slices.Clone(g.values), role, cell), "\x00"))
				for _, k := range random.Perm(len(rows))[:n] {
					chosen = append(chosen, rows[k])
				}
			}
			slices.Sort(chosen)
			*s = s.pick(chosen)
			if role == "generated" {
				g.used = s.present()
			}
		}
	}
}

// byCell returns the side's rows of each cell, whose name is without that of the group.
func (s *side) byCell(group string) map[string][]int {
	out := map[string][]int{}
	for i, name := range s.cells {
		cell := strings.TrimPrefix(name, group)
		out[cell] = append(out[cell], i)
	}
	return out
}

func (s *side) pick(rows []int) (out side) {
	for _, i := range rows {
		out.rows, out.vectors = append(out.rows, s.rows[i]), append(out.vectors, s.vectors[i])
		out.cells = append(out.cells, s.cells[i])
		if s.ids != nil {
			out.ids = append(out.ids, s.ids[i])
		}
	}
	return out
}

// present counts the images with a vector.
func (s *side) present() (n int) {
	for _, v := range s.vectors {
		if v != nil {
			n++
		}
	}
	return n
}
