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
//   - [Ask] asks a chat model or a program questions about images, with fixed choices.
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
//   - chat:NAME, in [Ask]: a model behind an OpenAI-compatible chat API;
//   - exec:PATH: a program of yours that [AllowExec] allows, which runs any other model; see docs/adapters.md.
//
// # Precision
//
// Options.Precision is the number type the model computes in: "float32", "bfloat16", or "auto", which is bfloat16 on
// an NVIDIA GPU and float32 elsewhere. Images and vectors are computed in "auto" by default, masks and captions in
// "float32". Vectors are stored as float32 in any case.
//
// The package links no GoMLX: networks run in Antipode's backend process.
package gomlxmodels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// kinds are the kinds of model, or of a request to one, that options may be for, in words.
var kinds = map[string]string{
	"diffusers": "a pipeline of diffusers",
	"file":      "a single file (.safetensors, .ckpt)",
	"dallemini": "a DALL·E mini",
	"mindalle":  "a minDALL-E",
	"api":       "an image API (api:NAME)",
	"chat":      "a chat model (chat:NAME)",
	"exec":      "a program (exec:PATH)",
	APISteps:    "a server that takes num_inference_steps (API.Extra, --api-extra)",
	APIGuidance: "a server that takes guidance_scale (API.Extra, --api-extra)",
	APINegative: "a server that takes negative_prompt (API.Extra, --api-extra)",
	"clipseg":   "a CLIPSeg",
	"detector":  "a detector with a segmenter (Detector, --detector, or a pair such as langsam)",
	"pair":      "a pair such as langsam",
	"full":      "a ViT (the vector full)",
	"logits":    "an Inception v3 (the vector logits)",
	"clip":      "a CLIP",
	"blip2":     "a BLIP-2",
	"compares":  "the vector blip2_image with pooling projected_max",
	"encoder":   "a network that Antipode runs",
	"greedy":    `decode "greedy"`,
	"nucleus":   `decode "nucleus"`,
	"beam":      `decode "beam"`,
}

// OptionError is the error of a stage whose options have a value that is out of range, or without effect.
type OptionError struct{ Err error }

func (e OptionError) Error() string { return e.Err.Error() }
func (e OptionError) Unwrap() error { return e.Err }

// Flags returns the error with the command's flag in place of a field's name.
func (e OptionError) Flags() error {
	var wrong *operation.Invalid
	if !errors.As(e.Err, &wrong) {
		return e
	}
	return errors.New(strings.Replace(e.Error(), wrong.Error(), "--"+wrong.Option.Flag+" "+wrong.Problem, 1))
}

// only returns the options given, completed and validated for a model that is of one of the kinds.
func only[O any](options []O, of func(*O) []string) (o O, err error) {
	if o, err = table.One(options); err == nil {
		err = check(&o, of(&o)...)
	}
	return o, invalid(err)
}

// check completes and validates options for a model that is of one of the kinds. The error of an option that is set for
// another kind names the field, what it is for, and the kind of the model.
func check[O any](o *O, of ...string) error {
	err := operation.OptionsOf[O]().Check(o, of...)
	wrong := (*operation.Invalid)(nil)
	if !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Problem, "is for ") {
		return err
	}
	var words []string
	for _, kind := range wrong.Option.For {
		words = append(words, kinds[kind])
	}
	given := of[0]
	if wrong.Option.For[0] == "exec" && slices.Contains(of, "encoder") {
		given = "encoder"
	}
	last := len(words) - 1
	wrong.Problem = fmt.Sprintf("is for %s, not for %s. Fix: leave it out",
		strings.Join(append(words[:max(0, last-1)], strings.Join(words[max(0, last-1):], " or ")), ", "), kinds[given])
	if of[0] == "exec" {
		wrong.Problem += "; a program takes arguments of its own (Exec.Args, --exec-arg)"
	}
	return err
}

// invalid returns the first error of a list as an [OptionError].
func invalid(errs ...error) error {
	if err := cmp.Or(errs...); err != nil {
		return OptionError{err}
	}
	return nil
}
