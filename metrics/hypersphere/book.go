package hypersphere

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/metrics/prdc"
)

// Label names a picture.
type Label struct {
	ID, Region, Object string
	Template           string // of a generated picture; may be empty
}

// Hit is a picture at a distance.
type Hit struct {
	ID       string
	Distance float32
}

// Ball is a real picture's hypersphere.
type Ball struct {
	Label
	Radius float32
	Inside []Hit // generated pictures in it, nearest first
}

// Book holds the balls of one region in one set-up.
type Book struct {
	Balls     []Ball  // in the order of the run's real pictures
	Generated []Label // in the order of the run's generated pictures, misses among them

	holders [][]Hit // for each generated picture
}

// NewBook makes the book of a run that was asked for its members (prdc.Options.Members). real and generated label the run's rows.
func NewBook(real, generated []Label, run *prdc.Result) (*Book, error) {
	if run.Members == nil {
		return nil, fmt.Errorf("hypersphere: the run kept no members; set Options.Members")
	}
	if len(real) != run.Real || len(generated) != run.Generated {
		return nil, fmt.Errorf("hypersphere: labels for %d real and %d generated pictures, the run has %d and %d", len(real), len(generated), run.Real, run.Generated)
	}
	for _, side := range [][]Label{real, generated} {
		if id := twice(side); id != "" {
			return nil, fmt.Errorf("hypersphere: id %q occurs twice", id)
		}
	}
	b := &Book{Generated: generated, holders: make([][]Hit, len(generated))}
	for j, label := range real {
		ball := Ball{Label: label, Radius: run.Radii[j]}
		for _, m := range run.Members[j] {
			ball.Inside = append(ball.Inside, Hit{generated[m.Generated].ID, m.Distance})
			b.holders[m.Generated] = append(b.holders[m.Generated], Hit{label.ID, m.Distance})
		}
		b.Balls = append(b.Balls, ball)
	}
	for _, h := range b.holders {
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

// Holders lists the real pictures whose ball holds generated picture i, nearest first.
func (b *Book) Holders(i int) []Hit { return b.holders[i] }

// OutOfManifold draws n generated pictures that lie in no ball: low-realism ones. n = 0 takes all. They come in the
// order of the draw, which depends on the seed and the ids only; keep, where not nil, says which pictures to look at.
func (b *Book) OutOfManifold(n int, seed uint64, keep func(Label) bool) []Label {
	var out []Label
	for i, label := range b.Generated {
		if len(b.holders[i]) == 0 && (keep == nil || keep(label)) {
			out = append(out, label)
		}
	}
	return draw(out, n, seed)
}

// Hubs lists the real pictures that hold the most generated ones, by their number (equal ones by id): those with at
// least "least", the first n of them, 0 = all.
func (b *Book) Hubs(n, least int) []Ball {
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

// LeaveOut is what removing the largest hubs would do.
type LeaveOut struct {
	Name    string // "top 5", "top 1 %"
	Hubs    int    // real pictures removed
	Leaving int    // generated pictures that only lie in their balls
	Inside  int    // generated pictures that lie in some ball
	Share   float64
}

// LeaveOut computes, for the top 1, 5, 10 and 1 % (rounded up) of the hubs, the share of the pictures in the manifold that
// would leave it without them. The other balls keep their radii. A share of nothing is NaN.
func (b *Book) LeaveOut() []LeaveOut {
	ranked := b.Hubs(0, 0)
	rank := make(map[string]int, len(ranked))
	for r, ball := range ranked {
		rank[ball.ID] = r
	}
	inside, last := 0, make([]int, len(ranked)+1) // last[r]: pictures whose lowest-ranked holder has rank r
	for _, holders := range b.holders {
		if len(holders) == 0 {
			continue
		}
		lowest := 0
		for _, h := range holders {
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

// Triple is a real picture in the three set-ups.
type Triple struct {
	Label
	Full, Object, Background Ball
}

// Triples joins the books of the three set-ups of a region by the real pictures' ids. Pictures that one of them leaves out are not there. The order is that of the full book.
func Triples(full, object, background *Book) []Triple {
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

func (b *Book) byID() map[string]int {
	at := make(map[string]int, len(b.Balls))
	for i, ball := range b.Balls {
		at[ball.ID] = i
	}
	return at
}

// LowDiversityBackgrounds lists the real pictures whose object is generated while their background is not: generated pictures in the
// Obj-only ball, none in the BG-only ball. With full, also some in the Full-image ball (the paper's Figure 5).
func LowDiversityBackgrounds(triples []Triple, full bool) []Triple {
	return filter(triples, func(t Triple) bool {
		return len(t.Object.Inside) > 0 && len(t.Background.Inside) == 0 && (!full || len(t.Full.Inside) > 0)
	})
}

// LowDiversityObjects lists the real pictures whose background is generated while their object is not. With notFull, the
// Full-image ball is empty too (the paper's Figure 6).
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
