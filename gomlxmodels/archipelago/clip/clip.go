package clip

import (
	_ "embed"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

//go:embed card.md
var card string

// Model is archipelago-clip.
var Model = trainer.Model{
	Name:     "clip",
	Defaults: trainer.Settings{Steps: 3000, Batch: 64, Seed: 1, Rate: 1e-3},
	Out:      "gomlxmodels/archipelago/weights/archipelago-clip",
	Card:     card,
	New: func(s trainer.Settings) (*trainer.Job, error) {
		var err error
		if s.From, err = from(); err != nil {
			return nil, err
		}
		cfg := Shape()
		job := newJob(s, &cfg)
		job.Start = func(store *model.Store) error { return start(store, &cfg) }
		return job, nil
	},
	Export: func(dir string, store *model.Store) (int, error) {
		cfg := Shape()
		return export(dir, store, &cfg)
	},
	Score: score,
	Size:  20,
}

// newJob is the training of a CLIP of a shape from random weights.
func newJob(s trainer.Settings, cfg *clip.Config) *trainer.Job {
	return &trainer.Job{
		Settings: s,
		Losses:   lossNames,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s.Seed, step, s.Batch).tensors(examples.Stream(s.Seed, step, s.Batch))
		},
		Loss: func(scope *model.Scope, in []*Node) (total, parts *Node) {
			return lossGraph(scope, cfg, inputs{in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7]})
		},
	}
}

// processing is how pictures are prepared: CLIP's way, with the means and deviations of archipelago-vit.
func processing() preprocess.Config {
	return preprocess.Config{Resize: preprocess.ShortestEdge, Edge: examples.Size, CropHeight: examples.Size, CropWidth: examples.Size,
		Filter: preprocess.Bicubic, Torchvision: true, Scale: 1.0 / 255, Mean: preprocess.Half, Std: preprocess.Half}
}

// export writes a Hugging Face folder, float16, with the tokenizer.
func export(dir string, store *model.Store, cfg *clip.Config) (parameters int, err error) {
	scope := store.RootScope().At("clip")
	scale, err := store.GetVariable("/clip/logit_scale").Value()
	if err != nil {
		return 0, err
	}
	if err := clip.Save(dir, cfg, scope, min(tensors.ToScalar[float32](scale), float32(mostScale)), processing(), weights.F16); err != nil {
		return 0, err
	}
	return scope.NumParameters(), tokens.Write(dir)
}
