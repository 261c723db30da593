package clip

import (
	_ "embed"
	"flag"

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
var Model = func() trainer.Model {
	var tower string
	return trainer.Model{
		Name:     "clip",
		Defaults: trainer.Settings{Steps: 1300, Batch: 64, Seed: 1, Rate: 1e-3},
		Out:      "gomlxmodels/archipelago/weights/archipelago-clip",
		Card:     card,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&tower, "tower", "gomlxmodels/archipelago/weights/archipelago-blip",
				"folder of the captioner whose image tower initializes this model's")
		},
		New: func(s trainer.Settings) (*trainer.Job, error) {
			var err error
			if s.From, err = digest(tower); err != nil {
				return nil, err
			}
			cfg := Shape()
			job := newJob(s, &cfg)
			job.Start = func(store *model.Store) error { return start(store, &cfg, tower) }
			return job, nil
		},
		Score: score,
		Size:  20,
	}
}()

// newJob returns a run with random initial weights.
func newJob(s trainer.Settings, cfg *clip.Config) *trainer.Job {
	return &trainer.Job{
		Settings: s,
		Losses:   lossNames,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			return trainingBatch(s.Seed, step, s.Batch).tensors(examples.Stream(s.Seed, step, s.Batch))
		},
		Loss: func(scope *model.Scope, in []*Node) (total, terms *Node) { return lossGraph(scope, cfg, in) },
		Export: func(dir string, store *model.Store) (int, error) {
			scope := store.RootScope().At("clip")
			scale, err := store.GetVariable("/clip/logit_scale").Value()
			if err != nil {
				return 0, err
			}
			if err := clip.Save(dir, cfg, scope, min(tensors.ToScalar[float32](scale), float32(mostScale)),
				processing(), weights.F16); err != nil {
				return 0, err
			}
			return scope.NumParameters(), tokens.Write(dir)
		},
	}
}

// processing is the preprocessing of CLIP with the mean and standard deviation of archipelago-vit.
func processing() preprocess.Config {
	return preprocess.Config{Resize: preprocess.ShortestEdge, Edge: examples.Size, CropHeight: examples.Size,
		CropWidth: examples.Size,
		Filter:    preprocess.Bicubic, Torchvision: true, Scale: 1.0 / 255, Mean: preprocess.Half, Std: preprocess.Half}
}
