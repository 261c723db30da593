package main

import (
	"fmt"
	"math"
	"time"

	"antipode/metrics/distribution"
)

// scoresBenchmark measures the scores of all vectors, without intervals, one after the other.
var scoresBenchmark = benchmark{
	about: "Fréchet distance, KID and Vendi score of -n real and -n generated vectors, against clean-fid and " +
		"vendi-score",
	ints: map[string]int{"n": 10000, "size": 768, "repeat": 3, "seed": 1},
	run: func(s *session) error {
		n, d := s.int("n"), s.int("size")
		sets := twoSets(s, n, d)
		if err := s.write("real.f32", sets.Real...); err != nil {
			return err
		}
		if err := s.write("generated.f32", sets.Generated...); err != nil {
			return err
		}
		if err := s.begin(d); err != nil {
			return err
		}
		v := distribution.Vectors{Real: sets.Real, Generated: sets.Generated}
		scores := []func() (float64, error){
			func() (float64, error) { return distribution.Frechet(v) },
			func() (float64, error) { return distribution.MMD(v, distribution.Polynomial, distribution.Unbiased) },
			func() (float64, error) { return distribution.Vendi(v.Generated, "1") },
		}
		values := make([]float64, len(scores))
		var theirs reply
		size := fmt.Sprintf(", N = M = %d, d = %d", n, d)
		err := s.turns([]part{{"Fréchet distance" + size, "scores", 1}, {"KID" + size, "scores", 1},
			{"Vendi score" + size, "scores", 1}},
			side{"antipode", func() (seconds []float64, err error) {
				for i, score := range scores {
					start := time.Now()
					if values[i], err = score(); err != nil {
						return nil, err
					}
					seconds = append(seconds, time.Since(start).Seconds())
				}
				return seconds, nil
			}}, side{s.peer.name, func() (_ []float64, err error) {
				theirs, err = s.peer.do("run")
				return theirs.Seconds, err
			}})
		if err != nil {
			return err
		}
		for i, value := range values {
			other := theirs.Values[i]
			fmt.Printf("  %.10g and %.10g\n", value, other)
			if math.Abs(value-other) > 1e-6*max(math.Abs(other), 1) {
				return fmt.Errorf("score %d differs: %v and %v", i+1, value, other)
			}
		}
		return nil
	},
}
