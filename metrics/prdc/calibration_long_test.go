//go:build calibration

package prdc

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/interval"
)

// Run with: go test -tags calibration -run Calibration -v ./metrics/prdc
func init() {
	calibrations = append(calibrations,
		params{"near", 0, 120, 120, 8, 0.1, 0.9, 1, 0, 400, 2000},
		params{"apart", 1, 120, 100, 6, 0.5, 1, 2, 0, 400, 2000},
		params{"300 of 16", 3, 300, 300, 16, 0, 1, 3, 0, 400, 4000},
		params{"300 of 16, narrow", 4, 300, 300, 16, 0, 0.7, 3, 3, 400, 4000},
		params{"more real", 5, 600, 150, 16, 0.2, 1, 10, 3, 400, 4000},
		params{"few a cell", 6, 120, 120, 8, 0.1, 1, 24, 2, 1000, 6000},
	)
}

// Six regions of one distribution: at most 7 % of 400 trials find any gap at the simultaneous 95 % level. With one
// region whose generated images lack most of the variety, nearly all trials find it.
func TestCalibrationOfGaps(t *testing.T) {
	const trials, n, d = 400, 120, 8
	cells := make([]string, n)
	for i := range cells {
		cells[i] = strconv.Itoa(i % 4)
	}
	for _, lowered := range []bool{false, true} {
		any, found := 0, 0
		for trial := range trials {
			var scored []interval.Scored
			for region := range 6 {
				r := rand.New(rand.NewPCG(near.Seed(t)<<32+uint64(trial), uint64(region)))
				scale := 1.
				if lowered && region == 0 {
					scale = 0.2
				}
				samples := map[string]*interval.Samples{}
				for _, side := range []string{"real", "generated"} {
					h := must.Get(interval.HalfSample(interval.HalfSampleOptions{Seed: uint64(trial), Side: side +
						strconv.Itoa(region), Cells: cells}))(t)
					samples[side] = h
				}
				run := compute(t, Sets{normal(r, n, d, 0, 1), normal(r, n, d, 0, scale)},
					Options{RealSamples: samples["real"], GeneratedSamples: samples["generated"]})
				scored = append(scored, interval.Scored{Name: strconv.Itoa(region), Value: run.Coverage,
					Samples: run.Samples.Of(func(s Scores) float64 { return s.Coverage })})
			}
			gaps := must.Get(interval.Gaps(scored, 0.95))(t)
			ofLower, ofOthers := false, false
			for _, g := range gaps {
				if g.Simultaneous.Excludes(0) {
					ofLower = ofLower || g.A == "0"
					ofOthers = ofOthers || g.A != "0"
				}
			}
			if ofOthers || ofLower && !lowered {
				any++
			}
			if ofLower {
				found++
			}
		}
		t.Logf("lowered %v: gaps between equal regions in %d of %d trials, of region 0 in %d", lowered, any, trials,
			found)
		if float64(any)/trials > 0.07 {
			t.Errorf("lowered %v: gaps between equal regions in %d of %d trials", lowered, any, trials)
		}
		if lowered && float64(found)/trials < 0.95 {
			t.Errorf("the injected gap is found in %d of %d trials", found, trials)
		}
	}
}
