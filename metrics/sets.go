package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/kernel/client"
	"antipode/metrics/regions"
)

// setup is what the options of a nearest-neighbour score ask for.
type setup struct {
	vector   string
	cells    string
	k, draws int
	level    float64
	closed   bool
	rules    map[string]regions.Rules // by side
	patches  string                   // the column that counts the component's patches; "" = none
	counted  bool                     // the metric's table has the column n_unmasked
}

// setupOf names the set-up of a vector column. Other vectors are of the whole image.
func setupOf(vector string) (s regions.Setup, patches string) {
	switch vector {
	case "object_only":
		return regions.ObjectOnly, "object_patches"
	case "background_only":
		return regions.BackgroundOnly, "background_patches"
	}
	return regions.FullImage, ""
}

func readSetup(o map[string]string) (s setup, err error) {
	number := func(name string, least int) int {
		n, convErr := strconv.Atoi(o[name])
		if (convErr != nil || n < least) && err == nil {
			err = fmt.Errorf("option %s=%q: give a whole number of at least %d", name, o[name], least)
		}
		return n
	}
	s = setup{vector: o["vector"], cells: o["cells"], closed: o["boundary"] == "<=", k: number("k", 1), draws: number("draws", 0)}
	least := number("min-patches", 0)
	if s.level, _ = strconv.ParseFloat(o["level"], 64); (s.level <= 0 || s.level >= 1) && err == nil {
		err = fmt.Errorf("option level=%q: give a probability between 0 and 1", o["level"])
	}
	profile, profileErr := regions.FindProfile(o["profile"])
	if err = cmp.Or(err, profileErr); err != nil {
		return s, err
	}
	var name regions.Setup
	name, s.patches = setupOf(s.vector)
	s.rules = map[string]regions.Rules{"real": profile.Rules(name, regions.Real), "generated": profile.Rules(name, regions.Generated)}
	for side, r := range s.rules {
		if rule := o["unmasked"]; side == "generated" && rule != "profile" {
			r.Unmasked, r.Small = regions.Rule(rule), regions.Rule(rule)
		}
		if rule := o["unmasked-real"]; side == "real" && rule != "profile" {
			r.Unmasked, r.Small = regions.Rule(rule), regions.Rule(rule)
		}
		if least > 0 {
			r.MinPatches = least
		}
		s.rules[side] = r
	}
	return s, nil
}

// side is one set of a group: its rows that take part, with the vectors the rules left them.
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
}

// gather groups the rows of the two tables and applies the rules for images without a mask.
func gather(call Call, s setup) ([]*group, error) {
	index := map[string]*group{}
	var order []*group
	members := map[*group]map[string][]int{}
	for _, name := range []string{"real", "generated"} {
		f := call.Inputs[name]
		if _, err := f.Need(s.vector, client.Vector); err != nil {
			return nil, fmt.Errorf("table %q: %w", name, err)
		}
		by := make([][]string, len(call.By))
		for i, column := range call.By {
			c, err := f.Need(column, client.Text)
			if err != nil {
				return nil, fmt.Errorf("table %q: %w", name, err)
			}
			by[i] = c.Texts
		}
		for row := range f.Len() {
			values := make([]string, len(by))
			for i := range by {
				values[i] = by[i][row]
			}
			key := strings.Join(values, "\x00")
			g := index[key]
			if g == nil {
				g = &group{values: values}
				index[key], members[g] = g, map[string][]int{}
				order = append(order, g)
			}
			members[g][name] = append(members[g][name], row)
		}
	}
	if len(order) == 0 {
		return nil, errors.New("both tables are empty: there is nothing to compare")
	}
	slices.SortStableFunc(order, func(a, b *group) int { return slices.Compare(a.values, b.values) })
	var notes GroupNotes
	lacking := map[string]*lacks{"real": {}, "generated": {}}
	for _, g := range order {
		if err := g.prepare(call, s, members[g], lacking); err != nil {
			return nil, err
		}
		if len(g.real.vectors) <= s.k {
			return nil, fmt.Errorf("group %s has %d real images with a vector %q; a radius needs more than k = %d", g.name(call.By), len(g.real.vectors), s.vector, s.k)
		}
		if len(g.generated.vectors) == 0 {
			notes.Add("no generated image: precision is not available, coverage is 0", g.label())
		}
		for _, name := range []string{"real", "generated"} {
			side := map[string]side{"real": g.real, "generated": g.generated}[name]
			if least, most := cellSizes(side.cells); least != most {
				text := fmt.Sprintf("uneven cells: the numbers of %s images differ by %s; balance them with Sample", name, s.cells)
				notes.Add(text, g.label(fmt.Sprintf("%d to %d", least, most)))
			}
		}
	}
	s.noteLacking(call, lacking)
	notes.Tell(call)
	return order, nil
}

// lacks is the images of one side that lack a usable component, over all groups.
type lacks struct {
	regions.Prepared
	groups []string
}

// noteLacking tells how many images lack a usable component, and what becomes of them.
func (s setup) noteLacking(call Call, lacking map[string]*lacks) {
	setupName, _ := setupOf(s.vector)
	for _, name := range []string{"real", "generated"} {
		l := lacking[name]
		for _, w := range l.Warnings(s.rules[name], setupName, s.vector) {
			if len(call.By) > 0 && s.counted && name == "generated" && l.Small == 0 {
				call.note("%s (see n_unmasked by group)", w)
				continue
			}
			var notes GroupNotes
			for _, group := range l.groups {
				notes.Add(w, group)
			}
			notes.Tell(call)
		}
	}
}

// prepare applies the rules to the group's rows.
func (g *group) prepare(call Call, s setup, members map[string][]int, lacking map[string]*lacks) error {
	for _, name := range []string{"real", "generated"} {
		f := call.Inputs[name]
		rows := members[name]
		if name == "generated" {
			g.asked = len(rows)
			rows = g.made(f, rows)
		}
		rules := s.rules[name]
		patches := f.Numbers(s.patches)
		if patches == nil {
			rules.MinPatches = 0
		}
		vectors, full := f.Vectors(s.vector), f.Vectors("full")
		pictures := make([]regions.Picture, len(rows))
		for i, row := range rows {
			p := regions.Picture{Vector: vectors[row]}
			if full != nil {
				p.Full = full[row]
			}
			if patches != nil && !math.IsNaN(patches[row]) {
				p.Patches = int(patches[row])
			} else {
				p.Unmasked = vectors[row] == nil
			}
			if patches == nil {
				p.Unmasked = vectors[row] == nil
			}
			pictures[i] = p
		}
		prepared, err := rules.Prepare(pictures)
		if err != nil {
			return fmt.Errorf("group %s, vector %q, %s images: %w", g.name(call.By), s.vector, name, err)
		}
		lacking[name].Count(prepared)
		if prepared.Unmasked+prepared.Small > 0 {
			lacking[name].groups = append(lacking[name].groups, g.label())
		}
		ids, cells := f.Texts("id"), f.Texts(s.cells)
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
		if name == "real" {
			g.real = out
			continue
		}
		g.generated = out
		g.unmasked = prepared.Unmasked
		for _, v := range out.vectors {
			if v != nil {
				g.used++
			}
		}
	}
	return nil
}

// made are the rows that hold an image: refused, failed and skipped ones are counted, and left out.
func (g *group) made(f *client.Frame, rows []int) []int {
	outcome := f.Texts("outcome")
	if outcome == nil {
		return rows
	}
	var out []int
	for _, row := range rows {
		switch outcome[row] {
		case "refused":
			g.refused++
		case "failed", "skipped":
		default:
			out = append(out, row)
		}
	}
	return out
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

// label names the group in a list of groups, with a detail; "" where the rows are not grouped and there is none.
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

// cellSizes are the least and the most rows of a cell.
func cellSizes(cells []string) (least, most int) {
	n := map[string]int{}
	for _, c := range cells {
		n[c]++
	}
	for _, c := range n {
		if least == 0 || c < least {
			least = c
		}
		most = max(most, c)
	}
	return least, most
}
