//go:build calibration

package prdc

// Run with: go test -tags calibration -run Calibration -v ./metrics/prdc
func init() {
	calibrations = append(calibrations,
		setting{"300 of 16", 300, 300, 16, 0, 1, 3, 0, 400, 4000},
		setting{"300 of 16, narrow", 300, 300, 16, 0, 0.7, 3, 3, 400, 4000},
		setting{"more real", 600, 150, 16, 0.2, 1, 10, 3, 400, 4000},
		setting{"few a cell", 120, 120, 8, 0.1, 1, 24, 2, 1000, 6000},
	)
}
