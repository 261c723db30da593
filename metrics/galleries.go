package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics/hypersphere"
	"antipode/metrics/prdc"
)

// The selections of [Gallery]: which images the paper looks at by eye (section 7 of its specification).
const (
	LowDiversityBackgrounds = "low-diversity-backgrounds" // real images whose object is generated, but not their background
	LowDiversityObjects     = "low-diversity-objects"     // real images whose background is generated, but not their object
	LowRealismBackgrounds   = "low-realism-backgrounds"   // generated images in no background ball
	Hubs                    = "hubs"                      // real images whose background ball holds the most generated images
)

// Gallery is the evidence behind a score: images chosen by a selection, with what lies in their balls, ready for
// plots.Gallery. Both tables need the columns id and image, the vectors full, object_only and background_only, and one
// grouping column ([By]). One row for each image shown: group (the reference it belongs to), setup, role (reference or
// match), rank, id, image, mask, n_inside (generated images in the reference's ball) and distance (of a match).
func Gallery(sets Sets, selection string, settings ...Setting) datasets.Table {
	args := newArgs("gallery", settings)
	args.Options["selection"] = selection
	return Score(args, map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

// Hyperspheres is the bookkeeping behind precision and coverage: for every real image its radius and the number of generated images in
// its ball, and for every generated image the number of balls that hold it (n_inside; radius has no value there).
func Hyperspheres(sets Sets, settings ...Setting) datasets.Table {
	return Score(newArgs("hyperspheres", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

// HubShares are, for every group, the shares of in-manifold generated images that would leave it without the largest
// hubs: the real images whose balls hold the most generated ones.
func HubShares(sets Sets, settings ...Setting) datasets.Table {
	return Score(newArgs("hub-shares", settings), map[string]datasets.Table{"real": sets.Real, "generated": sets.Generated})
}

// Pick limits a gallery: n references in all, and matches of each.
func Pick(n, matches int) Setting {
	return func(a *Args) { a.Options["n"], a.Options["matches"] = strconv.Itoa(n), strconv.Itoa(matches) }
}

// Only limits a gallery to one group, for example Only("Africa").
func Only(group string) Setting { return set("only", group) }

func init() {
	sets := slices.Clone(setOptions[:len(setOptions)-3]) // no cells, draws, level: a gallery has no interval
	images := []Input{
		{Role: "real", Columns: datasets.Columns("id:text", "image:image"), About: "the real images"},
		{Role: "generated", Columns: datasets.Columns("id:text", "image:image"), About: "the generated images"},
	}
	citation := "Sureddy et al. 2024 (Decomposed-DIG), sections 4.2 and 4.3, appendix D"
	Register(Metric{
		Info:    Info{Name: "gallery", Title: "the images behind a score: references and what lies in their balls", Unit: "images", Citation: citation},
		Version: 1, Near: true, Inputs: images, Options: append(sets,
			Option{Name: "selection", Values: []string{LowDiversityBackgrounds, LowDiversityObjects, LowRealismBackgrounds, Hubs}, About: "which images"},
			Option{Name: "only", About: "the one group to look at; empty = all"},
			Option{Name: "n", Default: "4", About: "references of every group"},
			Option{Name: "matches", Default: "5", About: "matches of every reference"},
			Option{Name: "with-full", Default: "no", Values: []string{"no", "yes"}, About: "also ask of the whole image what the selection asks of the component that is generated (Figures 5 and 6)"}),
		Columns: func(a Args) []client.ColumnSpec {
			out := datasets.Columns("group:text", "setup:text", "role:text", "id:text")
			for _, by := range a.By {
				out = append(out, client.ColumnSpec{Name: by, Kind: client.Text})
			}
			return append(out, datasets.Columns("object:text", "rank:number", "n_inside:number", "distance:number", "image:image", "mask:mask")...)
		},
		Compute: computeGallery,
	})
	Register(Metric{
		Info:    Info{Name: "hyperspheres", Title: "radius and number of generated images of every real image's ball; number of balls of every generated one", Unit: "images", Citation: citation},
		Version: 1, Near: true, Inputs: twoSets, Options: sets, Compute: computeHyperspheres,
	})
	Register(Metric{
		Info:    Info{Name: "hub-shares", Title: "share of in-manifold generated images that hang on the largest hubs", Unit: "share of in-manifold images", Range: "[0, 1]", Citation: citation},
		Version: 1, Near: true, Inputs: twoSets, Options: sets, Compute: computeHubShares,
	})
}

// books are the hyperspheres of every group in one set-up.
func books(ctx context.Context, call Call, vector string) ([]*group, []*hypersphere.Book, error) {
	options := map[string]string{"cells": "object", "draws": "0", "level": "0.95"}
	for k, v := range call.Options {
		options[k] = v
	}
	options["vector"] = vector
	s, err := readSetup(options)
	if err != nil {
		return nil, nil, err
	}
	groups, err := gather(call, s)
	if err != nil {
		return nil, nil, err
	}
	var notes GroupNotes
	out := make([]*hypersphere.Book, len(groups))
	for i, g := range groups {
		call.report("hyperspheres of "+vector, i, len(groups))
		r, err := g.compute(ctx, call, s, prdc.Options{Members: true}, &notes)
		if err != nil {
			return nil, nil, err
		}
		if out[i], err = hypersphere.NewBook(labels(call.Inputs["real"], g.real), labels(call.Inputs["generated"], g.generated), r); err != nil {
			return nil, nil, err
		}
	}
	notes.Tell(call)
	return groups, out, nil
}

func labels(f *client.Frame, s side) []hypersphere.Label {
	out := make([]hypersphere.Label, len(s.rows))
	for i, row := range s.rows {
		l := &out[i]
		for column, to := range map[string]*string{"id": &l.ID, "region": &l.Region, "object": &l.Object, "template": &l.Template} {
			if t := f.Texts(column); t != nil {
				*to = t[row]
			}
		}
	}
	return out
}

func computeHyperspheres(ctx context.Context, call Call) (*client.Frame, error) {
	groups, all, err := books(ctx, call, call.Options["vector"])
	if err != nil {
		return nil, err
	}
	out := newRows(append(slices.Clone(call.By), "vector", "source", "id"))
	row := func(g *group, source, id string, radius float64, inside int) {
		out.text(append(slices.Clone(g.values), call.Options["vector"], source, id)...)
		out.number("radius", radius)
		out.number("n_inside", float64(inside))
	}
	for i, b := range all {
		for _, ball := range b.Balls {
			row(groups[i], "real", ball.ID, float64(ball.Radius), len(ball.Inside))
		}
		for j, l := range b.Generated {
			row(groups[i], "generated", l.ID, missing, len(b.Holders(j)))
		}
	}
	return out.frame(), nil
}

func computeHubShares(ctx context.Context, call Call) (*client.Frame, error) {
	groups, all, err := books(ctx, call, call.Options["vector"])
	if err != nil {
		return nil, err
	}
	out := newRows(append(slices.Clone(call.By), "vector", "without"))
	for i, b := range all {
		for _, l := range b.LeaveOut() {
			out.text(append(slices.Clone(groups[i].values), call.Options["vector"], l.Name)...)
			out.number("share", l.Share)
			out.number("n_hubs", float64(l.Hubs))
			out.number("n_leaving", float64(l.Leaving))
			out.number("n_inside", float64(l.Inside))
		}
	}
	return out.frame(), nil
}

// shelf collects the rows of a gallery.
type shelf struct {
	*rows
	call   Call
	at     map[string]map[string]int // side → id → row of the input
	images []client.Image
	masks  []client.Mask
}

func (s *shelf) add(g *group, name, setup, role, side, id string, rank, inside int, distance float64) {
	f := s.call.Inputs[side]
	row := s.at[side][id]
	object := ""
	if t := f.Texts("object"); t != nil {
		object = t[row]
	}
	s.text(append([]string{name, setup, role, id, object}, g.values...)...)
	s.number("rank", float64(rank))
	n := missing
	if inside >= 0 {
		n = float64(inside)
	}
	s.number("n_inside", n)
	s.number("distance", distance)
	s.images = append(s.images, f.Images("image")[row])
	m := client.Mask{}
	if masks := f.Masks("mask"); masks != nil {
		m = masks[row]
	}
	s.masks = append(s.masks, m)
}

// line adds a reference and its nearest matches.
func (s *shelf) line(g *group, setup string, b hypersphere.Ball, matches int) {
	s.add(g, b.ID, setup, "reference", "real", b.ID, 0, len(b.Inside), missing)
	for i, hit := range b.Inside[:min(matches, len(b.Inside))] {
		s.add(g, b.ID, setup, "match", "generated", hit.ID, i+1, -1, float64(hit.Distance))
	}
}

func computeGallery(ctx context.Context, call Call) (*client.Frame, error) {
	n, errN := strconv.Atoi(call.Options["n"])
	matches, errM := strconv.Atoi(call.Options["matches"])
	if errN != nil || errM != nil || n < 1 || matches < 0 {
		return nil, errors.New("options n and matches: give whole numbers")
	}
	s := &shelf{rows: newRows(append([]string{"group", "setup", "role", "id", "object"}, call.By...)), call: call, at: map[string]map[string]int{}}
	for _, side := range []string{"real", "generated"} {
		s.at[side] = map[string]int{}
		for row, id := range call.Inputs[side].Texts("id") {
			s.at[side][id] = row
		}
	}
	vectors := []string{"full", "object_only", "background_only"}
	books3 := make([][]*hypersphere.Book, 3)
	var groups []*group
	for i, v := range vectors {
		var err error
		if groups, books3[i], err = books(ctx, call, v); err != nil {
			return nil, err
		}
	}
	found := false
	var notes GroupNotes
	for i, g := range groups {
		if only := call.Options["only"]; only != "" && !slices.Contains(g.values, only) {
			continue
		}
		found = true
		full, object, background := books3[0][i], books3[1][i], books3[2][i]
		switch selection := call.Options["selection"]; selection {
		case Hubs:
			for _, b := range background.Hubs(n, 1) {
				s.line(g, "BG-only", b, matches)
			}
		case LowRealismBackgrounds:
			for rank, l := range background.OutOfManifold(n, uint64(call.Seed), nil) {
				s.add(g, l.ID, "BG-only", "reference", "generated", l.ID, rank, 0, missing)
			}
		default:
			triples := hypersphere.Triples(full, object, background)
			withFull := call.Options["with-full"] == "yes"
			if selection == LowDiversityBackgrounds {
				triples = hypersphere.LowDiversityBackgrounds(triples, withFull)
			} else {
				triples = hypersphere.LowDiversityObjects(triples, withFull)
			}
			for _, t := range triples[:min(n, len(triples))] {
				s.line(g, "Full-image", t.Full, matches)
				s.line(g, "Obj-only", t.Object, matches)
				s.line(g, "BG-only", t.Background, matches)
			}
			if len(triples) > n {
				notes.Add("%d of %d real images are shown", g.label(), n, len(triples))
			}
		}
	}
	notes.Tell(call)
	if !found {
		return nil, fmt.Errorf("there is no group %q", call.Options["only"])
	}
	f := s.frame()
	f.Columns = append(f.Columns, client.ImageColumn("image", s.images), client.MaskColumn("mask", s.masks))
	return f, nil
}
