package interval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// world is a known distribution of rows in clusters: each prompt has an effect on the values of both groups,
// so that only a bootstrap of whole prompts is right.
type world struct {
	name                    string
	prompts, each           int
	between, within         float64 // standard deviations of prompts, and of rows within one
	a, b                    float64 // means of the two groups
	shares                  bool    // values are 0 or 1
	trials                  int
	meanAtLeast, ratioAtMin float64 // share of trials whose intervals must hold the truth
}

// worlds that are always run; longer ones are in calibration_long_test.go. 93 to 96 % of nominal 95 %
// intervals hold the truth.
var worlds = []world{
	{"40 prompts", 40, 4, 1, 1, 5, 4, false, 400, 0.91, 0.91},
	{"shares", 60, 4, 0.15, 0, 0.6, 0.4, true, 400, 0.91, 0.91},
}

func TestCalibrationOfBootstrap(t *testing.T) {
	for i, w := range worlds {
		t.Run(w.name, func(t *testing.T) { w.calibrate(t, uint64(i)) })
	}
}

// calibrate counts how often the intervals of group a's mean, of the ratio of the groups' means, and of a mean that
// takes each row for its own, hold what they are about.
func (w world) calibrate(t *testing.T, stream uint64) {
	rng := rand.New(rand.NewPCG(near.Seed(t)<<8+99, stream))
	sample := func(mean, effect float64) float64 {
		if w.shares {
			if rng.Float64() < mean+effect {
				return 1
			}
			return 0
		}
		return mean + effect + w.within*rng.NormFloat64()
	}
	means, ratios, single := 0, 0, 0
	for trial := range w.trials {
		var sums [4][]float64 // Σ a, number of a, Σ b, number of b
		var values []float64
		var clusters, own []string
		for p := range w.prompts {
			effect := w.between * rng.NormFloat64()
			if w.shares {
				effect = w.between * (2*rng.Float64() - 1)
			}
			for range w.each {
				a, b := sample(w.a, effect), sample(w.b, effect)
				for k, v := range []float64{a, 1, b, 1} {
					sums[k] = append(sums[k], v)
				}
				values, clusters, own = append(values, a), append(clusters, fmt.Sprint("p", p)),
					append(own, fmt.Sprint("p", p))
			}
		}
		options := BootstrapOptions{Seed: int64(trial), Resamples: 400}
		mean := must.Get(BootstrapMean(values, own, options))(t)
		row := must.Get(BootstrapMean(values, nil, options))(t)
		ratio, err := BootstrapOf(sums[:], clusters, func(s []float64) float64 { return s[0] / s[1] / (s[2] / s[3]) },
			options)
		if err != nil {
			t.Fatal(err)
		}
		for count, i := range map[*int]struct {
			Interval
			truth float64
		}{&means: {mean, w.a}, &single: {row, w.a}, &ratios: {ratio, w.a / w.b}} {
			if !i.Excludes(i.truth) {
				*count++
			}
		}
	}
	share := func(n int) float64 { return float64(n) / float64(w.trials) }
	t.Logf("held: mean %.3f, ratio %.3f; mean without clusters %.3f", share(means), share(ratios), share(single))
	if share(means) < w.meanAtLeast || share(ratios) < w.ratioAtMin || share(means) > 0.99 || share(ratios) > 0.99 {
		t.Errorf("held in %.3f (mean) and %.3f (ratio) of trials, want at least %.2f and %.2f", share(means),
			share(ratios), w.meanAtLeast, w.ratioAtMin)
	}
	if !w.shares && share(single) > share(means)-0.05 {
		t.Errorf("with rows as clusters intervals contain the truth in %.3f, prompts in %.3f: the test's data have "+
			"no clusters",
			share(single), share(means))
	}
}

// Half-sampling of a nearest-neighbor score is calibrated in package prdc; here for a mean, whose interval is known.
func TestCalibrationOfHalves(t *testing.T) {
	rng := near.Rand(t, 98)
	const trials, n = 300, 60
	held := 0
	cell, ids := cells(n, 3)
	for trial := range trials {
		d := must.Get(HalfSample(HalfSampleOptions{Seed: uint64(trial), Resamples: 200, Cells: cell, IDs: ids}))(t)
		values, total := make([]float64, n), 0.
		for i := range values {
			values[i] = rng.NormFloat64()
			total += values[i] / n
		}
		samples := make([]float64, d.Count())
		for b := range samples {
			taken := 0.
			for i, v := range values {
				if d.Contains(b, i) {
					samples[b] += v
					taken++
				}
			}
			samples[b] /= taken
		}
		i := must.Get(FromHalves(total, samples, 0.95, Range{}))(t)
		if !i.Excludes(0) {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.90 || share > 0.99 {
		t.Errorf("held in %.3f of trials", share)
	}
}

// The ratio by hand, zero denominators, and what cannot be resampled.
func TestBootstrapRatio(t *testing.T) {
	i, err := BootstrapRatio([]float64{1, 2, 3, 2}, []float64{2, 2, 2, 2}, nil, BootstrapOptions{Resamples: 2000})
	if err != nil || i.Value != 1 || !(i.Low < 1 && 1 < i.High) || i.Resamples != 2000 || i.Method != MethodBootstrap {
		t.Errorf("%+v, %v", i, err)
	}
	rng := near.Rand(t, 97)
	for range 3 { // rows in any order, also of clusters
		n, d, c := []float64{1, 2, 3, 4, 5, 6}, []float64{1, 1, 2, 2, 3, 3}, []string{"a", "b", "a", "c", "b", "c"}
		before, err := BootstrapRatio(n, d, c, BootstrapOptions{Resamples: 2000, Seed: 4})
		rng.Shuffle(6, func(i, j int) { n[i], n[j], d[i], d[j], c[i], c[j] = n[j], n[i], d[j], d[i], c[j], c[i] })
		after, err2 := BootstrapRatio(n, d, c, BootstrapOptions{Resamples: 2000, Seed: 4})
		if err != nil || err2 != nil || math.Abs(before.Low-after.Low) > 1e-12 ||
			math.Abs(before.High-after.High) > 1e-12 {
			t.Errorf("%+v, %+v, %v, %v", before, after, err, err2)
		}
	}
	zero, err := BootstrapRatio([]float64{1, 2}, []float64{0, 0}, nil, BootstrapOptions{})
	if err != nil || !math.IsNaN(zero.Value) || !math.IsNaN(zero.Low) || !math.IsNaN(zero.High) {
		t.Errorf("a denominator of 0: %+v, %v", zero, err)
	}
	// in three of ten resamples the denominator is 0
	some, err := BootstrapRatio([]float64{1, 1, 1, 1}, []float64{0, 0, 1, 0}, nil, BootstrapOptions{Resamples: 2000})
	if err != nil || some.Value != 4 || !math.IsNaN(some.High) || math.IsNaN(some.Low) {
		t.Errorf("denominators of 0 in resamples: %+v, %v", some, err)
	}
	for name, f := range map[string]func() (Interval, error){
		"nothing": func() (Interval, error) { return BootstrapRatio(nil, nil, nil, BootstrapOptions{}) },
		"unequal": func() (Interval, error) {
			return BootstrapRatio([]float64{1}, []float64{1, 2}, nil, BootstrapOptions{})
		},
		"clusters": func() (Interval, error) {
			return BootstrapRatio([]float64{1}, []float64{1}, []string{"a", "b"}, BootstrapOptions{})
		},
		"not finite": func() (Interval, error) {
			return BootstrapRatio([]float64{math.NaN()}, []float64{1}, nil,
				BootstrapOptions{})
		},
		"level of 95": func() (Interval, error) {
			return BootstrapRatio([]float64{1}, []float64{1}, nil,
				BootstrapOptions{Level: 95})
		},
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
