package disparity

import (
	"antipode/metrics"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"
)

// comparison holds the options of a nearest-neighbor score and what follows from them.
type comparison struct {
	PrecisionCoverageOptions
	component component
	rules     map[string]maskRules // by role
	patches   string               // the column that counts the component's patches; "" = none
	counted   bool                 // the result has the column n_unmasked

	// halved are the half-samples of all rows by role, where several comparisons have the same ones; nil = each group
	// has its own, if it has enough images.
	halved map[string]*interval.Samples
}

// componentOf returns the component that a vector column shows, by its name up to a plus sign, and the column that
// counts its patches; a variant of a vector has none. Other vectors are of the whole image.
func componentOf(vector string) (c component, patches string) {
	if component, _, variant := strings.Cut(vector, "+"); variant {
		c, _ = componentOf(component)
		return c, ""
	}
	switch vector {
	case "object_only":
		return objectOnly, "object_patches"
	case "background_only":
		return backgroundOnly, "background_patches"
	}
	return fullImage, ""
}

// newComparison fills in the rules for images without a mask.
func newComparison(c comparison) (*comparison, error) {
	profile, err := findProfile(c.Profile)
	if err != nil {
		return nil, err
	}
	c.component, c.patches = componentOf(c.Vector)
	c.rules = map[string]maskRules{}
	for role, unmasked := range map[string]string{"real": c.UnmaskedReal, "generated": c.Unmasked} {
		r := profile.Rules(c.component, setSide(role))
		if unmasked != "profile" {
			r.Unmasked, r.Small = Rule(unmasked), Rule(unmasked)
		}
		if c.MinPatches > 0 && c.component == backgroundOnly {
			r.MinPatches = c.MinPatches
		}
		c.rules[role] = r
	}
	return &c, nil
}

// intervalName describes the intervals as figures print it; "" where there are none.
func (c *comparison) intervalName(kind string) string {
	if c.Resamples == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g %% %s", 100*c.Level, kind)
}

// roles are the roles of the two tables.
var roles = []string{"real", "generated"}

// side is one set of a group: the rows that are compared, with their vectors.
type side struct {
	rows    []int // of the input table
	vectors [][]float32
	ids     []string
	cells   []string
}

// group is the rows of one group on both sides, ready to be compared.
type group struct {
	values                         []string
	real, generated                side
	asked, refused, unmasked, used int // generated images
	copies                         int // of them, which are the file of another one too
	result                         *prdc.Result
}

// side returns the set of a role.
func (g *group) side(role string) *side {
	if role == "real" {
		return &g.real
	}
	return &g.generated
}

// near returns the end of a message about a group without images of a role: the most similar name of one that has some.
func (g *group) near(groups []*group, role string) string {
	if len(g.side(role).rows) > 0 {
		return ""
	}
	var names []string
	for _, other := range groups {
		if len(other.side(role).rows) > 0 {
			names = append(names, other.label())
		}
	}
	return table.Hint(g.label(), names)
}

// gather groups the rows of the two tables and applies the rules for images without a mask.
func gather(call *metrics.Call, c *comparison) ([]*group, error) {
	index := map[string]*group{}
	var order []*group
	for _, role := range roles {
		in := tabular.Read(call, role)
		in.Vectors(c.Vector)
		for _, part := range in.SortedGroups(c.By) {
			key := strings.Join(part.By, "\x00")
			if index[key] == nil {
				index[key] = &group{values: part.By}
				order = append(order, index[key])
			}
			index[key].side(role).rows = part.Rows
		}
		if in.Err != nil {
			return nil, in.Err
		}
	}
	if len(order) == 0 {
		return nil, errors.New("both tables are empty; there is nothing to compare")
	}
	slices.SortFunc(order, func(a, b *group) int { return slices.Compare(a.values, b.values) })
	var notes metrics.GroupNotes
	lacking := map[string]*lacks{"real": {}, "generated": {}}
	copied := tabular.Copies(call, "generated", c.Vector)
	for _, g := range order {
		for _, row := range g.generated.rows {
			if copied[row] {
				g.copies++
			}
		}
		for _, role := range roles {
			if err := g.prepare(call, c, role, lacking[role]); err != nil {
				return nil, err
			}
		}
	}
	if c.Balance {
		c.balance(order)
	}
	for _, g := range order {
		if len(g.real.vectors) <= c.K {
			return nil, fmt.Errorf("group %s has %d real images with a vector %q; a radius needs more than k = %d%s",
				g.name(c.By), len(g.real.vectors), c.Vector, c.K, g.near(order, "real"))
		}
		if len(g.generated.vectors) == 0 {
			notes.Add("no generated image: precision is not available, coverage is 0"+g.near(order, "generated"),
				g.label())
		}
		for _, role := range roles {
			if least, most := cellSizes(g.side(role).cells); least != most && !c.Balance {
				notes.Add(fmt.Sprintf("uneven cells: the numbers of %s images differ by %s; balance them with Sample",
					role, c.Cells), g.label(fmt.Sprintf("%d to %d", least, most)))
			}
		}
	}
	c.noteLacking(call, lacking)
	notes.AddTo(call, c.By...)
	return order, nil
}

// lacks counts the images of one side that lack a usable component, over all groups.
type lacks struct {
	preparedSet
	groups []string
	absent metrics.GroupNotes // of rows without an image
}

// noteLacking notes how many images lack a usable component, and how they are treated.
func (c *comparison) noteLacking(call *metrics.Call, lacking map[string]*lacks) {
	for _, role := range roles {
		l := lacking[role]
		l.absent.AddTo(call, c.By...)
		for _, w := range l.Warnings(c.rules[role], c.component, c.Vector) {
			if len(c.By) > 0 && c.counted && role == "generated" && l.Small == 0 {
				call.Notef("%s (see n_unmasked by group)", w)
				continue
			}
			var notes metrics.GroupNotes
			for _, group := range l.groups {
				notes.Add(w, group)
			}
			notes.AddTo(call, c.By...)
		}
	}
}

// prepare applies the rules to the group's rows of one side.
func (g *group) prepare(call *metrics.Call, c *comparison, role string, lacking *lacks) error {
	f, rows := call.Inputs[role], g.side(role).rows
	asked := len(rows)
	rows, refused := withImage(f, rows)
	if role == "generated" {
		g.asked, g.refused = asked, refused
	} else if missing := asked - len(rows); missing > 0 {
		lacking.absent.Add("%d of %d reference rows have no image and are left out (see outcome)", g.label(), missing,
			asked)
	}
	rules, patches := c.rules[role], f.Numbers(c.patches)
	vectors, full := f.Vectors(c.Vector), f.Vectors("full")
	images := make([]ruledImage, len(rows))
	for i, row := range rows {
		p := &images[i]
		p.Vector, p.Patches = vectors[row], math.MaxInt // an unknown number is enough
		if full != nil {
			p.Full = full[row]
		}
		if patches != nil && !math.IsNaN(patches[row]) {
			p.Patches = int(patches[row])
		} else {
			p.Unmasked = vectors[row] == nil
		}
	}
	prepared, err := rules.Prepare(images)
	if err != nil {
		return fmt.Errorf("group %s, vector %q, %s images: %w", g.name(c.By), c.Vector, role, err)
	}
	lacking.Count(prepared)
	if prepared.Unmasked+prepared.Small > 0 {
		lacking.groups = append(lacking.groups, g.label())
	}
	ids, cells := f.Texts("id"), f.Texts(c.Cells)
	out := side{vectors: prepared.Vectors}
	for _, i := range prepared.Rows {
		row := rows[i]
		out.rows = append(out.rows, row)
		if ids != nil {
			out.ids = append(out.ids, ids[row])
		}
		cell := strings.Join(g.values, "\x00")
		if cells != nil {
			cell += "\x00" + cells[row]
		}
		out.cells = append(out.cells, cell)
	}
	*g.side(role) = out
	if role == "generated" {
		g.unmasked = prepared.Unmasked
		g.used = out.present()
	}
	return nil
}

// withImage returns the rows that have an image, and the number of refused ones.
func withImage(f *table.Frame, rows []int) (out []int, refused int) {
	for _, row := range rows {
		switch tabular.Outcome(f, row) {
		case "":
			out = append(out, row)
		case "refused":
			refused++
		}
	}
	return out, refused
}

func (g *group) name(by []string) string {
	if len(by) == 0 {
		return "of all images"
	}
	parts := make([]string, len(by))
	for i := range by {
		parts[i] = fmt.Sprintf("%s %q", by[i], g.values[i])
	}
	return strings.Join(parts, ", ")
}

// label names the group in a list of groups, with a detail; "" if the rows are not grouped and there is no detail.
func (g *group) label(detail ...string) string {
	name := strings.Join(g.values, "/")
	switch {
	case len(detail) == 0:
		return name
	case name == "":
		return "(" + detail[0] + ")"
	}
	return name + " (" + detail[0] + ")"
}

// cellSizes returns the least and the most rows of a cell.
func cellSizes(cells []string) (least, most int) {
	n := map[string]int{}
	for _, c := range cells {
		n[c]++
	}
	if len(n) == 0 {
		return 0, 0
	}
	sizes := slices.Collect(maps.Values(n))
	return slices.Min(sizes), slices.Max(sizes)
}
