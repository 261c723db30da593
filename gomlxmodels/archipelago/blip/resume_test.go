//go:build training

package blip

import (
	"math"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/internal/must"
)

// A resumed run exports the same files as an uninterrupted one.
func TestResume(t *testing.T) {
	backend := goBackend(t)
	tiny(t)
	job := must.Get(newJob(trainer.Settings{Steps: 4, Batch: 8, Seed: 3, Rate: 1e-3, World: archipelago.Version},
		shipped))(t)
	job.Start = nil // the tiny tower has random initial weights
	dir, curve, parts := trainertest.Resume(t, backend, job, "model.safetensors", "config.json",
		"preprocessor_config.json")
	chance := math.Log(float64(len(vocabulary)))
	for h, l := range curve[0].Loss {
		if got := (parts[0].Loss[h] + parts[1].Loss[h]) / 2; math.Abs(got-l) > 1e-6 { // points of two steps each
			t.Errorf("%s: loss %v in two parts, %v in one", job.Losses[h], got, l)
		}
		if h < 3 && math.Abs(l-chance) > 0.3 { // of tokens
			t.Errorf("%s: the first losses are %v, chance is %v", job.Losses[h], l, chance)
		}
	}
	a := must.Get(score(t.Context(), backend, dir, 1))(t)
	if s := a.(*scores); s.Images[examples.Thing] != 48 || s.Images[examples.Figure] != 48 ||
		s.Accuracy[examples.Thing][partObject] > 0.5 {
		t.Errorf("score of an untrained network: %v", s)
	}
}
