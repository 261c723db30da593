//go:build calibration

package prdc

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"antipode/internal/near"
	"antipode/metrics/interval"
)

// Run with: go test -tags calibration -run Calibration -v ./metrics/prdc
func init() {
	calibrations = append(calibrations,
		setting{"300 of 16", 300, 300, 16, 0, 1, 3, 0, 400, 4000},
		setting{"300 of 16, narrow", 300, 300, 16, 0, 0.7, 3, 3, 400, 4000},
		setting{"more real", 600, 150, 16, 0.2, 1, 10, 3, 400, 4000},
		setting{"few a cell", 120, 120, 8, 0.1, 1, 24, 2, 1000, 6000},
	)
}

// Six regions of one distribution: at most 7 % of 400 trials find any gap at the simultaneous 95 % level. With one
// region whose generated pictures lack most of the variety, nearly all trials find it.
func TestCalibrationOfGaps(t *testing.T) {
	const trials, n, d = 400, 120, 8
	cells := make([]string, n)
	for i := range cells {
		cells[i] = strconv.Itoa(i % 4)
	}
	for _, planted := range []bool{false, true} {
		any, found := 0, 0
		for trial := range trials {
			var scored []interval.Scored
			for region := range 6 {
				r := rand.New(rand.NewPCG(near.Seed(t)<<32+uint64(trial), uint64(region)))
				scale := 1.
				if planted && region == 0 {
					scale = 0.2
				}
				draws := map[string]*interval.Draws{}
				for _, side := range []string{"real", "generated"} {
					h, err := interval.HalfSample(interval.Halves{Seed: uint64(trial), Side: side + strconv.Itoa(region), Cells: cells})
					if err != nil {
						t.Fatal(err)
					}
					draws[side] = h
				}
				run := compute(t, Sets{normal(r, n, d, 0, 1), normal(r, n, d, 0, scale)}, Options{RealDraws: draws["real"], GeneratedDraws: draws["generated"]})
				scored = append(scored, interval.Scored{Name: strconv.Itoa(region), Value: run.Coverage, Draws: run.Of(func(s Scores) float64 { return s.Coverage })})
			}
			gaps, err := interval.Gaps(scored, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			ofPlanted, ofOthers := false, false
			for _, g := range gaps {
				if g.Simultaneous.Excludes(0) {
					ofPlanted = ofPlanted || g.A == "0"
					ofOthers = ofOthers || g.A != "0"
				}
			}
			if ofOthers || ofPlanted && !planted {
				any++
			}
			if ofPlanted {
				found++
			}
		}
		t.Logf("planted %v: gaps between equal regions in %d of %d trials, of region 0 in %d", planted, any, trials, found)
		if float64(any)/trials > 0.07 {
			t.Errorf("planted %v: gaps between equal regions in %d of %d trials", planted, any, trials)
		}
		if planted && float64(found)/trials < 0.95 {
			t.Errorf("the planted gap is found in %d of %d trials", found, trials)
		}
	}
}
