package vae

import (
	_ "embed"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/diffusion"
)

//go:embed card.md
var card string

// Model is the autoencoder of the generators. It is exported as a part of their folders.
var Model = trainer.Model{
	Name:     "vae",
	Defaults: trainer.Settings{Steps: 8000, Batch: 16, Seed: 1, Rate: 7e-4},
	Card:     card,
	New:      newJob,
	Score:    score,
	Size:     256,
	Sheet:    sheet,
}

func newJob(s trainer.Settings) (*trainer.Job, error) {
	return &trainer.Job{
		Settings: s,
		Losses:   losses,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s, step).tensors(), nil
		},
		Loss:   lossGraph,
		Export: export,
		Start: func(store *model.Store) error {
			store.VariableWithValue("/"+squarePath, float32(1)).SetTrainable(false)
			if err := diffusion.Begin(store.RootScope(), diffusion.VAERules(&shape),
				rand.New(rand.NewPCG(s.Seed, 0))); err != nil {
				return err
			}
			return adjust(store)
		},
	}, nil
}
