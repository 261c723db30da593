//go:build training

package vae

import (
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/internal/testbackend"
)

// A resumed run exports the same files as an uninterrupted one.
func TestResume(t *testing.T) {
	whole, all := shape, stages
	defer func() { shape, stages = whole, all }()
	shape.Widths, shape.MidAttention, stages = []int{4, 4, 4, 4}, false, stages[:1]
	job, err := newJob(trainer.Settings{Steps: 4, Batch: 2, Seed: 3, Rate: 1e-3, World: archipelago.Version})
	if err != nil {
		t.Fatal(err)
	}
	_, once, twice := trainertest.Resume(t, testbackend.Go(t), job, configFile, weightsFile)
	for _, p := range append(once, twice...) {
		if p.Loss[0] <= 0 || p.Loss[0] > 1.5 {
			t.Errorf("losses %v", p.Loss)
		}
	}
}
