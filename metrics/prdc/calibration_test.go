package prdc

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/interval"
)

// params describe a pair of known distributions.
type params struct {
	name             string
	stream           uint64 // of random numbers
	n, m, d          int
	shift, scale     float64 // of the generated set; the real one is normal with standard deviation 1 within a cell
	cells            int     // objects; a half-sample contains half of each
	spread           float64 // how far the cells' means are apart
	trials, forTruth int
}

// More, and longer ones, are in calibration_long_test.go.
var calibrations = []params{{"objects", 2, 120, 120, 6, 0.2, 0.9, 6, 4, 400, 2000}}

// Nominal 95 % intervals hold the truth in at least 93 % of 400 trials. The truth is the score's expectation at these
// sizes, estimated from other data sets of the same distributions.
func TestCalibration(t *testing.T) {
	for _, s := range calibrations {
		t.Run(s.name, func(t *testing.T) { calibrate(t, s) })
	}
}

func calibrate(t *testing.T, s params) {
	sets := func(trial int) Sets {
		r := rand.New(rand.NewPCG(near.Seed(t)<<32+uint64(trial), s.stream))
		sets := Sets{normal(r, s.n, s.d, 0, 1), normal(r, s.m, s.d, s.shift, s.scale)}
		for _, rows := range [][][]float32{sets.Real, sets.Generated} {
			for i, row := range rows {
				row[i%s.cells%s.d] += float32(s.spread)
			}
		}
		return sets
	}
	cells := func(n int) []string {
		c := make([]string, n)
		for i := range c {
			c[i] = strconv.Itoa(i % s.cells)
		}
		return c
	}
	get := []func(Scores) float64{
		func(s Scores) float64 { return s.Precision }, func(s Scores) float64 { return s.Coverage },
		func(s Scores) float64 { return s.Density }, func(s Scores) float64 { return s.Recall },
	}
	names := []string{"precision", "coverage", "density", "recall"}
	truth := make([]float64, len(get))
	for _, r := range inParallel(t, s.forTruth, func(i int) Sets { return sets(i) }, Options{Recall: true}) {
		for g := range get {
			truth[g] += get[g](r.Scores) / float64(s.forTruth)
		}
	}
	real, generated := cells(s.n), cells(s.m)
	held := make([]int, len(get))
	width := make([]float64, len(get))
	for trial := range s.trials {
		rd := must.Get(interval.HalfSample(interval.HalfSampleOptions{Seed: uint64(trial), Side: "real",
			Cells: real}))(t)
		gd := must.Get(interval.HalfSample(interval.HalfSampleOptions{Seed: uint64(trial), Side: "generated",
			Cells: generated}))(t)
		r := compute(t, sets(s.forTruth+trial), Options{Recall: true, RealSamples: rd, GeneratedSamples: gd})
		for g := range get {
			i := must.Get(interval.FromHalves(get[g](r.Scores), r.Samples.Of(get[g]), 0.95, interval.Range{}))(t)
			if !i.Excludes(truth[g]) {
				held[g]++
			}
			width[g] += (i.High - i.Low) / float64(s.trials)
		}
	}
	for g, name := range names {
		share := float64(held[g]) / float64(s.trials)
		t.Logf("%s: truth %.4f, mean width %.4f, held in %.1f %% of %d trials", name, truth[g], width[g], 100*share,
			s.trials)
		if share < 0.93 {
			t.Errorf("%s: held in %.1f %%, want at least 93 %%", name, 100*share)
		}
	}
}

func inParallel(t *testing.T, n int, sets func(int) Sets, opts Options) []*Result {
	out := make([]*Result, n)
	var wait sync.WaitGroup
	for w := range 2 {
		wait.Go(func() {
			for i := w; i < n; i += 2 {
				r, err := Compute(t.Context(), sets(i), opts, nil)
				if err != nil {
					t.Error(err)
					return
				}
				out[i] = r
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}
