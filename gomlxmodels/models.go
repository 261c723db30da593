// Package gomlxmodels runs models on tables: it makes images from prompts, masks, embeddings and captions.
//
// # Stages
//
// A stage takes a table and returns one with more columns. It takes the name of a model, a table and at most one
// struct of options, whose zero value is the default:
//
//   - [Generate] makes images from prompts;
//   - [Segment] finds the object in each image and adds its mask;
//   - [Embed] adds vectors of images, with masks also of the object and of the background alone;
//   - [EmbedText] adds vectors of texts;
//   - [Caption] describes images in words;
//   - [Ask] asks a program a question about images, with fixed choices.
//
// A stage returns a plan and computes nothing: work is done by Run, Show, Print, Rows or Save of [datasets.Table]. The
// result of each row is stored, so that a second run computes only what is new. A wrong option is an error of the
// table, which these methods report.
//
//	var images = models.Generate("archipelago-diffusion", prompts, models.GenerateOptions{N: 4, Steps: 30})
//	var masked = models.Segment("archipelago-clipseg", images)
//	var embedded = models.Embed("archipelago-vit", masked)
//
// # Models
//
// A model is given by
//
//   - a name that [Known] lists: models that are part of Antipode, and those of the published audits, which
//     `antipode models pull NAME` downloads;
//   - OWNER/NAME or OWNER/NAME@REVISION: a model of the Hugging Face hub, once pulled;
//   - the path of a folder as transformers, diffusers, timm or sentence-transformers write it: config.json (for a
//     pipeline model_index.json, for a sentence encoder modules.json), weights and the tokenizer's files;
//   - api:NAME, in [Generate]: a model behind an OpenAI-compatible image API;
//   - exec:PATH: a program of yours that [AllowExec] allows, which runs any other model; see docs/adapters.md.
//
// # Precision
//
// Options.Precision is the number type the model computes in: "float32", "bfloat16", or "auto", which is bfloat16 on
// an NVIDIA GPU and float32 elsewhere. Vectors are stored as float32 in any case.
//
// The package links no GoMLX: networks run in Antipode's backend process.
package gomlxmodels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Precisions are the values of Precision in [GenerateOptions], [EmbedOptions] and [EmbedTextOptions], the default
// first.
var Precisions = []string{"auto", "float32", "bfloat16"}

// only returns the options given, or their zero value.
func only[O any](options []O) (o O, err error) {
	if len(options) > 1 {
		return o, fmt.Errorf("%d %T given; give at most one", len(options), o)
	}
	if len(options) == 1 {
		o = options[0]
	}
	return o, nil
}

// oneOf reports a value that is not in the list. The empty string is the default.
func oneOf(name, value string, values []string) error {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s %q: must be one of %s", name, value, strings.Join(values, ", "))
}

// between reports a number outside a range (NaN too). Zero is the default.
func between[N int | float64](name string, value, low, high N) error {
	if value == 0 || value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("%s %v: must be between %v and %v", name, value, low, high)
}

// positive reports a number that is not above 0 and at most high. Zero is the default.
func positive(name string, value, high float64) error {
	if value == 0 || value > 0 && value <= high {
		return nil
	}
	return fmt.Errorf("%s %v: must be above 0 and at most %v", name, value, high)
}

// OptionError is the error of a stage whose options have a value that is out of range, or without effect.
type OptionError struct{ Err error }

func (e OptionError) Error() string { return e.Err.Error() }
func (e OptionError) Unwrap() error { return e.Err }

// invalid returns the first error of a list as an [OptionError].
func invalid(errs ...error) error {
	if err := cmp.Or(errs...); err != nil {
		return OptionError{err}
	}
	return nil
}
