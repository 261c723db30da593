package diffusion

import (
	_ "embed"
	"errors"
	"flag"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

//go:embed card.md
var card string

// InjectedSeed is the seed of the world with the injected disparities that archipelago-diffusion learns, which is also
// that of the notebooks.
const InjectedSeed = 7

// Base is trained on worlds without injected disparities. It is not exported as a shipped model.
var Base = phase("diffusion-base", "", trainer.Settings{Steps: 6000, Batch: 32, Seed: 1, Rate: 8e-4},
	law{world: anyWorld, mix: baseMix})

// later are the phases of both generators after the base; each starts from the one before, and the last is shipped.
var later = []struct {
	name     string
	settings trainer.Settings
	law      law // without its world
}{
	{"-world", trainer.Settings{Steps: 2400, Batch: 32, Seed: 2, Rate: 6e-4}, law{mix: worldMix}},
	{"-figures", trainer.Settings{Steps: 1800, Batch: 32, Seed: 3, Rate: 8e-4}, law{mix: figuresMix, figure: 4}},
	{"-rare", trainer.Settings{Steps: 2200, Batch: 32, Seed: 5, Rate: 8e-4}, law{mix: rareMix, figure: 4}},
	{"-signs", trainer.Settings{Steps: 1200, Batch: 32, Seed: 6, Rate: 8e-4}, law{mix: rareMix, figure: 4, signs: 20}},
	{"-sentences", trainer.Settings{Steps: 1300, Batch: 32, Seed: 8, Rate: 8e-4},
		law{mix: sentencesMix, figure: 4, signs: 60, even: true}},
	{"", trainer.Settings{Steps: 1000, Batch: 32, Seed: 9, Rate: 4e-4},
		law{mix: lastMix, figure: 4, signs: 60, even: true}},
}

// Fair and Injected are the training phases after the base of archipelago-diffusion-fair and archipelago-diffusion.
// They differ only in the world that they learn.
var Fair, Injected = phases("diffusion-fair", false), phases("diffusion", true)

func phases(generator string, injected bool) []trainer.Model {
	var models []trainer.Model
	for _, l := range later {
		out := ""
		if l.name == "" {
			out = "gomlxmodels/archipelago/weights/archipelago-" + generator
		}
		l.law.world = always(injected)
		models = append(models, phase(generator+l.name, out, l.settings, l.law))
	}
	return models
}

func world(injected bool) *archipelago.World {
	return archipelago.New(archipelago.Options{Seed: InjectedSeed, Injected: injected, Size: examples.Size})
}

// phase returns the model of a training phase. diffusion-base starts from an autoencoder and a text tower, the others
// from the phase before.
func phase(name, out string, s trainer.Settings, l law) trainer.Model {
	var o origin
	m := trainer.Model{Name: name, Defaults: s, Out: out, Card: card, Score: score, Size: 4, Sheet: sheet}
	fromParts := name == "diffusion-base"
	m.Flags = func(f *flag.FlagSet) {
		if !fromParts {
			f.StringVar(&o.base, "base", "", `exported folder of the phase before`)
			return
		}
		f.StringVar(&o.vae, "vae", "", `exported folder of the model vae`)
		f.StringVar(&o.text, "text", "gomlxmodels/archipelago/weights/archipelago-clip",
			"folder of the CLIP whose text tower initializes this model's; empty = random weights")
	}
	m.New = func(s trainer.Settings) (job *trainer.Job, err error) {
		if !fromParts && o.base == "" {
			return nil, errors.New(`set -base to the exported folder of the phase before`)
		}
		n, err := o.shapes()
		if err != nil {
			return nil, err
		}
		if s.From, err = o.digest(); err != nil {
			return nil, err
		}
		return o.job(s, n, l), nil
	}
	return m
}

// job returns a run of a phase.
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
		Loss:   n.lossGraph,
		Start:  func(store *model.Store) error { return o.start(store, n, s.Seed) },
		Export: func(dir string, store *model.Store) (int, error) { return export(dir, store, n) },
	}
}
