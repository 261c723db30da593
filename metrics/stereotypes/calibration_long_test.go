//go:build calibration

package stereotypes

// Run with: go test -tags calibration -run Calibration -v ./metrics/stereotypes
func init() {
	calibrations = append(calibrations, calibration{"15 images, long", 1000, 400, 15, 0.92, 0.98},
		calibration{"60 images", 500, 300, 60, 0.90, 0.99})
}
