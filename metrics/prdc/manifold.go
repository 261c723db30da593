package prdc

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"antipode/internal/distance"
	"antipode/metrics/interval"
)

// side is one of the two sets while it is worked on.
type side struct {
	name    string
	vectors [][]float32
	draws   *interval.Draws // of the vectors; nil = no half-samples
	total   *interval.Draws // of all rows, those without a vector among them
}

// manifold is the union of the balls of one set, and what lies in it, for the full sets and for all half-samples in one sweep.
//
// A half-sample's radius of centre j is the distance to the k-th drawn entry of j's neighbour list. Ball levels stand for that
// list from its k-th entry on: a point of level l lies in j's ball in exactly those draws where fewer than k of
// the first k-1+l neighbours are drawn. alive holds these draws as bits, so one AND serves all draws of a pair.
type manifold struct {
	side
	k      int
	closed bool
	words  int // words of draw bits, 0 = no half-samples

	balls0 distance.Balls
	radii  []float32
	alive  []uint64 // [centre][level][words]
	short  []uint64 // [centre][words]: draws in which the neighbour list runs out

	inside  []int32
	covered []uint64 // [centre][words]: draws in which a drawn point lies in the ball
	balls   []int32
	held    []uint64 // [point][words]: draws in which the point lies in a drawn ball
	pairs   counter
	members [][]Member
	points  side
}

func newManifold(ctx context.Context, n Neighbours, s side, opts Options) (*manifold, error) {
	m := &manifold{side: s, k: opts.K, closed: opts.Closed}
	keep := opts.K
	if s.draws != nil {
		m.words = s.draws.Words()
		keep = min(max(opts.Keep, opts.K), len(s.vectors)-1)
	}
	index, near, err := n.Nearest(ctx, s.vectors, keep)
	if err != nil {
		return nil, err
	}
	levels := keep - opts.K + 1
	if levels > 255 {
		return nil, fmt.Errorf("prdc: %d neighbours kept with k = %d; at most %d", keep, opts.K, opts.K+254)
	}
	m.balls0 = distance.Balls{Centres: s.vectors, Levels: levels, Closed: opts.Closed, Radii: make([]float32, 0, len(s.vectors)*levels)}
	m.radii = make([]float32, len(s.vectors))
	for j := range s.vectors {
		radii := near[j*keep+opts.K-1 : (j+1)*keep]
		m.radii[j] = radii[0]
		m.balls0.Radii = append(m.balls0.Radii, radii...)
	}
	if s.draws != nil {
		return m, m.drawRadii(index, keep)
	}
	return m, nil
}

// drawRadii fills alive and short.
func (m *manifold) drawRadii(index []int32, keep int) error {
	for b, size := range m.draws.Sizes() {
		if size <= m.k {
			return &ErrTooFewSamples{fmt.Sprintf("%s, half-sample %d:", m.name, b+1), size, m.k + 1}
		}
	}
	levels, words := m.balls0.Levels, m.words
	m.alive = make([]uint64, len(m.vectors)*levels*words)
	m.short = make([]uint64, len(m.vectors)*words)
	reached := make([]uint64, m.k*words) // reached[i]: draws with more than i drawn neighbours so far
	for j := range m.vectors {
		clear(reached)
		own := m.draws.Row(j)
		for t := range keep + 1 {
			if l := t - (m.k - 1); l >= 0 {
				to := m.short[j*words:]
				if l < levels {
					to = m.alive[(j*levels+l)*words:]
				}
				for w := range words {
					to[w] = own[w] &^ reached[(m.k-1)*words+w]
				}
			}
			if t == keep {
				break
			}
			drawn := m.draws.Row(int(index[j*keep+t]))
			for i := m.k - 1; i > 0; i-- {
				for w := range words {
					reached[i*words+w] |= reached[(i-1)*words+w] & drawn[w]
				}
			}
			for w := range words {
				reached[w] |= drawn[w]
			}
		}
		for l := range levels { // draws that run out are done apart, in full
			for w := range words {
				m.alive[(j*levels+l)*words+w] &^= m.short[j*words+w]
			}
		}
	}
	return nil
}

// hold finds what lies in the balls.
func (m *manifold) hold(ctx context.Context, n Neighbours, points side, members bool) error {
	m.points = points
	m.inside = make([]int32, len(m.vectors))
	m.balls = make([]int32, len(points.vectors))
	m.covered = make([]uint64, len(m.vectors)*m.words)
	m.held = make([]uint64, len(points.vectors)*m.words)
	m.pairs = newCounter(m.words)
	if members {
		m.members = make([][]Member, len(m.vectors))
	}
	if len(points.vectors) == 0 {
		return nil
	}
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	visits := make([]distance.Visit, len(workers))
	for w := range workers {
		workers[w] = &worker{m: m, balls: make([]int32, len(m.balls)), held: make([]uint64, len(m.held)), pairs: newCounter(m.words)}
		visits[w] = workers[w].visit
	}
	if err := n.Within(ctx, m.balls0, points.vectors, visits); err != nil {
		return err
	}
	for _, w := range workers {
		for i, c := range w.balls {
			m.balls[i] += c
		}
		for i, b := range w.held {
			m.held[i] |= b
		}
		m.pairs.merge(w.pairs)
	}
	for _, list := range m.members {
		slices.SortFunc(list, func(a, b Member) int {
			return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Generated, b.Generated))
		})
	}
	return m.runOuts(ctx)
}

// worker collects what one goroutine sees of the pairs.
type worker struct {
	m     *manifold
	balls []int32
	held  []uint64
	pairs counter
}

func (w *worker) visit(j int, points []int32, levels []uint8) {
	m := w.m
	for i, p := range points {
		if levels[i] == 0 {
			m.inside[j]++
			w.balls[p]++
			if m.members != nil {
				m.members[j] = append(m.members[j], Member{int(p), distance.Between(m.vectors[j], m.points.vectors[p])})
			}
		}
		if m.words == 0 {
			continue
		}
		alive := m.alive[(j*m.balls0.Levels+int(levels[i]))*m.words:]
		drawn := m.points.draws.Row(int(p))
		for x := range m.words {
			if both := alive[x] & drawn[x]; both != 0 {
				w.held[int(p)*m.words+x] |= both
				m.covered[j*m.words+x] |= both
				w.pairs.add(x, both)
			}
		}
	}
}

// runOuts does the draws in which fewer than k of a centre's known neighbours are drawn: radius and ball from the vectors themselves.
func (m *manifold) runOuts(ctx context.Context) error {
	if m.words == 0 {
		return nil
	}
	for j := range m.vectors {
		short := m.short[j*m.words : (j+1)*m.words]
		if !slices.ContainsFunc(short, func(w uint64) bool { return w != 0 }) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		toCentres := distances(m.vectors[j], m.vectors)
		toPoints := distances(m.vectors[j], m.points.vectors)
		for x, word := range short {
			for ; word != 0; word &= word - 1 {
				bit := word & -word
				list := distance.List{K: m.k}
				for i, d := range toCentres {
					if i != j && m.draws.Row(i)[x]&bit != 0 {
						list.Offer(int32(i), d)
					}
				}
				radius := list.Worst()
				for p, d := range toPoints {
					if m.points.draws.Row(p)[x]&bit != 0 && (d < radius || m.closed && d == radius) {
						m.held[p*m.words+x] |= bit
						m.covered[j*m.words+x] |= bit
						m.pairs.add(x, bit)
					}
				}
			}
		}
	}
	return nil
}

func distances(from []float32, to [][]float32) []float32 {
	out := make([]float32, len(to))
	for i, v := range to {
		out[i] = distance.Between(from, v)
	}
	return out
}

// scores turns counts into scores. total is the number of points, those without a vector among them.
func (m *manifold) scores(total int) (Scores, []Scores) {
	held, covered, pairs := 0, 0, 0
	for _, b := range m.balls {
		if b > 0 {
			held++
		}
	}
	for _, i := range m.inside {
		pairs += int(i)
		if i > 0 {
			covered++
		}
	}
	full := m.score(held, total, covered, len(m.vectors), pairs)
	if m.words == 0 {
		return full, nil
	}
	heldIn, coveredIn := newCounter(m.words), newCounter(m.words)
	for i, b := range m.held {
		heldIn.add(i%m.words, b)
	}
	for i, b := range m.covered {
		coveredIn.add(i%m.words, b)
	}
	centres, points := m.draws.Sizes(), m.points.total.Sizes()
	draws := make([]Scores, m.draws.Count())
	for b := range draws {
		draws[b] = m.score(heldIn.at(b), points[b], coveredIn.at(b), centres[b], m.pairs.at(b))
	}
	return full, draws
}

func (m *manifold) score(held, points, covered, centres, pairs int) Scores {
	s := Scores{Precision: nan, Density: nan, Recall: nan, Coverage: float64(covered) / float64(centres)}
	if points > 0 {
		s.Precision = float64(held) / float64(points)
		s.Density = float64(pairs) / (float64(m.k) * float64(points))
	}
	return s
}

// counter counts for each of many draws at once: plane p of a word holds bit p of the counts of its 64 draws.
type counter struct{ planes [][40]uint64 }

func newCounter(words int) counter { return counter{make([][40]uint64, words)} }

// add counts one up in every draw whose bit is set.
func (c counter) add(word int, draws uint64) { c.addAt(word, 0, draws) }

func (c counter) addAt(word, plane int, draws uint64) {
	for p := plane; draws != 0; p++ {
		plane := &c.planes[word][p]
		*plane, draws = *plane^draws, *plane&draws
	}
}

func (c counter) merge(o counter) {
	for w := range o.planes {
		for p, draws := range o.planes[w] {
			c.addAt(w, p, draws)
		}
	}
}

func (c counter) at(draw int) int {
	n := 0
	for p, word := range c.planes[draw/64] {
		n |= int(word>>(draw%64)&1) << p
	}
	return n
}
