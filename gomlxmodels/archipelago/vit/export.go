package vit

import (
	_ "embed"
	"path/filepath"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

//go:embed card.md
var card string

// Model is archipelago-vit. It classifies objects, scenes, islands and forms in whole and in masked images.
var Model = trainer.Model{
	Name:     "vit",
	Defaults: trainer.Settings{Steps: 2000, Batch: 48, Seed: 1, Rate: 1.2e-3},
	Out:      "gomlxmodels/archipelago/weights/archipelago-vit",
	Card:     card,
	New:      newJob,
	Score:    score,
	Size:     32,
}

func newJob(s trainer.Settings) (*trainer.Job, error) {
	job := &trainer.Job{
		Settings: s,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s.Seed, step, s.Batch).tensors(), nil
		},
		Loss:   lossGraph,
		Export: export,
	}
	for _, h := range heads {
		job.Losses = append(job.Losses, h.Name)
	}
	return job, nil
}

// headsFile contains the heads that are not part of the Hugging Face layout.
const headsFile = "heads.safetensors"

// export writes a Hugging Face folder and headsFile.
func export(dir string, store *model.Store) (parameters int, err error) {
	scope := store.RootScope()
	labels := heads[headObject].Values
	if err := vit.Save(dir, &shape, scope.At("vit"), preprocess.Default(examples.Size, examples.Size), len(labels),
		labels, weights.F16); err != nil {
		return 0, err
	}
	var rules []weights.Rule
	for _, h := range heads[headObject+1:] {
		n := len(h.Values)
		rules = append(rules, weights.Rule{Tensor: h.Name + ".weight", Variable: "heads/" + h.Name + "/weights",
			Shape: []int{n, shape.HiddenSize}},
			weights.Rule{Tensor: h.Name + ".bias", Variable: "heads/" + h.Name + "/bias", Shape: []int{n}})
	}
	list, err := weights.Export(scope, rules)
	if err != nil {
		return 0, err
	}
	return scope.At("vit").NumParameters(), weights.Save(filepath.Join(dir, headsFile), list, nil, weights.F16)
}
