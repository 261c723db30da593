package clipseg

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
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
	Export: func(dir string, store *model.Store) (int, error) {
		cfg := shape()
		return export(dir, store, &cfg)
	},
	Score: score,
	Size:  8,
}

// newJob is the training of the decoder on top of the CLIP in a folder.
func newJob(s trainer.Settings, cfg clipseg.Config, from string) (*trainer.Job, error) {
	text, err := os.ReadFile(filepath.Join(from, weights.SingleFile))
	if err != nil {
		return nil, fmt.Errorf("%w: train clip first", err)
	}
	sum := sha256.Sum256(text)
	s.From = aclip.Model.Name + " " + hex.EncodeToString(sum[:8])
	return &trainer.Job{
		Settings: s,
		Losses:   lossNames,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s.Seed, step, s.Batch).tensors()
		},
		Loss: func(scope *model.Scope, in []*Node) (total, parts *Node) {
			return lossGraph(scope, &cfg, in[0], in[1], in[2])
		},
		Start: func(store *model.Store) error { return start(store, &cfg, from, s.Seed) },
	}, nil
}

// export writes a Hugging Face folder, float16, with the tokenizer.
func export(dir string, store *model.Store, cfg *clipseg.Config) (parameters int, err error) {
	scope := store.RootScope().At("clipseg")
	scale, err := store.GetVariable("/clipseg/logit_scale").Value()
	if err != nil {
		return 0, err
	}
	if err := clipseg.Save(dir, cfg, scope, tensors.ToScalar[float32](scale), preprocess.Default(cfg.Side, cfg.Side), weights.F16); err != nil {
		return 0, err
	}
	return scope.NumParameters(), tokens.Write(dir)
}
