package schedule

import (
	"strings"
	"testing"
)

// FuzzOpen: the settings of a scheduler are refused in one line, or give timesteps in descending order.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{`{"_class_name": "DDIMScheduler", "beta_start": 0.00085, "beta_end": 0.012}`,
		`{"_class_name": "PNDMScheduler", "steps_offset": 1, "skip_prk_steps": true}`,
		`{"_class_name": "EulerDiscreteScheduler", "timestep_spacing": "trailing"}`,
		`{"_class_name": "DPMSolverMultistepScheduler", "solver_order": 2, "lambda_min_clipped": -Infinity}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Open(text); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q is not one line", err)
		}
	})
}
