package distribution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Sampling are the options of groups, of equal numbers of images and of intervals, which all scores share.
type Sampling struct {
	By      []string `json:"by,omitempty" help:"text columns that define the groups; each is compared with its own reference images"`
	Cells   string   `json:"cells,omitempty" default:"object" none:"none" help:"text column whose proportions every sample of a group has, where the tables have it; none = simple samples"`
	N       int      `json:"n,omitempty" min:"0" help:"images of each set in a score, the mean over samples of so many; 0 = all, and with intervals as many in every group as the smallest has"`
	Samples int      `json:"samples,omitempty" default:"20" min:"1" help:"samples of n images whose scores are averaged"`
	Against []string `json:"against,omitempty" help:"groups that the others are compared with; empty = all"`
	metrics.Intervals
}

// Compared are the columns of a score's difference between groups.
type Compared struct {
	Gap     metrics.Estimate `column:"gap" help:"the score less the mean of the other groups; intervals hold simultaneously over the groups"`
	Flagged bool             `column:"flagged" help:"yes where the interval of the gap excludes 0"`
}

// set is the images of a group on one side, with the vector.
type set struct {
	rows  []int // of the input table
	cells [][]int
}

// newSet arranges positions 0 … n-1 by cell and, where there are ids, by id, so that samples do not depend on the order
// of the rows.
func newSet(f *table.Frame, rows []int, cells string) set {
	s := set{rows: rows}
	names, ids := f.Texts(cells), f.Texts("id")
	index := map[string][]int{}
	for i, row := range rows {
		name := ""
		if names != nil {
			name = names[row]
		}
		index[name] = append(index[name], i)
	}
	for _, positions := range index {
		if ids != nil {
			slices.SortStableFunc(positions, func(a, b int) int { return cmp.Compare(ids[rows[a]], ids[rows[b]]) })
		}
		s.cells = append(s.cells, positions)
	}
	slices.SortFunc(s.cells, func(a, b []int) int { // by the name of the cell
		if names == nil {
			return 0
		}
		return cmp.Compare(names[rows[a[0]]], names[rows[b[0]]])
	})
	return s
}

// all returns every position.
func (s set) all() []int { return slices.Sorted(slices.Values(slices.Concat(s.cells...))) }

// group is the images of a group.
type group struct {
	values                         []string
	real, generated                set
	asked, refused, unmasked, used int
}

func (g *group) label() string { return strings.Join(g.values, ", ") }

// named names the group in an error.
func (g *group) named(by []string) string {
	if len(by) == 0 {
		return "the table"
	}
	return fmt.Sprintf("%s %q", strings.Join(by, ", "), g.label())
}

// side describes an input table: one role is "generated" or "in", the other "real" or missing.
func (g *group) side(role string) *set {
	if role == "real" {
		return &g.real
	}
	return &g.generated
}

// gather groups the rows of the tables. usable reports whether a row has a value; nil columns are an error before.
func gather(call *metrics.Call, o Sampling, usable func(role string, row int) bool, roles ...string) ([]*group,
	error) {
	index, out := map[string]*group{}, []*group(nil)
	var notes metrics.GroupNotes
	for _, role := range roles {
		in := tabular.Read(call, role)
		for _, part := range in.SortedGroups(o.By) {
			key := strings.Join(part.By, "\x00")
			g := index[key]
			if g == nil {
				g = &group{values: part.By}
				index[key], out = g, append(out, g)
			}
			var rows []int
			refused, missing := 0, 0
			for _, row := range part.Rows {
				switch outcome := tabular.Outcome(in.Frame, row); {
				case outcome == "refused":
					refused++
				case outcome != "":
				case usable(role, row):
					rows = append(rows, row)
				default:
					missing++
				}
			}
			*g.side(role) = newSet(in.Frame, rows, o.Cells)
			if role != "real" {
				g.asked, g.refused, g.unmasked, g.used = len(part.Rows), refused, missing, len(rows)
			}
			if missing > 0 {
				notes.Add(fmt.Sprintf("%%d images of the table %q have no value and are left out", role), g.label(),
					missing)
			}
		}
		if in.Err != nil {
			return nil, in.Err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the tables are empty; there is nothing to score")
	}
	slices.SortFunc(out, func(a, b *group) int { return slices.Compare(a.values, b.values) })
	notes.AddTo(call, o.By...)
	return out, nil
}

// vectorsOf reads the vectors of the tables and checks them: finite, of one length.
func vectorsOf(call *metrics.Call, name string, roles ...string) (map[string][][]float32, error) {
	vectors, width := map[string][][]float32{}, 0
	for _, role := range roles {
		in := tabular.Read(call, role)
		column := in.Vectors(name)
		if in.Err != nil {
			return nil, in.Err
		}
		for row, v := range column {
			if len(v) == 0 || tabular.Outcome(in.Frame, row) != "" {
				continue
			}
			if width == 0 {
				width = len(v)
			}
			bad := func(format string, args ...any) error {
				return fmt.Errorf("table %q: %w", role, tabular.BadRow(in.Frame, row, name, format, args...))
			}
			if len(v) != width {
				return nil, bad("%d numbers, the vectors before it have %d; use vectors of one model", len(v), width)
			}
			for i, x := range v {
				if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
					return nil, bad("number %d of the vector is %g; embed the image again or omit the row", i+1, x)
				}
			}
		}
		vectors[role] = column
		if role != "real" {
			call.Copies = slices.Contains(tabular.Copies(call, role, name), true) || call.Copies
		}
	}
	return vectors, nil
}

// pick returns the rows' vectors.
func pick(vectors [][]float32, rows []int) [][]float32 {
	out := make([][]float32, len(rows))
	for i, row := range rows {
		out[i] = vectors[row]
	}
	return out
}

// gatherVectors reads two tables, or one, of which each group has images with a vector.
func gatherVectors(ctx context.Context, call *metrics.Call, o Sampling, vector string, roles ...string) ([]*group,
	map[string][][]float32, error) {
	vectors, err := vectorsOf(call, vector, roles...)
	if err != nil {
		return nil, nil, err
	}
	groups, err := gather(call, o, func(role string, row int) bool { return len(vectors[role][row]) > 0 }, roles...)
	if err != nil {
		return nil, nil, err
	}
	return groups, vectors, ctx.Err()
}
