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

// PlantedSeed is the seed of the world whose plants archipelago-diffusion learns: that of the notebooks.
const PlantedSeed = 7

// Base learns the world without plants. It ships nothing.
var Base = phase("diffusion-base", "", trainer.Settings{Steps: 6000, Batch: 32, Seed: 1, Rate: 8e-4}, law{world: anyWorld, mix: baseMix})

// later are the phases of both generators after the base, each from the one before. The last ships.
var later = []struct {
	name     string
	settings trainer.Settings
	law      law // but for its world
}{
	{"-world", trainer.Settings{Steps: 2400, Batch: 32, Seed: 2, Rate: 6e-4}, law{mix: worldMix}},
	{"-figures", trainer.Settings{Steps: 1800, Batch: 32, Seed: 3, Rate: 8e-4}, law{mix: figuresMix, figure: 4}},
	{"-rare", trainer.Settings{Steps: 2200, Batch: 32, Seed: 5, Rate: 8e-4}, law{mix: rareMix, figure: 4}},
	{"-signs", trainer.Settings{Steps: 1200, Batch: 32, Seed: 6, Rate: 8e-4}, law{mix: rareMix, figure: 4, signs: 20}},
	{"-sentences", trainer.Settings{Steps: 1300, Batch: 32, Seed: 8, Rate: 8e-4}, law{mix: sentencesMix, figure: 4, signs: 60, even: true}},
	{"", trainer.Settings{Steps: 1000, Batch: 32, Seed: 9, Rate: 4e-4}, law{mix: lastMix, figure: 4, signs: 60, even: true}},
}

// Fair are the phases of archipelago-diffusion-fair after the base, and Planted those of archipelago-diffusion: alike, but for the world that they learn.
var Fair, Planted = phases("diffusion-fair", false), phases("diffusion", true)

func phases(generator string, planted bool) []trainer.Model {
	var out []trainer.Model
	for _, l := range later {
		ships := ""
		if l.name == "" {
			ships = "gomlxmodels/archipelago/weights/archipelago-" + generator
		}
		l.law.world = always(planted)
		out = append(out, phase(generator+l.name, ships, l.settings, l.law))
	}
	return out
}

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
