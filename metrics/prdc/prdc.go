package prdc

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"antipode/internal/distance"
	"antipode/metrics/interval"
)

// Sets are the two sets to compare.
type Sets struct {
	Real      [][]float32 // N rows of d numbers
	Generated [][]float32 // M rows of d numbers; a nil row is an image that counts in M and is in no ball
}

// Options are the options of [Compute]. The zero value is as in the Decomposed-DIG paper.
type Options struct {
	K       int  // the neighbor whose distance is the radius; 0 = 3
	Closed  bool // the boundary belongs to the ball: d ≤ r instead of d < r
	Recall  bool // also compute recall, which doubles the time
	Members bool // also list the generated images in each ball, which takes memory for each
	HeldOut bool // also score held-out real images as if they were generated; needs half-samples

	// RealSamples and GeneratedSamples are half-samples of the sets' rows (nil rows included), equally many of both,
	// for which the scores are computed too. Both nil = none.
	RealSamples, GeneratedSamples *interval.Samples
	// Keep is the number of neighbors stored for the half-samples, at most K + 254; 0 = the larger of 24 and 8·K. It
	// affects the speed, not the results.
	Keep int
}

// Scores are the four scores of a pair of sets; NaN = not available or not requested.
type Scores struct {
	Precision, Coverage, Density, Recall float64
}

// Halves are the scores of half-samples.
type Halves []Scores

// Member is a generated image inside a real image's ball.
type Member struct {
	Generated int     // row in Sets.Generated
	Distance  float32 // to the ball's center
}

// Result is the result of [Compute].
type Result struct {
	Scores
	Samples Halves // of each half-sample
	HeldOut Halves // of each half-sample, the real images outside it as if generated; see [interval.Samples.Outside]

	K         int
	Closed    bool
	Real      int // N
	Generated int // M, including misses
	Misses    int // nil rows of Generated

	Radii     []float32  // r_j of each real image
	Inside    []int32    // for each real image: generated images in its ball
	Balls     []int32    // for each generated image: real balls that contain it; 0 = outside the manifold
	Members   [][]Member // for each real image: the images in its ball, nearest first; nil without Options.Members
	ZeroRadii int        // real images with radius 0, which have k or more exact copies
}

// Neighbors finds nearest neighbors exactly, as package distance defines them, without allocating memory for all pairs.
type Neighbors interface {
	// Nearest returns for each point its k nearest other points, nearest first, at equal distances in the order of
	// their index: those of point i are index[i*k:(i+1)*k]. It requires 0 < k < len(points).
	Nearest(ctx context.Context, points [][]float32, k int) (index []int32, distances []float32, err error)
	// Within reports every point in each ball. It calls visits[w] from worker w only, so it uses at
	// most len(visits) workers; a worker's calls do not overlap. The order of calls is not fixed.
	Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error
}

// Compute compares two sets. If n is nil it uses [Plain].
//
// Errors: *[ErrVector] (NaN, infinite, missing or of another width), *[ErrTooFewSamples] (N ≤ k, or a half-sample
// with at most k vectors), and those of the context and n. If M = 0, precision is not available (NaN) and coverage
// is 0.
func Compute(ctx context.Context, sets Sets, opts Options, n Neighbors) (*Result, error) {
	if n == nil {
		n = Plain{}
	}
	opts.K = cmp.Or(opts.K, 3)
	if opts.K < 0 {
		return nil, fmt.Errorf("prdc: k = %d; it must be at least 1", opts.K)
	}
	if opts.Keep == 0 {
		opts.Keep = max(24, 8*opts.K)
	}
	if err := checkSamples(sets, opts); err != nil {
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
	var rows []int // of Generated, with a vector
	var generated [][]float32
	for i, v := range sets.Generated {
		if v != nil {
			rows, generated = append(rows, i), append(generated, v)
		}
	}

	real := side{name: "real", vectors: sets.Real, samples: opts.RealSamples, total: opts.RealSamples}
	gen := side{name: "generated", vectors: generated, total: opts.GeneratedSamples}
	if gen.total != nil {
		gen.samples = gen.total.Pick(rows)
	}
	m, err := newManifold(ctx, n, real, opts)
	if err != nil {
		return nil, err
	}
	if err := m.hold(ctx, n, gen, opts.Members); err != nil {
		return nil, err
	}
	r := m.result(sets, opts, rows)
	if opts.HeldOut && opts.RealSamples != nil {
		out := opts.RealSamples.Outside(float64(r.Generated) / float64(r.Real))
		if err = m.hold(ctx, n, side{name: "real", vectors: sets.Real, samples: out, total: out}, false); err != nil {
			return nil, err
		}
		_, r.HeldOut = m.scores(0)
	}
	if opts.Recall {
		err = r.recall(ctx, n, gen, real, opts)
	}
	return r, err
}

// result returns the scores and counts; rows are those of the generated vectors.
func (m *manifold) result(sets Sets, opts Options, rows []int) *Result {
	r := &Result{
		K: opts.K, Closed: opts.Closed, Real: len(sets.Real), Generated: len(sets.Generated),
		Misses: len(sets.Generated) - len(rows),
		Radii:  m.radii, Inside: m.inside, Balls: make([]int32, len(sets.Generated)), Members: m.members,
	}
	for i, row := range rows {
		r.Balls[row] = m.balls[i]
	}
	for _, members := range r.Members {
		for i := range members {
			members[i].Generated = rows[members[i].Generated]
		}
	}
	for _, radius := range r.Radii {
		if radius == 0 {
			r.ZeroRadii++
		}
	}
	r.Scores, r.Samples = m.scores(r.Generated)
	return r
}

// recall computes precision with the sets exchanged. It stays NaN if there are at most k generated vectors.
func (r *Result) recall(ctx context.Context, n Neighbors, gen, real side, opts Options) error {
	if len(gen.vectors) <= opts.K {
		return nil
	}
	m, err := newManifold(ctx, n, gen, opts)
	if err != nil {
		return err
	}
	if err := m.hold(ctx, n, real, false); err != nil {
		return err
	}
	swapped, samples := m.scores(len(real.vectors))
	r.Recall = swapped.Precision
	for b := range samples {
		r.Samples[b].Recall = samples[b].Precision
	}
	return nil
}

// Of returns one score of every half-sample, for package interval: r.Samples.Of(func(s Scores) float64 { return
// s.Precision }).
func (h Halves) Of(score func(Scores) float64) []float64 {
	out := make([]float64, len(h))
	for b, s := range h {
		out[b] = score(s)
	}
	return out
}

func checkSamples(sets Sets, opts Options) error {
	real, gen := opts.RealSamples, opts.GeneratedSamples
	switch {
	case real == nil && gen == nil:
		return nil
	case real == nil || gen == nil:
		return fmt.Errorf("prdc: half-samples of both sets are needed")
	case real.Len() != len(sets.Real) || gen.Len() != len(sets.Generated):
		return fmt.Errorf("prdc: half-samples of %d real and %d generated rows for sets of %d and %d", real.Len(),
			gen.Len(),
			len(sets.Real), len(sets.Generated))
	case real.Count() != gen.Count():
		return fmt.Errorf("prdc: %d half-samples of the real set, %d of the generated set", real.Count(), gen.Count())
	}
	return nil
}

var nan = math.NaN()
