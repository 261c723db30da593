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
