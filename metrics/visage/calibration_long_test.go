//go:build calibration

package visage

// Run with: go test -tags calibration -run Calibration -v ./metrics/visage
func init() {
	calibrations = append(calibrations, calibration{"15 pictures, long", 1000, 400, 15, 0.87, 0.985}, calibration{"60 pictures", 500, 300, 60, 0.85, 0.99})
}
