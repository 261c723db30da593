//go:build calibration

package representation

// Run with: go test -tags calibration -run Calibration -v ./metrics/representation
func init() {
	calibrations = append(calibrations,
		setting{"25 professions of 9, images sampled, long", 25, 9, 0.45, ByImage, 1000, 500, 0.93, 0.975, 0.93},
		setting{"25 professions of 9, prompts sampled, long", 25, 9, 0.45, ByPrompt, 1000, 500, 0.93, 0.975, 0.92},
		setting{"8 objects of 9, prompts sampled", 8, 9, 0.45, ByPrompt, 1000, 500, 0.93, 0.985, 0.91},
		setting{"25 professions of 60, images sampled", 25, 60, 0.3, ByImage, 500, 300, 0.92, 0.985, 0.91},
	)
}
