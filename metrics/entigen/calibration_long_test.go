//go:build calibration

package entigen

// Run with: go test -tags calibration -run Calibration -v ./metrics/entigen
func init() {
	calibrations = append(calibrations,
		setting{"25 professions of 9, pictures drawn, long", 25, 9, 0.45, ByPicture, 1000, 500, 0.88, 1, 0.91},
		setting{"25 professions of 9, prompts drawn, long", 25, 9, 0.45, ByPrompt, 1000, 500, 0.90, 0.97, 0.90},
		setting{"8 objects of 9, prompts drawn", 8, 9, 0.45, ByPrompt, 1000, 500, 0.83, 0.97, 0.83},
		setting{"25 professions of 60, pictures drawn", 25, 60, 0.3, ByPicture, 500, 300, 0.90, 1, 0.90},
	)
}
