package consistency

import (
	"gonum.org/v1/gonum/floats"

	"antipode/metrics"
	"antipode/metrics/interval"
)

// resamples are bootstrap resamples of prompts; see the package comment. All scores over the same prompts use the same
// resamples, so that differences of scores account for their correlation.
type resamples struct {
	*interval.Bootstrap
	weights [][]float64 // by resample: how often it contains each prompt
}

// resample samples prompts: the resamples depend on the seed and the number of prompts only.
func resample(i metrics.Intervals, prompts int) (*resamples, error) {
	b, err := interval.NewBootstrap(i.Bootstrap("prompts"), prompts)
	if err != nil {
		return nil, err
	}
	return &resamples{b, b.Weights()}, nil
}

// values returns the values of a score in every resample; NaN if a resample has no term.
func (r *resamples) values(s Score) []float64 {
	out := make([]float64, len(r.weights))
	for d, w := range r.weights {
		out[d] = floats.Dot(w, s.Sums) / floats.Dot(w, s.Counts)
	}
	return out
}

// estimate returns a score with its interval; NaN if fewer than two prompts have a term.
func (r *resamples) estimate(s Score) metrics.Estimate {
	low, high := r.Among(s.Prompts).Ends(s.Value, r.values(s))
	return metrics.Estimate{Value: s.Value, Low: low, High: high}
}

// of returns the interval of a function of several scores over the same prompts, of which so many have a term.
func (r *resamples) of(prompts int, value float64, scores []Score, f func(values []float64) float64) (low,
	high float64) {
	all := make([][]float64, len(scores))
	for i, s := range scores {
		all[i] = r.values(s)
	}
	values, out := make([]float64, len(scores)), make([]float64, len(r.weights))
	for d := range out {
		for i := range all {
			values[i] = all[i][d]
		}
		out[d] = f(values)
	}
	return r.Among(prompts).Ends(value, out)
}
