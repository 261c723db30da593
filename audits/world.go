package audits

import (
	"cmp"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
)

// Generators of the built-in world that are not models: procedural samplers, with injected disparities and without.
const (
	Sampler     = "archipelago-sampler"
	SamplerFair = "archipelago-sampler-fair"
)

// Diffusion is the built-in world's trained generator with injected disparities. Its counterpart without is
// archipelago-diffusion-fair.
const Diffusion = "archipelago-diffusion"

// worldSeed is the seed of the world that the trained generators know.
const worldSeed = 7

// World returns the built-in world of a seed (0 = 7) with n images of each prompt.
func World(seed int, injected bool, n int) datasets.World {
	return datasets.Archipelago(datasets.ArchipelagoOptions{Seed: cmp.Or(seed, worldSeed), Injected: injected,
		PerCell: n})
}

// Sampled reports whether a generator is one of the procedural samplers.
func Sampled(generator string) bool { return generator == Sampler || generator == SamplerFair }

// Tokenized adds what the tokenizer of a generator does to the prompts of its images (models.Tokenize); nothing for
// samplers, images that exist, and generators behind an API or in a program, whose tokenizers are not known.
func Tokenized(generator string, images datasets.Table) datasets.Table {
	if Sampled(generator) || IsTable(generator) || strings.Contains(generator, ":") {
		return images
	}
	return models.Tokenize(generator, images)
}

// Trained reports whether a generator is one of the built-in world's trained ones.
func Trained(generator string) bool { return strings.HasPrefix(generator, Diffusion) }

// Sampling sets the options with which the trained generators were evaluated, 20 steps with guidance 1.5, where o has
// none.
func Sampling(o models.GenerateOptions) models.GenerateOptions {
	o.Steps, o.Guidance = cmp.Or(o.Steps, 20), cmp.Or(o.Guidance, 1.5)
	return o
}

// Injected reports whether a generator of the built-in world makes images with injected disparities.
func Injected(generator string) bool { return generator == Sampler || generator == Diffusion }

// CheckWorld returns an error if a generator does not fit an audit's world: a trained generator of the built-in world
// knows one seed only, and a sampler makes no images of other prompts.
func CheckWorld(audit string, builtIn bool, seed int, generators ...string) error {
	named := map[string]string{}
	for _, g := range generators {
		name := ModelName(g)
		if other, twice := named[name]; twice {
			return fmt.Errorf("%s: generators %s and %s have one name, %s; give them different ones", audit, other,
				g, name)
		}
		named[name] = g
		switch {
		case builtIn && Trained(g) && cmp.Or(seed, worldSeed) != worldSeed:
			return fmt.Errorf("%s: %s knows world %d only; use generator %s for world %d", audit, g, worldSeed, Sampler,
				seed)
		case !builtIn && Sampled(g):
			return fmt.Errorf("%s: %s makes images of the built-in world only", audit, g)
		}
	}
	return nil
}

// Without returns the table without its rows, for a part that an audit does not have; an errored table stays one.
func Without(t datasets.Table) datasets.Table {
	if t.Err() != nil {
		return t
	}
	return NoRows(t.Columns())
}

// NoRows returns a table with columns and without rows: the result of a part that an audit does not have.
func NoRows(columns []table.ColumnSpec) datasets.Table {
	return datasets.FromFrame(table.NewFrame(columns))
}
