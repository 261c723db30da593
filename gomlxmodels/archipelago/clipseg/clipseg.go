package clipseg

import (
	_ "embed"
	"fmt"
	"path/filepath"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	aclip "antipode/gomlxmodels/archipelago/clip"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

//go:embed card.md
var card string

// Model is archipelago-clipseg.
var Model = trainer.Model{
	Name:     "clipseg",
	Defaults: trainer.Settings{Steps: 2000, Batch: 24, Seed: 1, Rate: 1.5e-3},
	Out:      "gomlxmodels/archipelago/weights/archipelago-clipseg",
	Card:     card,
	New: func(s trainer.Settings) (*trainer.Job, error) {
		return newJob(s, shape(), aclip.Model.Out)
	},
	Score: score,
	Size:  8,
}

// newJob returns a run that trains the decoder on the frozen towers of the CLIP in a folder.
func newJob(s trainer.Settings, cfg clipseg.Config, from string) (*trainer.Job, error) {
	digest, err := trainer.Digest(filepath.Join(from, weights.SingleFile), 8)
	if err != nil {
		return nil, fmt.Errorf("%w: train clip first", err)
	}
	s.From = aclip.Model.Name + " " + digest
	return &trainer.Job{
		Settings: s,
		Losses:   lossNames,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s.Seed, step, s.Batch).tensors()
		},
		Loss:   func(scope *model.Scope, in []*Node) (total, terms *Node) { return lossGraph(scope, &cfg, in) },
		Start:  func(store *model.Store) error { return start(store, &cfg, from, s.Seed) },
		Export: func(dir string, store *model.Store) (int, error) { return export(dir, store, &cfg) },
	}, nil
}

// export writes a Hugging Face folder with the tokenizer.
func export(dir string, store *model.Store, cfg *clipseg.Config) (parameters int, err error) {
	scope := store.RootScope().At("clipseg")
	scale, err := store.GetVariable("/clipseg/logit_scale").Value()
	if err != nil {
		return 0, err
	}
	if err := clipseg.Save(dir, cfg, scope, tensors.ToScalar[float32](scale), preprocess.Default(cfg.Side, cfg.Side),
		weights.F16); err != nil {
		return 0, err
	}
	return scope.NumParameters(), tokens.Write(dir)
}
