package prdc

import (
	"context"
	"fmt"
	"math"

	"antipode/internal/distance"
	"antipode/metrics/interval"
)

// Sets are the two sets that are compared.
type Sets struct {
	Real      [][]float32 // N rows of d numbers
	Generated [][]float32 // M rows of d numbers; a nil row is a picture that counts in M and lies in no ball
}

// Options are the settings of [Compute]. The zero Options are the Decomposed-DIG paper's.
type Options struct {
	K       int  // the neighbour that gives the radius; 0 = 3
	Closed  bool // the boundary belongs to the ball: d ≤ r instead of d < r
	Recall  bool // also compute recall, which takes twice the time
	Members bool // also list the generated pictures in each ball: memory grows with their number

	// RealDraws and GeneratedDraws ask for the scores of half-samples too. Their rows are those of the sets, nil rows
	// among them, and both have the same number of draws. Both nil = none.
	RealDraws, GeneratedDraws *interval.Draws
	// Keep is how many neighbours are remembered for the draws; 0 = the larger of 24 and 8·K. Results do not depend on it.
	Keep int
}

// Scores are the four scores of one pair of sets; NaN = not available or not asked for.
type Scores struct {
	Precision, Coverage, Density, Recall float64
}

// Member is a generated picture inside a real picture's ball.
type Member struct {
	Generated int     // row in Sets.Generated
	Distance  float32 // to the ball's centre
}

// Result is what [Compute] gives.
type Result struct {
	Scores
	Draws []Scores // of each half-sample, if asked for

	K         int
	Closed    bool
	Real      int // N
	Generated int // M, misses among them
	Misses    int // nil rows of Generated

	Radii     []float32  // r_j of each real picture
	Inside    []int32    // for each real picture: generated pictures in its ball
	Balls     []int32    // for each generated picture: real balls that hold it; 0 = out of the manifold
	Members   [][]Member // for each real picture the pictures in its ball, nearest first; nil if not asked for
	ZeroRadii int        // real pictures with radius 0: they have k or more exact copies

	noRecall bool // recall was asked for, but there are too few generated vectors
}

// Neighbours finds neighbours exactly, as package distance defines them, in memory that does not grow with the product of the sets.
type Neighbours interface {
	// Nearest finds for each point its k nearest other points, nearest first, equal distances in the order of their
	// position: those of point i are index[i*k:(i+1)*k]. It needs 0 < k < len(points).
	Nearest(ctx context.Context, points [][]float32, k int) (index []int32, distances []float32, err error)
	// Within tells of every point that lies in one of the balls. It calls visits[w] from worker w only, so it uses at most len(visits)
	// workers; a worker's calls never overlap. The order of calls is not fixed.
	Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error
}

// Compute compares the two sets. A nil n means [Plain].
//
// Errors: *[ErrVector] (NaN, infinite, missing or of another width), *[ErrTooFewSamples] (N ≤ k, or a half-sample with
// no more than k), and what the context or n reports. With M = 0, precision is not available (NaN) and coverage is 0; see [Result.Warnings].
func Compute(ctx context.Context, sets Sets, opts Options, n Neighbours) (*Result, error) {
	if n == nil {
		n = Plain{}
	}
	if opts.K == 0 {
		opts.K = 3
	}
	if opts.K < 0 {
		return nil, fmt.Errorf("prdc: k = %d; it must be at least 1", opts.K)
	}
	if opts.Keep == 0 {
		opts.Keep = max(24, 8*opts.K)
	}
	if err := checkDraws(sets, opts); err != nil {
		return nil, err
	}
	width, err := checkVectors("real", sets.Real, 0, false)
	if err != nil {
		return nil, err
	}
	if _, err := checkVectors("generated", sets.Generated, width, true); err != nil {
		return nil, err
	}
	if len(sets.Real) <= opts.K {
		return nil, &ErrTooFewSamples{"real", len(sets.Real), opts.K + 1}
	}
	var drawn []int // rows of Generated with a vector
	var generated [][]float32
	for i, v := range sets.Generated {
		if v != nil {
			drawn, generated = append(drawn, i), append(generated, v)
		}
	}

	real := side{name: "real", vectors: sets.Real, draws: opts.RealDraws, total: opts.RealDraws}
	gen := side{name: "generated", vectors: generated, total: opts.GeneratedDraws}
	if gen.total != nil {
		gen.draws = gen.total.Pick(drawn)
	}
	m, err := newManifold(ctx, n, real, opts)
	if err != nil {
		return nil, err
	}
	if err := m.hold(ctx, n, gen, opts.Members); err != nil {
		return nil, err
	}
	r := &Result{
		K: opts.K, Closed: opts.Closed, Real: len(sets.Real), Generated: len(sets.Generated), Misses: len(sets.Generated) - len(drawn),
		Radii: m.radii, Inside: m.inside, Balls: make([]int32, len(sets.Generated)), Members: m.members,
	}
	for i, row := range drawn {
		r.Balls[row] = m.balls[i]
	}
	for _, members := range r.Members {
		for i := range members {
			members[i].Generated = drawn[members[i].Generated]
		}
	}
	for _, radius := range r.Radii {
		if radius == 0 {
			r.ZeroRadii++
		}
	}
	r.Scores, r.Draws = m.scores(r.Generated)
	if opts.Recall {
		err = r.recall(ctx, n, gen, real, opts)
	}
	return r, err
}

// recall is precision with the sets exchanged. It stays NaN where there are no more than k generated vectors.
func (r *Result) recall(ctx context.Context, n Neighbours, gen, real side, opts Options) error {
	if len(gen.vectors) <= opts.K {
		r.noRecall = true
		return nil
	}
	m, err := newManifold(ctx, n, gen, opts)
	if err != nil {
		return err
	}
	if err := m.hold(ctx, n, real, false); err != nil {
		return err
	}
	swapped, draws := m.scores(len(real.vectors))
	r.Recall = swapped.Precision
	for b := range draws {
		r.Draws[b].Recall = draws[b].Precision
	}
	return nil
}

// Of picks one score of every half-sample, for package interval: run.Of(func(s Scores) float64 { return s.Precision }).
func (r *Result) Of(score func(Scores) float64) []float64 {
	out := make([]float64, len(r.Draws))
	for b, s := range r.Draws {
		out[b] = score(s)
	}
	return out
}

// Warnings says in one line each what a reader of the scores should know: no generated pictures, radii of 0, recall that is not available.
func (r *Result) Warnings() []string {
	var w []string
	if r.Generated == 0 {
		w = append(w, "there are no generated pictures: precision is not available, coverage is 0")
	} else if r.Misses == r.Generated {
		w = append(w, fmt.Sprintf("none of the %d generated pictures has a usable component: all count as misses", r.Generated))
	}
	if r.ZeroRadii > 0 {
		w = append(w, fmt.Sprintf("%d of %d real pictures have radius 0 (%d or more exact copies): nothing can lie in their balls; discard duplicates first", r.ZeroRadii, r.Real, r.K))
	}
	if r.noRecall {
		w = append(w, fmt.Sprintf("recall is not available: %d generated pictures have a vector, k = %d needs at least %d", r.Generated-r.Misses, r.K, r.K+1))
	}
	return w
}

func checkDraws(sets Sets, opts Options) error {
	rd, gd := opts.RealDraws, opts.GeneratedDraws
	switch {
	case rd == nil && gd == nil:
		return nil
	case rd == nil || gd == nil:
		return fmt.Errorf("prdc: half-samples need draws of both sets")
	case rd.Len() != len(sets.Real) || gd.Len() != len(sets.Generated):
		return fmt.Errorf("prdc: draws of %d real and %d generated rows for sets of %d and %d", rd.Len(), gd.Len(), len(sets.Real), len(sets.Generated))
	case rd.Count() != gd.Count():
		return fmt.Errorf("prdc: %d draws of the real set, %d of the generated one", rd.Count(), gd.Count())
	}
	return nil
}

var nan = math.NaN()
