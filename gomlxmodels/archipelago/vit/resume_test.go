//go:build training

package vit

import (
	"context"
	"math"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// A resumed run exports the same files as an uninterrupted one.
func TestResume(t *testing.T) {
	backend := testbackend.QuickXLA(t)
	whole := shape
	defer func() { shape = whole }()
	shape.Layers, shape.HiddenSize, shape.Heads, shape.IntermediateSize = 1, 16, 2, 32
	job := must.Get(newJob(trainer.Settings{Steps: 4, Batch: 4, Seed: 3, Rate: 1e-3, World: archipelago.Version}))(t)
	dir, curve, parts := trainertest.Resume(t, backend, job, "model.safetensors", headsFile, "config.json")
	for h := range heads {
		got := (parts[0].Loss[h] + parts[1].Loss[h]) / 2 // points of two steps each
		must.Near(t, got, curve[0].Loss[h], 1e-6, heads[h].Name, "loss")
	}
	must.Near(t, curve[0].Loss[headForm], math.Log(float64(len(heads[headForm].Values))), 0.3,
		"the first losses of the form head")

	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	// an interrupted run
	must.Fail(job.Run(stopped, backend, trainer.Folder(t.TempDir()), 4))(t, "the same command resumes the run")
	a := must.Get(score(t.Context(), backend, dir, 1))(t)
	if s := a.(*scores); s.Images != 48 || s.Accuracy["full"]["object"] > 0.6 {
		t.Errorf("score of an untrained network: %v", s)
	}
}
