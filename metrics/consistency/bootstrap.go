package consistency

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"antipode/metrics/internal/tabular"
)

// Bootstrap resamples prompts with replacement; see the package comment. All scores over the same prompts use the same
// resamples, so that differences of scores account for their correlation.
type Bootstrap struct {
	weights [][]float64 // by resample: how often it contains each prompt
	level   float64
}

// NewBootstrap samples prompts: the resamples depend on the seed and the number of prompts only. With resamples = 0 or
// fewer than two prompts there are no intervals.
func NewBootstrap(prompts, resamples int, level float64, seed int64) (*Bootstrap, error) {
	if resamples < 0 || !(level > 0 && level < 1) {
		return nil, fmt.Errorf("consistency: resamples is %d and level is %g; resamples must be at least 0, and "+
			"level between 0 and 1", resamples, level)
	}
	b := &Bootstrap{level: level}
	if prompts < 2 {
		return b, nil
	}
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(prompts)))
	b.weights = make([][]float64, resamples)
	for d := range b.weights {
		b.weights[d] = make([]float64, prompts)
		for range prompts {
			b.weights[d][rng.IntN(prompts)]++
		}
	}
	return b, nil
}

// Resamples returns the values of a score in every resample; NaN if a resample has no term.
func (b *Bootstrap) Resamples(s Score) []float64 {
	out := make([]float64, len(b.weights))
	for d, w := range b.weights {
		out[d] = floats.Dot(w, s.Sums) / floats.Dot(w, s.Counts)
	}
	return out
}

// Interval returns the percentile interval of a score; NaN if fewer than two prompts have a term.
func (b *Bootstrap) Interval(s Score) (low, high float64) {
	if s.Prompts < 2 {
		return math.NaN(), math.NaN()
	}
	return b.Of([]Score{s}, func(v []float64) float64 { return v[0] })
}

// Of returns the percentile interval of a function of several scores over the same prompts. Resamples in which it is
// NaN are left out.
func (b *Bootstrap) Of(scores []Score, f func(values []float64) float64) (low, high float64) {
	resamples := make([][]float64, len(scores))
	for i, s := range scores {
		resamples[i] = b.Resamples(s)
	}
	values := make([]float64, len(scores))
	var kept []float64
	for d := range b.weights {
		for i := range resamples {
			values[i] = resamples[i][d]
		}
		if v := f(values); !math.IsNaN(v) {
			kept = append(kept, v)
		}
	}
	return tabular.Percentiles(kept, b.level)
}
