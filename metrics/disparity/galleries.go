package disparity

import (
	"antipode/metrics"
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/prdc"
)

// The selections of [Gallery]: which images the Decomposed-DIG paper inspects by eye.
const (
	// reference images whose object is generated, but not their background
	LowDiversityBackgrounds = "low-diversity-backgrounds"
	// reference images whose background is generated, but not their object
	LowDiversityObjects = "low-diversity-objects"
	// generated images in no background ball
	LowRealismBackgrounds = "low-realism-backgrounds"
	// reference images whose background ball contains the most generated images
	Hubs = "hubs"
)

const galleryCitation = "Sureddy et al. 2024 (Decomposed-DIG), sections 4.2 and 4.3, appendix D"

// HyperspheresOptions are the options of [Hyperspheres] and [HubShares]; see [PrecisionCoverageOptions].
type HyperspheresOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups; each is compared with its own reference images"`
	Vector string   `json:"vector,omitempty" default:"full" help:"vector column to compare"`
	Comparison
}

// comparison returns the options without intervals.
func (o HyperspheresOptions) comparison() comparison {
	return comparison{PrecisionCoverageOptions: PrecisionCoverageOptions{By: o.By, Vector: o.Vector, Cells: "object",
		Comparison: o.Comparison}}
}

// hypersphereRow is a row of the result of [Hyperspheres].
type hypersphereRow struct {
	Group  metrics.Group
	Vector string  `column:"vector"`
	Source string  `column:"source" help:"real or generated"`
	ID     string  `column:"id"`
	Radius float64 `column:"radius" unit:"distance" range:"[0, ∞)" help:"of a reference image's ball"`
	Inside int     `column:"n_inside" unit:"images" help:"of a reference image: generated images in its ball; of a generated one: balls that contain it"`
}

var hyperspheres = metrics.Define(metrics.Definition[HyperspheresOptions, hypersphereRow]{
	Name: "hyperspheres", Version: 1, Device: true, Inputs: twoSets, Unit: "images", Citation: galleryCitation,
	Title: "radius and number of generated images of every reference image's ball; number of balls of every " +
		"generated image",
	Compute: func(ctx context.Context, call *metrics.Call, o HyperspheresOptions) (out []hypersphereRow, err error) {
		groups, all, err := manifolds(ctx, call, o.comparison())
		if err != nil {
			return nil, err
		}
		for i, b := range all {
			for _, ball := range b.Balls {
				out = append(out, hypersphereRow{Group: groups[i].values, Vector: o.Vector, Source: "real",
					ID: ball.ID, Radius: float64(ball.Radius), Inside: len(ball.Inside)})
			}
			for j, l := range b.Generated {
				out = append(out, hypersphereRow{Group: groups[i].values, Vector: o.Vector, Source: "generated",
					ID: l.ID, Radius: missing, Inside: len(b.Containing(j))})
			}
		}
		return out, nil
	},
})

// Hyperspheres returns the balls behind precision and coverage: for every reference image its radius and the number
// of generated images in its ball, and for every generated image the number of balls that contain it.
func Hyperspheres(sets metrics.Sets, options ...HyperspheresOptions) datasets.Table {
	return hyperspheres.Table(sets.Inputs(), options...)
}

// hubShareRow is a row of the result of [HubShares].
type hubShareRow struct {
	Group  metrics.Group
	Vector string `column:"vector"`
	prdc.LeaveOut
}

var hubShares = metrics.Define(metrics.Definition[HyperspheresOptions, hubShareRow]{
	Name: "hub-shares", Version: 1, Device: true, Inputs: twoSets, Citation: galleryCitation,
	Title: "share of in-manifold generated images that depend on the largest hubs",
	Unit:  "share of in-manifold images", Range: "[0, 1]",
	Compute: func(ctx context.Context, call *metrics.Call, o HyperspheresOptions) (out []hubShareRow, err error) {
		groups, all, err := manifolds(ctx, call, o.comparison())
		if err != nil {
			return nil, err
		}
		for i, b := range all {
			for _, l := range b.LeaveOut() {
				out = append(out, hubShareRow{groups[i].values, o.Vector, l})
			}
		}
		return out, nil
	},
})

// HubShares returns for every group the shares of in-manifold generated images that would leave the manifold without
// the largest hubs: the reference images whose balls contain the most generated ones.
func HubShares(sets metrics.Sets, options ...HyperspheresOptions) datasets.Table {
	return hubShares.Table(sets.Inputs(), options...)
}

// manifolds returns the balls of every group in one vector space.
func manifolds(ctx context.Context, call *metrics.Call, options comparison) ([]*group, []*prdc.Manifold, error) {
	_, groups, err := compare(ctx, call, options, "hyperspheres of "+options.Vector, prdc.Options{Members: true})
	if err != nil {
		return nil, nil, err
	}
	out := make([]*prdc.Manifold, len(groups))
	for i, g := range groups {
		if out[i], err = prdc.NewManifold(labels(call.Inputs["real"], g.real.rows),
			labels(call.Inputs["generated"], g.generated.rows), g.result); err != nil {
			return nil, nil, err
		}
	}
	return groups, out, nil
}

func labels(f *table.Frame, rows []int) []prdc.Label {
	out := make([]prdc.Label, len(rows))
	for i, row := range rows {
		l := &out[i]
		for column, to := range map[string]*string{"id": &l.ID, "region": &l.Region, "object": &l.Object,
			"template": &l.Template} {
			if t := f.Texts(column); t != nil {
				*to = t[row]
			}
		}
	}
	return out
}

// GalleryOptions are the options of [Gallery].
type GalleryOptions struct {
	Selection string   `json:"selection" required:"true" values:"low-diversity-backgrounds,low-diversity-objects,low-realism-backgrounds,hubs" help:"which images"`
	By        []string `json:"by,omitempty" help:"text column that defines the groups"`
	Only      string   `json:"only,omitempty" help:"the one group to show; empty = all"`
	N         int      `json:"n,omitempty" default:"4" min:"1" help:"reference images of every group"`
	Matches   int      `json:"matches,omitempty" default:"5" min:"1" none:"-1" help:"matches of every reference image"`
	WithFull  bool     `json:"with_full,omitempty" help:"also require of the whole image what the selection requires of the component that is generated (Figures 5 and 6)"`
	Seed      int64    `json:"seed,omitempty" help:"seed of the sample of low-realism backgrounds"`
	Comparison
}

// galleryRow is a row of the result of [Gallery]: one image.
type galleryRow struct {
	Reference string `column:"group" help:"id of the reference image that the row belongs to"`
	Component string `column:"setup" help:"Full-image, Obj-only or BG-only"`
	Role      string `column:"role" help:"reference or match"`
	ID        string `column:"id"`
	Object    string `column:"object"`
	Group     metrics.Group
	Rank      int         `column:"rank"`
	Inside    float64     `column:"n_inside" unit:"images" help:"generated images in the reference image's ball"`
	Distance  float64     `column:"distance" help:"of a match"`
	Image     table.Image `column:"image"`
	Mask      table.Mask  `column:"mask"`
}

var gallery = datasets.Define(datasets.Operation[GalleryOptions, galleryRow]{
	Name: "gallery", Version: 1, Device: true, Citation: galleryCitation,
	Title: "the images behind a score: reference images and the generated images in their balls",
	Inputs: []metrics.Input{
		{Role: "real", Columns: datasets.Columns("id:text", "image:image"), About: "the reference images"},
		{Role: "generated", Columns: datasets.Columns("id:text", "image:image"), About: "the generated images"},
	},
	Compute: computeGallery,
})

// Gallery selects the images behind a score: reference images and the generated images in their balls, for
// plots.Gallery. Both tables have the columns id and image and the vectors full, object_only and background_only.
// Each row is one image.
func Gallery(sets metrics.Sets, options ...GalleryOptions) datasets.Table {
	return gallery.Table(sets.Inputs(), options...)
}

type galleryRows struct {
	call *metrics.Call
	at   map[string]map[string]int // role → id → row of the input
	rows []galleryRow
}

func (s *galleryRows) add(g *group, role string, r galleryRow) {
	f := s.call.Inputs[role]
	row := s.at[role][r.ID]
	r.Group, r.Image = g.values, f.Images("image")[row]
	if t := f.Texts("object"); t != nil {
		r.Object = t[row]
	}
	if masks := f.Masks("mask"); masks != nil {
		r.Mask = masks[row]
	}
	s.rows = append(s.rows, r)
}

// line adds a reference image and its nearest matches.
func (s *galleryRows) line(g *group, component string, b prdc.Ball, matches int) {
	s.add(g, "real", galleryRow{Reference: b.ID, Component: component, Role: "reference", ID: b.ID,
		Inside: float64(len(b.Inside)), Distance: missing})
	for i, hit := range b.Inside[:min(matches, len(b.Inside))] {
		s.add(g, "generated", galleryRow{Reference: b.ID, Component: component, Role: "match", ID: hit.ID,
			Rank: i + 1, Inside: missing, Distance: float64(hit.Distance)})
	}
}

func computeGallery(ctx context.Context, call *metrics.Call, o GalleryOptions) ([]galleryRow, error) {
	s := &galleryRows{call: call, at: map[string]map[string]int{}}
	for _, role := range []string{"real", "generated"} {
		s.at[role] = map[string]int{}
		for row, id := range call.Inputs[role].Texts("id") {
			s.at[role][id] = row
		}
	}
	spheres := HyperspheresOptions{By: o.By, Comparison: o.Comparison}
	components := make([][]*prdc.Manifold, 3)
	var groups []*group
	for i, vector := range []string{"full", "object_only", "background_only"} {
		var err error
		spheres.Vector = vector
		if groups, components[i], err = manifolds(ctx, call, spheres.comparison()); err != nil {
			return nil, err
		}
	}
	found := false
	var notes metrics.GroupNotes
	for i, g := range groups {
		if o.Only != "" && !slices.Contains(g.values, o.Only) {
			continue
		}
		found = true
		full, object, background := components[0][i], components[1][i], components[2][i]
		switch o.Selection {
		case Hubs:
			for _, b := range background.Hubs(o.N, 1) {
				s.line(g, "BG-only", b, o.Matches)
			}
		case LowRealismBackgrounds:
			for rank, l := range background.OutOfManifold(o.N, uint64(o.Seed), nil) {
				s.add(g, "generated", galleryRow{Reference: l.ID, Component: "BG-only", Role: "reference", ID: l.ID,
					Rank: rank, Distance: missing})
			}
		default:
			pick := prdc.LowDiversityBackgrounds
			if o.Selection == LowDiversityObjects {
				pick = prdc.LowDiversityObjects
			}
			triples := pick(prdc.Triples(full, object, background), o.WithFull)
			for _, t := range triples[:min(o.N, len(triples))] {
				s.line(g, "Full-image", t.Full, o.Matches)
				s.line(g, "Obj-only", t.Object, o.Matches)
				s.line(g, "BG-only", t.Background, o.Matches)
			}
			if len(triples) > o.N {
				notes.Add("%d of %d real images are shown", g.label(), o.N, len(triples))
			}
		}
	}
	notes.AddTo(call, o.By...)
	if !found {
		return nil, fmt.Errorf("no group %q in the tables", o.Only)
	}
	return s.rows, nil
}

// missing is a missing value in a number column.
var missing = math.NaN()
