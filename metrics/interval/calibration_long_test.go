//go:build calibration

package interval

// Run with: go test -tags calibration -run Calibration -v ./metrics/interval
func init() {
	worlds = append(worlds,
		world{"200 prompts", 200, 4, 1, 1, 5, 4, false, 2000, 0.93, 0.93},
		world{"15 prompts", 15, 4, 0.5, 1, 5, 4, false, 2000, 0.88, 0.88},
		world{"40 shares", 40, 10, 0.3, 0, 0.5, 0.5, true, 2000, 0.92, 0.92},
	)
}
