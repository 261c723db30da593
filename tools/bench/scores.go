package main

import (
	"context"
	"fmt"
	"math"
	"sync"

	"antipode/gomlxmodels/blas"
	"antipode/metrics/distribution"
)

// scoresBenchmark measures the scores of all vectors, without intervals, one after the other.
var scoresBenchmark = benchmark{
	about: "Fréchet distance, KID, CMMD and Vendi score of -n real and -n generated vectors, against clean-fid, " +
		"torch-fidelity, numpy and vendi-score",
	ints: map[string]int{"n": 10000, "size": 768, "repeat": 3, "seed": 1},
	run: func(s *session) error {
		n, d := s.int("n"), s.int("size")
		sets := twoSets(s, n, d)
		check(s.write("real.f32", sets.Real...))
		check(s.write("generated.f32", sets.Generated...))
		check(s.begin(d))
		var one sync.Mutex
		multiplier := blas.Use(s.device.Backend, func(_ context.Context, f func() error) error {
			one.Lock()
			defer one.Unlock()
			return f()
		})
		defer multiplier.Close()
		v := distribution.Vectors{Real: sets.Real, Generated: sets.Generated}
		distance := func() (float64, error) { return distribution.Frechet(v) }
		kernel := func() (float64, error) {
			return distribution.MMD(v, distribution.Polynomial, distribution.Unbiased)
		}
		scores := []struct {
			peer    string
			compute func() (float64, error)
		}{
			{"Fréchet distance, clean-fid", distance}, {"Fréchet distance, torch-fidelity", distance},
			{"KID, clean-fid", kernel}, {"KID, torch-fidelity", kernel},
			{"CMMD, numpy", func() (float64, error) {
				return distribution.MMD(v, distribution.Gaussian, distribution.Biased)
			}},
			{"Vendi score, vendi-score", func() (float64, error) { return distribution.Vendi(v.Generated, "1") }},
		}
		var parts []part
		for _, score := range scores {
			parts = append(parts, part{fmt.Sprintf("%s, N = M = %d, d = %d", score.peer, n, d), "scores", 1})
			must(score.compute())
		}
		values, peaks := make([]float64, len(scores)), make([]float64, len(scores))
		var theirs reply
		check(s.turns(parts, side{"antipode, " + s.device.Kind, func() ([]float64, error) {
			seconds := make([]float64, len(scores))
			for i, score := range scores {
				var err error
				seconds[i], peaks[i], err = peaked(func() (err error) {
					values[i], err = score.compute()
					return err
				})
				if err != nil {
					return nil, err
				}
			}
			return seconds, nil
		}}, side{s.peer.name, func() (_ []float64, err error) {
			theirs, err = s.peer.do("run")
			return theirs.Seconds, err
		}}))
		for i, value := range values {
			other := theirs.Values[i]
			fmt.Printf("  %s: %.10g and %.10g; peak memory above the inputs %.0f and %.0f MiB\n", scores[i].peer,
				value, other, peaks[i], theirs.Peaks[i])
			if math.Abs(value-other) > 1e-6*math.Abs(other) {
				return fmt.Errorf("score %d differs: %v and %v", i+1, value, other)
			}
		}
		return nil
	},
}
