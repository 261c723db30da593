package blip

import (
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	avit "antipode/gomlxmodels/archipelago/vit"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

//go:embed card.md
var card string

// Model is archipelago-blip. It describes objects, scenery and figures.
var Model = trainer.Model{
	Name:     "blip",
	Defaults: trainer.Settings{Steps: 3500, Batch: 32, Seed: 1, Rate: 1e-3},
	Out:      "gomlxmodels/archipelago/weights/archipelago-blip",
	Card:     card,
	New:      func(s trainer.Settings) (*trainer.Job, error) { return newJob(s, avit.Model.Out) },
	Score:    score,
	Size:     16,
}

// newJob returns a run whose image tower is initialized from the ViT in a folder.
func newJob(s trainer.Settings, from string) (*trainer.Job, error) {
	if s.Batch < 2 {
		return nil, fmt.Errorf("a batch of %d has no room for an object and a figure; use -batch 2 or more", s.Batch)
	}
	digest, err := trainer.Digest(filepath.Join(from, weights.SingleFile), 8)
	if err != nil {
		return nil, fmt.Errorf("%w; train vit first", err)
	}
	s.From = "archipelago-vit " + digest
	t, err := openTokenizer()
	if err != nil {
		return nil, err
	}
	return &trainer.Job{
		Settings: s,
		Losses:   []string{"things", "figures", "groups", "patches", "class"},
		Batch: func(step int) ([]*tensors.Tensor, error) {
			b, err := trainingBatch(t, s.Seed, step, s.Batch)
			if err != nil {
				return nil, err
			}
			return b.tensors(), nil
		},
		Loss:   lossGraph,
		Start:  func(store *model.Store) error { return start(store, from) },
		Export: export,
	}, nil
}

// start loads the ViT in a folder into the image tower.
func start(store *model.Store, from string) error {
	m, err := vit.Open(from)
	if err != nil {
		return err
	}
	return m.Load(store.RootScope().At("vision"), dtypes.Float32)
}

// export writes a Hugging Face folder.
func export(dir string, store *model.Store) (parameters int, err error) {
	if err := writeTokenizer(dir); err != nil {
		return 0, err
	}
	scope := store.RootScope()
	if err := blip.Save(dir, &shape, scope, preprocess.Default(examples.Size, examples.Size), weights.F16); err != nil {
		return 0, err
	}
	return scope.At("vision").NumParameters() + scope.At("text").NumParameters(), nil
}
