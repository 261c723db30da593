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

// side is one of the two sets.
type side struct {
	name    string
	vectors [][]float32
	samples *interval.Samples // of the vectors; nil = no half-samples
	total   *interval.Samples // of all rows, including those without a vector
}

// manifold is the union of the balls of one set and the points in it, for the full sets and for all half-samples in
// one pass.
//
// The radius of center j in a half-sample is the distance to the k-th entry of j's neighbor list that the half-sample
// contains. Ball levels correspond to the entries of that list from the k-th on: a point of level l is in j's ball in
// exactly those half-samples that contain fewer than k of the first k-1+l neighbors. alive stores these half-samples as
// bits, so one AND evaluates 64 half-samples of a pair.
type manifold struct {
	side
	k      int
	closed bool
	words  int // words of half-sample bits, 0 = no half-samples

	balls0 distance.Balls
	radii  []float32
	alive  []uint64 // [center][level][words]
	short  []uint64 // [center][words]: half-samples with fewer than k entries of the neighbor list

	inside  []int32
	covered []uint64 // [center][words]: half-samples with a point in the ball
	balls   []int32
	held    []uint64 // [point][words]: half-samples in which the point is in a ball
	pairs   counter
	members [][]Member
	points  side
}

func newManifold(ctx context.Context, n Neighbors, s side, opts Options) (*manifold, error) {
	m := &manifold{side: s, k: opts.K, closed: opts.Closed}
	keep := opts.K
	if s.samples != nil {
		m.words = s.samples.Words()
		keep = min(max(opts.Keep, opts.K), opts.K+254, len(s.vectors)-1) // a level is a byte
	}
	index, near, err := n.Nearest(ctx, s.vectors, keep)
	if err != nil {
		return nil, err
	}
	levels := keep - opts.K + 1
	m.balls0 = distance.Balls{Centers: s.vectors, Levels: levels, Closed: opts.Closed,
		Radii: make([]float32, 0, len(s.vectors)*levels)}
	m.radii = make([]float32, len(s.vectors))
	for j := range s.vectors {
		radii := near[j*keep+opts.K-1 : (j+1)*keep]
		m.radii[j] = radii[0]
		m.balls0.Radii = append(m.balls0.Radii, radii...)
	}
	if s.samples != nil {
		return m, m.sampleRadii(index, keep)
	}
	return m, nil
}

// sampleRadii fills alive and short.
func (m *manifold) sampleRadii(index []int32, keep int) error {
	for b, size := range m.samples.Sizes() {
		if size <= m.k {
			return &ErrTooFewSamples{fmt.Sprintf("%s, half-sample %d:", m.name, b+1), size, m.k + 1}
		}
	}
	levels, words := m.balls0.Levels, m.words
	m.alive = make([]uint64, len(m.vectors)*levels*words)
	m.short = make([]uint64, len(m.vectors)*words)
	reached := make([]uint64, m.k*words) // reached[i]: half-samples with more than i neighbors so far
	for j := range m.vectors {
		clear(reached)
		own := m.samples.Row(j)
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
			row := m.samples.Row(int(index[j*keep+t]))
			for i := m.k - 1; i > 0; i-- {
				for w := range words {
					reached[i*words+w] |= reached[(i-1)*words+w] & row[w]
				}
			}
			for w := range words {
				reached[w] |= row[w]
			}
		}
		for l := range levels { // shortLists computes these half-samples
			for w := range words {
				m.alive[(j*levels+l)*words+w] &^= m.short[j*words+w]
			}
		}
	}
	return nil
}

// hold finds the points in the balls.
func (m *manifold) hold(ctx context.Context, n Neighbors, points side, members bool) error {
	m.points = points
	m.inside = make([]int32, len(m.vectors))
	m.balls = make([]int32, len(points.vectors))
	m.covered = make([]uint64, len(m.vectors)*m.words)
	m.held = make([]uint64, len(points.vectors)*m.words)
	m.pairs = newCounter(m.words)
	if m.members = nil; members {
		m.members = make([][]Member, len(m.vectors))
	}
	if len(points.vectors) == 0 {
		return nil
	}
	workers := make([]*worker, runtime.GOMAXPROCS(0))
	visits := make([]distance.Visit, len(workers))
	for w := range workers {
		workers[w] = &worker{m: m, balls: make([]int32, len(m.balls)), held: make([]uint64, len(m.held)),
			pairs: newCounter(m.words)}
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
	return m.shortLists(ctx)
}

// worker collects the pairs that one goroutine visits.
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
		row := m.points.samples.Row(int(p))
		for x := range m.words {
			if both := alive[x] & row[x]; both != 0 {
				w.held[int(p)*m.words+x] |= both
				m.covered[j*m.words+x] |= both
				w.pairs.add(x, both)
			}
		}
	}
}

// shortLists computes the half-samples that contain fewer than k entries of a center's neighbor list: radius and ball
// from the vectors themselves.
func (m *manifold) shortLists(ctx context.Context) error {
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
		toCenters := distances(m.vectors[j], m.vectors)
		toPoints := distances(m.vectors[j], m.points.vectors)
		for x, word := range short {
			for ; word != 0; word &= word - 1 {
				bit := word & -word
				list := distance.List{K: m.k}
				for i, d := range toCenters {
					if i != j && m.samples.Row(i)[x]&bit != 0 {
						list.Offer(int32(i), d)
					}
				}
				radius := list.Worst()
				for p, d := range toPoints {
					if m.points.samples.Row(p)[x]&bit != 0 && (d < radius || m.closed && d == radius) {
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

// scores computes the scores from the counts. total is the number of points, including those without a vector.
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
	centers, points := m.samples.Sizes(), m.points.total.Sizes()
	samples := make([]Scores, m.samples.Count())
	for b := range samples {
		samples[b] = m.score(heldIn.at(b), points[b], coveredIn.at(b), centers[b], m.pairs.at(b))
	}
	return full, samples
}

func (m *manifold) score(held, points, covered, centers, pairs int) Scores {
	s := Scores{Precision: nan, Density: nan, Recall: nan, Coverage: float64(covered) / float64(centers)}
	if points > 0 {
		s.Precision = float64(held) / float64(points)
		s.Density = float64(pairs) / (float64(m.k) * float64(points))
	}
	return s
}

// counter counts for many half-samples at once: plane p of a word holds bit p of the counts of its 64 half-samples.
type counter struct{ planes [][40]uint64 }

func newCounter(words int) counter { return counter{make([][40]uint64, words)} }

// add increments the count of every half-sample whose bit is set.
func (c counter) add(word int, bits uint64) { c.addAt(word, 0, bits) }

func (c counter) addAt(word, plane int, bits uint64) {
	for p := plane; bits != 0; p++ {
		plane := &c.planes[word][p]
		*plane, bits = *plane^bits, *plane&bits
	}
}

func (c counter) merge(o counter) {
	for w := range o.planes {
		for p, bits := range o.planes[w] {
			c.addAt(w, p, bits)
		}
	}
}

func (c counter) at(sample int) int {
	n := 0
	for p, word := range c.planes[sample/64] {
		n |= int(word>>(sample%64)&1) << p
	}
	return n
}
