package distribution

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Vectors are the two sets that a score compares, as rows of equal length.
type Vectors struct{ Real, Generated [][]float32 }

// check returns an error about sets of fewer than least rows, or about rows that cannot be used.
func (v Vectors) check(least int) error {
	if n := min(len(v.Real), len(v.Generated)); n < least {
		return fmt.Errorf("%d vectors; at least %d are needed", n, least)
	}
	for _, rows := range [][][]float32{v.Real, v.Generated} {
		for i, row := range rows {
			if reason := unusable(row, len(v.Generated[0])); reason != "" || len(row) == 0 {
				return fmt.Errorf("vector %d: %s", i+1, cmp.Or(reason, "it has no numbers"))
			}
		}
	}
	return nil
}

// set is the images of a group on one side.
type set struct {
	rows  []int   // of the input table
	cells [][]int // positions in rows, by cell; samples have their proportions
}

// newSet arranges positions by cell and, where there are ids, by id: samples do not depend on the order of the rows.
func newSet(f *table.Frame, rows []int, cells string) set {
	s, names, ids, index := set{rows: rows}, f.Texts(cells), f.Texts("id"), map[string][]int{}
	for i, row := range rows {
		name := ""
		if names != nil {
			name = names[row]
		}
		index[name] = append(index[name], i)
	}
	for _, name := range slices.Sorted(maps.Keys(index)) {
		c := index[name]
		if ids != nil {
			slices.SortStableFunc(c, func(a, b int) int { return cmp.Compare(ids[rows[a]], ids[rows[b]]) })
		}
		s.cells = append(s.cells, c)
	}
	return s
}

// sample returns k positions without replacement, of each cell its share (rounded at random), ascending.
func (s set) sample(rng *rand.Rand, k int) []int {
	total := 0
	for _, c := range s.cells {
		total += len(c)
	}
	out, at, seen := make([]int, 0, k), rng.Float64(), 0
	for i, c := range s.cells {
		seen += len(c)
		until := int(float64(seen)*float64(k)/float64(total) + at)
		if i == len(s.cells)-1 {
			until = k
		}
		for _, j := range rng.Perm(len(c))[:min(max(until-len(out), 0), len(c))] {
			out = append(out, c[j])
		}
	}
	slices.Sort(out)
	return out
}

// without returns the set without some positions, which are ascending.
func (s set) without(taken []int) (out set) {
	for _, c := range s.cells {
		out.cells = append(out.cells, slices.DeleteFunc(slices.Clone(c), func(i int) bool {
			_, found := slices.BinarySearch(taken, i)
			return found
		}))
	}
	return out
}

// group is the images of a group.
type group struct {
	values                   []string
	real, generated          set // of one table, generated
	vectors                  Vectors
	asked, refused, unmasked int
}

func (g *group) label() string { return strings.Join(g.values, ", ") }

// is reports whether it has a name: its values joined with / or with a comma and a space.
func (g *group) is(name string) bool { return name == strings.Join(g.values, "/") || name == g.label() }

func (g *group) named(by []string) string {
	if len(by) == 0 {
		return "the table"
	}
	return fmt.Sprintf("%s %q", strings.Join(by, ", "), g.label())
}

// gather groups the rows of tables that have a vector: of the roles real and generated, or in.
func gather(call *metrics.Call, o Sampling, roles ...string) ([]*group, error) {
	index, out, width, cells := map[string]*group{}, []*group(nil), 0, o.Cells == "" || o.Cells == "object"
	var notes metrics.GroupNotes
	for _, role := range roles {
		in := tabular.Read(call, role)
		vectors := in.Vectors(o.Vector)
		cells = cells || in.Frame.Texts(o.Cells) != nil
		for _, part := range in.SortedGroups(o.By) {
			key := strings.Join(part.By, "\x00")
			if index[key] == nil {
				index[key] = &group{values: part.By}
				out = append(out, index[key])
			}
			g, rows, refused, missing := index[key], []int(nil), 0, 0
			for _, row := range part.Rows {
				switch outcome, v := tabular.Outcome(in.Frame, row), vectors[row]; {
				case outcome == "refused":
					refused++
				case outcome != "":
				case len(v) == 0:
					missing++
				default:
					if width == 0 {
						width = len(v)
					}
					if reason := unusable(v, width); reason != "" {
						err := tabular.BadRow(in.Frame, row, o.Vector, "%s", reason)
						return nil, fmt.Errorf("table %q: %w", role, err)
					}
					rows = append(rows, row)
				}
			}
			if role == "real" {
				g.real, g.vectors.Real = newSet(in.Frame, rows, o.Cells), pick(vectors, rows)
			} else {
				g.generated, g.vectors.Generated = newSet(in.Frame, rows, o.Cells), pick(vectors, rows)
				g.asked, g.refused, g.unmasked = len(part.Rows), refused, missing
			}
			if missing > 0 {
				notes.Add(fmt.Sprintf("%%d images of the table %q have no vector and are left out", role), g.label(),
					missing)
			}
		}
		if in.Err != nil {
			return nil, in.Err
		}
		if role != "real" {
			call.Copies = slices.Contains(tabular.Copies(call, role, o.Vector), true)
		}
	}
	if !cells {
		return nil, fmt.Errorf("no table has a text column %q of cells", o.Cells)
	}
	if len(out) == 0 {
		return nil, errors.New("the tables are empty; there is nothing to score")
	}
	slices.SortFunc(out, func(a, b *group) int { return slices.Compare(a.values, b.values) })
	notes.AddTo(call, o.By...)
	return out, nil
}

// unusable returns why a vector cannot be used.
func unusable(v []float32, width int) string {
	if len(v) != width {
		return fmt.Sprintf("%d numbers, others have %d; use vectors of one model", len(v), width)
	}
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Sprintf("number %d of the vector is %g; embed the image again or omit the row", i+1, x)
		}
	}
	return ""
}

// pick returns the vectors at some positions.
func pick(vectors [][]float32, at []int) [][]float32 {
	out := make([][]float32, len(at))
	for i, j := range at {
		out[i] = vectors[j]
	}
	return out
}
