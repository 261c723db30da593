//go:build calibration

package metrics

import "testing"

// TestCalibrationOfCompare compares 200 pairs of runs, paired and not; docs/view.md has the numbers. Run with:
//
//	go test -tags calibration -run CalibrationOfCompare -v ./metrics
func TestCalibrationOfCompare(t *testing.T) { compareRuns(t, 200, 200) }

// TestCalibrationOfDrift watches 200 generators over 40 dated runs each; docs/trust.md has the numbers. Run with:
//
//	go test -tags calibration -run CalibrationOfDrift -v ./metrics
func TestCalibrationOfDrift(t *testing.T) { watchRuns(t, 200, 40, 10) }
