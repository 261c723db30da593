package vit

import (
	_ "embed"
	"path/filepath"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

//go:embed card.md
var card string

// Model is archipelago-vit: it tells things, scenes, islands and forms, whole or masked.
var Model = trainer.Model{
	Name:     "vit",
	Defaults: trainer.Settings{Steps: 2000, Batch: 48, Seed: 1, Rate: 1.2e-3},
	Out:      "gomlxmodels/archipelago/weights/archipelago-vit",
	Card:     card,
	New:      newJob,
	Export:   export,
	Score:    score,
	Size:     32,
}

func newJob(s trainer.Settings) (*trainer.Job, error) {
	return &trainer.Job{
		Settings: s,
		Losses:   headNames[:],
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s.Seed, step, s.Batch).tensors(), nil
		},
		Loss: func(scope *model.Scope, in []*Node) (total, parts *Node) {
			return lossGraph(scope, in[0], in[1], in[2])
		},
	}, nil
}

// export writes a Hugging Face folder, float16, with the other heads beside it.
func export(dir string, store *model.Store) (parameters int, err error) {
	scope := store.RootScope()
	pre := preprocess.Default(imageSize, imageSize)
	if err := vit.Save(dir, &shape, scope.At("vit"), pre, len(labels[headObject]), labels[headObject], weights.F16); err != nil {
		return 0, err
	}
	var rules []weights.Rule
	for h := headObject + 1; h < heads; h++ {
		name, n := headNames[h], len(labels[h])
		rules = append(rules, weights.Rule{Tensor: name + ".weight", Variable: "heads/" + name + "/weights", Shape: []int{n, shape.HiddenSize}},
			weights.Rule{Tensor: name + ".bias", Variable: "heads/" + name + "/bias", Shape: []int{n}})
	}
	list, err := weights.Export(scope, rules)
	if err != nil {
		return 0, err
	}
	return scope.At("vit").NumParameters(), weights.Save(filepath.Join(dir, headsFile), list, nil, weights.F16)
}
