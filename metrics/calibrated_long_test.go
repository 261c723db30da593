//go:build calibration

package metrics

import "testing"

// TestCalibrationOfJudges simulates 200 worlds for each number of labels; docs/judges.md has the table. Run with:
//
//	go test -tags calibration -run CalibrationOfJudges -v ./metrics
func TestCalibrationOfJudges(t *testing.T) {
	t.Log("method, labels per island: alarms in fair worlds, the judge's, injected gap found, coverage, width, saved")
	for _, method := range []string{"published", "adjusted"} {
		for _, labeled := range []int{10, 20, 40, 80} {
			r := calibrationWorlds(t, 200, labeled, method)
			t.Logf("%s %d: %.3f %.3f %.3f %.3f %.2f %.0f", method, labeled, r.alarms, r.judgeAlarms, r.found,
				r.coverage, r.width, r.saved)
		}
	}
}

// TestCalibrationOfDiversity simulates 400 groups for each number of labels; docs/judges.md has the table. Run with:
//
//	go test -tags calibration -run CalibrationOfDiversity -v ./metrics
func TestCalibrationOfDiversity(t *testing.T) {
	for _, shares := range [][]float64{{0.25, 0.25, 0.25, 0.25}, {0.5, 0.3, 0.15, 0.05}, {0.8, 0.1, 0.05, 0.05},
		{0.97, 0.01, 0.01, 0.01}, {0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05}} {
		for _, labeled := range []int{20, 40, 80} {
			coverage, width, bias, judge := diversityWorlds(t, 400, shares, labeled)
			t.Logf("%v, %d labels: coverage %.3f, width %.2f, bias %.2f, of the judge %.2f", shares, labeled, coverage,
				width, bias, judge)
			if coverage < 0.92 {
				t.Errorf("coverage %.3f", coverage)
			}
		}
	}
}

// TestCalibrationOfBounds simulates 200 worlds in which a generator refuses 30 % of one people's images; docs/trust.md
// has the table. Run with:
//
//	go test -tags calibration -run CalibrationOfBounds -v ./metrics
func TestCalibrationOfBounds(t *testing.T) {
	for _, atRandom := range []bool{true, false} {
		h := refused(t, 200, atRandom)
		t.Logf("at random %v: %+v", atRandom, h)
		if h.bounds < 0.999 || h.interval < 0.92 || h.gaps > 0.08 {
			t.Error("too rarely, or too many alarms")
		}
	}
}
