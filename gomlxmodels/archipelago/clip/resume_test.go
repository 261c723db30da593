//go:build training

package clip

import (
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// A resumed run exports the same files as an uninterrupted one, and its folder can be scored.
func TestResume(t *testing.T) {
	backend, cfg := testbackend.QuickXLA(t), tiny()
	job := newJob(trainer.Settings{Steps: 4, Batch: 4, Seed: 3, Rate: 1e-3, World: archipelago.Version}, &cfg)
	dir, curve, _ := trainertest.Resume(t, backend, job,
		append(tokens.Files(), "model.safetensors", "config.json", "preprocessor_config.json")...)
	for i, name := range lossNames {
		if l := curve[0].Loss[i]; !(l > 0.01 && l < 6) { // cosines are within ±1, the initial logit scale is 14
			t.Errorf("the first losses of %s are %v", name, l)
		}
	}
	a := must.Get(score(t.Context(), backend, dir, 1))(t)
	s := a.(*scores)
	if s.Images != group || len(s.Retrieval) != 2 || len(s.Classes) != len(classes) ||
		s.Retrieval[examples.Thing]["en"]["text"] > 0.5 {
		t.Errorf("score of an untrained network: %v", s)
	}
}
