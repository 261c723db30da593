package prdc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Label names an image.
type Label struct {
	ID, Region, Object string
	Template           string // of a generated image; may be empty
}

// Hit is an image and its distance.
type Hit struct {
	ID       string
	Distance float32
}

// Ball is the hypersphere of a real image.
type Ball struct {
	Label
	Radius float32
	Inside []Hit // generated images in it, nearest first
}

// Manifold holds the balls of one region and component, and the generated images inside them.
type Manifold struct {
	Balls     []Ball  // in the order of the run's real images
	Generated []Label // in the order of the run's generated images, including misses

	containing [][]Hit // for each generated image, the real images whose ball contains it
}

// NewManifold returns the manifold of a run with Options.Members. real and generated are the labels of its rows.
func NewManifold(real, generated []Label, run *Result) (*Manifold, error) {
	if run.Members == nil {
		return nil, fmt.Errorf("prdc: the run has no members; set Options.Members")
	}
	if len(real) != run.Real || len(generated) != run.Generated {
		return nil, fmt.Errorf("prdc: labels for %d real and %d generated images, the run has %d and %d",
			len(real), len(generated), run.Real, run.Generated)
	}
	for _, side := range [][]Label{real, generated} {
		if id := twice(side); id != "" {
			return nil, fmt.Errorf("prdc: id %q occurs twice", id)
		}
	}
	b := &Manifold{Generated: generated, containing: make([][]Hit, len(generated))}
	for j, label := range real {
		ball := Ball{Label: label, Radius: run.Radii[j]}
		for _, m := range run.Members[j] {
			ball.Inside = append(ball.Inside, Hit{generated[m.Generated].ID, m.Distance})
			b.containing[m.Generated] = append(b.containing[m.Generated], Hit{label.ID, m.Distance})
		}
		b.Balls = append(b.Balls, ball)
	}
	for _, h := range b.containing {
		slices.SortFunc(h, func(x, y Hit) int {
			return cmp.Or(cmp.Compare(x.Distance, y.Distance), cmp.Compare(x.ID, y.ID))
		})
	}
	return b, nil
}

func twice(labels []Label) string {
	seen := make(map[string]bool, len(labels))
	for _, l := range labels {
		if seen[l.ID] {
			return l.ID
		}
		seen[l.ID] = true
	}
	return ""
}

// Containing returns the real images whose ball contains generated image i, nearest first.
func (b *Manifold) Containing(i int) []Hit { return b.containing[i] }

// OutOfManifold returns n random generated images that are in no ball (low realism), or all if n is 0. The choice
// depends only on the seed and the ids. If keep is not nil, it selects the images to consider.
func (b *Manifold) OutOfManifold(n int, seed uint64, keep func(Label) bool) []Label {
	var out []Label
	for i, label := range b.Generated {
		if len(b.containing[i]) == 0 && (keep == nil || keep(label)) {
			out = append(out, label)
		}
	}
	return sample(out, n, seed)
}

// Hubs returns the real images whose balls contain the most generated images, by number, then id: the first n (0 = all)
// of those with at least "least".
func (b *Manifold) Hubs(n, least int) []Ball {
	var hubs []Ball
	for _, ball := range b.Balls {
		if len(ball.Inside) >= least {
			hubs = append(hubs, ball)
		}
	}
	slices.SortFunc(hubs, func(x, y Ball) int {
		return cmp.Or(cmp.Compare(len(y.Inside), len(x.Inside)), cmp.Compare(x.ID, y.ID))
	})
	if n > 0 && len(hubs) > n {
		hubs = hubs[:n]
	}
	return hubs
}

// LeaveOut is the effect of removing the largest hubs.
type LeaveOut struct {
	// "top 5", "top 1 %"
	Name string `column:"without" help:"the reference images left out"`
	// Leaving / Inside
	Share float64 `column:"share" unit:"share of in-manifold images" range:"[0, 1]"`
	// real images removed
	Hubs int `column:"n_hubs" unit:"images"`
	// generated images that are only in their balls
	Leaving int `column:"n_leaving" unit:"images"`
	Inside  int `column:"n_inside" unit:"images" help:"generated images in the manifold"`
}

// LeaveOut returns, for the top 1, 5, 10 and 1 % (rounded up) of the hubs, the share of the images in the manifold
// that are outside it without them. The radii of the other balls do not change. The share is NaN if the manifold has no
// images.
func (b *Manifold) LeaveOut() []LeaveOut {
	ranked := b.Hubs(0, 0)
	rank := make(map[string]int, len(ranked))
	for r, ball := range ranked {
		rank[ball.ID] = r
	}
	inside, last := 0, make([]int, len(ranked)+1) // last[r]: images whose lowest-ranked ball has rank r
	for _, containing := range b.containing {
		if len(containing) == 0 {
			continue
		}
		lowest := 0
		for _, h := range containing {
			lowest = max(lowest, rank[h.ID])
		}
		inside++
		last[lowest]++
	}
	var out []LeaveOut
	for _, top := range []struct {
		name string
		hubs int
	}{{"top 1", 1}, {"top 5", 5}, {"top 10", 10}, {"top 1 %", (len(ranked) + 99) / 100}} {
		l := LeaveOut{Name: top.name, Hubs: min(top.hubs, len(ranked)), Inside: inside}
		for _, n := range last[:l.Hubs] {
			l.Leaving += n
		}
		l.Share = math.NaN()
		if inside > 0 {
			l.Share = float64(l.Leaving) / float64(inside)
		}
		out = append(out, l)
	}
	return out
}

// Triple is a real image with its balls for the three components.
type Triple struct {
	Label
	Full, Object, Background Ball
}

// Triples joins the manifolds of the three components of a region by the real images' ids, in the order of the full
// manifold.
// Images that are missing in one of them are left out.
func Triples(full, object, background *Manifold) []Triple {
	o, bg := object.byID(), background.byID()
	var out []Triple
	for _, ball := range full.Balls {
		x, inObject := o[ball.ID]
		y, inBackground := bg[ball.ID]
		if inObject && inBackground {
			out = append(out, Triple{ball.Label, ball, object.Balls[x], background.Balls[y]})
		}
	}
	return out
}

func (b *Manifold) byID() map[string]int {
	at := make(map[string]int, len(b.Balls))
	for i, ball := range b.Balls {
		at[ball.ID] = i
	}
	return at
}

// LowDiversityBackgrounds returns the real images whose object is generated while their background is not: generated
// images in the Obj-only ball, none in the BG-only ball. With full, also some in the Full-image ball (the paper's
// Figure 5).
func LowDiversityBackgrounds(triples []Triple, full bool) []Triple {
	return filter(triples, func(t Triple) bool {
		return len(t.Object.Inside) > 0 && len(t.Background.Inside) == 0 && (!full || len(t.Full.Inside) > 0)
	})
}

// LowDiversityObjects returns the real images whose background is generated while their object is not. With notFull,
// the Full-image ball is empty too (the paper's Figure 6).
func LowDiversityObjects(triples []Triple, notFull bool) []Triple {
	return filter(triples, func(t Triple) bool {
		return len(t.Background.Inside) > 0 && len(t.Object.Inside) == 0 && (!notFull || len(t.Full.Inside) == 0)
	})
}

func filter[T any](all []T, keep func(T) bool) (kept []T) {
	for _, x := range all {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}
