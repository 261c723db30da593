package indictti

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"antipode/metrics/internal/tabular"
)

// Bootstrap resamples prompts with replacement; see the package comment. The same draws serve all scores over the same prompts, so that what is
// computed from several scores keeps what they share.
type Bootstrap struct {
	weights [][]float64 // by draw: how often each prompt was drawn
	level   float64
}

// NewBootstrap draws the prompts: they depend on the seed and the number of prompts alone. With draws = 0 or fewer than two prompts there are no intervals.
func NewBootstrap(prompts, draws int, level float64, seed int64) (*Bootstrap, error) {
	if draws < 0 || !(level > 0 && level < 1) {
		return nil, fmt.Errorf("indictti: %d draws at level %g; draws are not negative, the level lies between 0 and 1", draws, level)
	}
	b := &Bootstrap{level: level}
	if prompts < 2 {
		return b, nil
	}
	rng := rand.New(rand.NewPCG(uint64(seed), uint64(prompts)))
	b.weights = make([][]float64, draws)
	for d := range b.weights {
		b.weights[d] = make([]float64, prompts)
		for range prompts {
			b.weights[d][rng.IntN(prompts)]++
		}
	}
	return b, nil
}

// Draws are the values of a score in every draw; NaN where a draw leaves it nothing to rest on.
func (b *Bootstrap) Draws(s Score) []float64 {
	out := make([]float64, len(b.weights))
	for d, w := range b.weights {
		out[d] = floats.Dot(w, s.Sums) / floats.Dot(w, s.Counts)
	}
	return out
}

// Interval is the percentile interval of a score; NaN where it rests on fewer than two prompts.
func (b *Bootstrap) Interval(s Score) (low, high float64) {
	if s.Prompts < 2 {
		return math.NaN(), math.NaN()
	}
	return b.Of([]Score{s}, func(v []float64) float64 { return v[0] })
}

// Of is the percentile interval of a number made from the values of several scores over the same prompts, computed anew in every draw. Draws that give NaN are left out.
func (b *Bootstrap) Of(scores []Score, f func(values []float64) float64) (low, high float64) {
	draws := make([][]float64, len(scores))
	for i, s := range scores {
		draws[i] = b.Draws(s)
	}
	values := make([]float64, len(scores))
	var kept []float64
	for d := range b.weights {
		for i := range draws {
			values[i] = draws[i][d]
		}
		if v := f(values); !math.IsNaN(v) {
			kept = append(kept, v)
		}
	}
	return tabular.Percentiles(kept, b.level)
}
