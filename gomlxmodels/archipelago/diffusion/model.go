package diffusion

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"image"

	"github.com/gomlx/compute"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

//go:embed card.md
var card string

// PlantedSeed is the seed of the world whose plants [Planted] learns: that of the notebooks.
const PlantedSeed = 7

// The later phases of both generators, by step count, batch and rate.
var (
	second = trainer.Settings{Steps: 2400, Batch: 32, Seed: 2, Rate: 6e-4}
	third  = trainer.Settings{Steps: 1800, Batch: 32, Seed: 3, Rate: 8e-4}
	fourth = trainer.Settings{Steps: 2200, Batch: 32, Seed: 5, Rate: 8e-4}
	last   = trainer.Settings{Steps: 1200, Batch: 32, Seed: 6, Rate: 8e-4}
)

// Base learns the world without plants. It ships nothing.
var Base = phase("diffusion-base", "", trainer.Settings{Steps: 6000, Batch: 32, Seed: 1, Rate: 8e-4}, law{anyWorld, baseMix, 0, 0})

// FairWorld and PlantedWorld go on from Base, in a world without plants and in one with plants. They ship nothing.
var (
	FairWorld    = phase("diffusion-fair-world", "", second, law{always(false), worldMix, 0, 0})
	PlantedWorld = phase("diffusion-world", "", second, law{always(true), worldMix, 0, 0})
)

// FairFigures and PlantedFigures go on from these, each in the same world, with more figures and a closer look at them. They ship nothing.
var (
	FairFigures    = phase("diffusion-fair-figures", "", third, law{always(false), figuresMix, 4, 0})
	PlantedFigures = phase("diffusion-figures", "", third, law{always(true), figuresMix, 4, 0})
)

// FairRare and PlantedRare go on from these, with more of the prompts that were learned least. They ship nothing.
var (
	FairRare    = phase("diffusion-fair-rare", "", fourth, law{always(false), rareMix, 4, 0})
	PlantedRare = phase("diffusion-rare", "", fourth, law{always(true), rareMix, 4, 0})
)

// Fair is archipelago-diffusion-fair: it goes on from FairRare, with a closer look at the signs that groups are told by.
var Fair = phase("diffusion-fair", "gomlxmodels/archipelago/weights/archipelago-diffusion-fair", last, law{always(false), rareMix, 4, 20})

// Planted is archipelago-diffusion: it goes on from PlantedRare in the same way.
var Planted = phase("diffusion", "gomlxmodels/archipelago/weights/archipelago-diffusion", last, law{always(true), rareMix, 4, 20})

func world(planted bool) *archipelago.World {
	return archipelago.New(archipelago.Options{Seed: PlantedSeed, Planted: planted, Size: examples.Size})
}

// phase is a model that learns by a law. diffusion-base starts from parts, the others from the phase before.
func phase(name, out string, s trainer.Settings, l law) trainer.Model {
	var o origin
	var n *networks
	m := trainer.Model{Name: name, Defaults: s, Out: out, Card: card, Size: 4}
	fromParts := name == "diffusion-base"
	m.Flags = func(f *flag.FlagSet) {
		if !fromParts {
			f.StringVar(&o.base, "base", "", `folder of the phase before: what its "train" wrote`)
			return
		}
		f.StringVar(&o.vae, "vae", "", `folder of the autoencoder: what "train vae" wrote`)
		f.StringVar(&o.text, "text", "gomlxmodels/archipelago/weights/archipelago-clip", "folder of the CLIP whose text tower the run starts from; empty starts one anew")
	}
	m.New = func(s trainer.Settings) (job *trainer.Job, err error) {
		if !fromParts && o.base == "" {
			return nil, errors.New(`give -base: the folder that "train" of the phase before wrote`)
		}
		if n, err = o.shapes(); err != nil {
			return nil, err
		}
		if s.From, err = o.digest(); err != nil {
			return nil, err
		}
		return o.job(s, n, l), nil
	}
	m.Export = func(dir string, store *model.Store) (int, error) { return export(dir, store, n) }
	m.Score = func(ctx context.Context, backend compute.Backend, dir string, size int) (fmt.Stringer, error) {
		return score(ctx, backend, dir, size)
	}
	m.Sheet = func(ctx context.Context, backend compute.Backend, dir string) (image.Image, error) {
		return sheet(ctx, backend, dir)
	}
	return m
}

// job is a run of a law.
func (o origin) job(s trainer.Settings, n *networks, l law) *trainer.Job {
	return &trainer.Job{
		Settings: s,
		Losses:   losses,
		Batch: func(step int) ([]*tensors.Tensor, error) {
			b, err := l.trainingBatch(s, step)
			if err != nil {
				return nil, err
			}
			return b.tensors(), nil
		},
		Loss: func(scope *model.Scope, in []*Node) (total, parts *Node) {
			return n.lossGraph(scope, in[0], in[1], in[2], in[3], in[4])
		},
		Start: func(store *model.Store) error { return o.start(store, n, s.Seed) },
	}
}
