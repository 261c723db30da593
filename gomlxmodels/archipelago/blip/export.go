package blip

import (
	_ "embed"
	"fmt"
	"os"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

//go:embed card.md
var card string

// Model is archipelago-blip: it describes things, scenery and figures.
var Model = trainer.Model{
	Name:     "blip",
	Defaults: trainer.Settings{Steps: 3500, Batch: 32, Seed: 1, Rate: 1e-3},
	Out:      "gomlxmodels/archipelago/weights/archipelago-blip",
	Card:     card,
	New:      newJob,
	Export:   export,
	Score:    score,
	Size:     16,
}

func newJob(s trainer.Settings) (*trainer.Job, error) {
	if s.Batch < 2 {
		return nil, fmt.Errorf("a batch of %d has no room for a thing and a figure: give -batch 2 or more", s.Batch)
	}
	_, digest, dir, err := tower()
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	t, err := openTokenizer()
	if err != nil {
		return nil, err
	}
	s.From = digest
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
		Loss:  func(scope *model.Scope, in []*Node) (total, parts *Node) { return lossGraph(scope, in) },
		Start: start,
	}, nil
}

// export writes a Hugging Face folder, float16.
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
