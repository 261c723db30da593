//go:build calibration

package metrics

import "testing"

// TestCalibrationOfCompare compares 200 pairs of runs, paired and not; docs/view.md has the numbers. Run with:
//
//	go test -tags calibration -run CalibrationOfCompare -v ./metrics
func TestCalibrationOfCompare(t *testing.T) { compareRuns(t, 200) }
