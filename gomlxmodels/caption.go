package gomlxmodels

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// CaptionOp is the operation of [Caption] in a plan.
const CaptionOp = "caption"

// CaptionArgs are the arguments of a caption stage in a plan, with defaults filled in. The names in comments are those
// of transformers' generate.
type CaptionArgs struct {
	Model             string  `json:"model"` // a known name, a name on the hub, or the absolute path of a folder
	N                 int     `json:"n"`     // captions per image
	Prefix            string  `json:"prefix,omitempty"`
	Decode            string  `json:"decode"`                // one of Decodings
	MaxTokens         int     `json:"max_tokens"`            // max_new_tokens
	MinTokens         int     `json:"min_tokens,omitempty"`  // min_new_tokens
	Temperature       float64 `json:"temperature,omitempty"` // nucleus only
	TopK              int     `json:"top_k,omitempty"`       // 0 = all
	TopP              float64 `json:"top_p,omitempty"`       // 1 = all
	Beams             int     `json:"beams,omitempty"`       // num_beams
	LengthPenalty     float64 `json:"length_penalty,omitempty"`
	Early             string  `json:"early_stopping,omitempty"` // "", "true" or "never"
	RepetitionPenalty float64 `json:"repetition_penalty,omitempty"`
	Precision         string  `json:"precision,omitempty"` // "" = float32

	Exec ExecOptions `json:"exec,omitzero"`
}

// Decodings are the values of [CaptionOptions].Decode, the default first.
var Decodings = []string{"greedy", "beam", "nucleus"}

// CaptionOptions are the options of [Caption].
type CaptionOptions struct {
	// N is the number of captions per image, 1 to 10,000; default 1.
	N int

	// Seed is the seed of each image's first caption, default 0; caption k has seed Seed + k − 1. A number column
	// seed of the table overrides it.
	Seed int64

	// Prefix is the text that every caption starts with, for example "a picture of"; default "". As in transformers
	// it is part of the caption.
	Prefix string

	// Decode is the decoding method: "greedy" (default; the most probable token, one caption per image), "beam" (the
	// N best captions of a beam search) or "nucleus" (tokens are sampled; any N, each caption with its own seed).
	Decode string

	// MaxTokens is the largest number of tokens after the prefix, the end token included; default 20.
	MaxTokens int

	// MinTokens is the number of tokens before a caption may end; default 0.
	MinTokens int

	// TopP samples from the fewest tokens whose probabilities sum to at least TopP, above 0 and up to 1; default 0.9.
	// Decode "nucleus" only.
	TopP float64

	// TopK samples from the TopK most probable tokens; default 0: all. Decode "nucleus" only.
	TopK int

	// Temperature divides the logits before sampling, above 0 and up to 1000; default 1. Decode "nucleus" only.
	Temperature float64

	// Beams is the number of beams, 2 to 256; default 3, or N if that is larger. Decode "beam" only.
	Beams int

	// LengthPenalty is the exponent of the caption's length, by which its log-probability is divided, −100 to 100;
	// default nil: 1. Decode "beam" only. Example: LengthPenalty: new(0.0).
	LengthPenalty *float64

	// EarlyStopping is when a beam search ends, as in transformers: "false" (default), "true" or "never". Decode
	// "beam" only.
	EarlyStopping string

	// RepetitionPenalty above 1 makes tokens already in the caption less probable, below 1 more probable;
	// above 0 and up to 1000, default 1.
	RepetitionPenalty float64

	// Precision is the number type of the computation: "float32" (default) or "bfloat16", which takes half the memory
	// and may choose another word where two are almost equally probable.
	Precision string

	// Exec are the options of a program (a model named exec:PATH), for which of the others only N, Seed, Prefix,
	// MaxTokens and Decode "greedy" and "nucleus" are: a nucleus caption is one that depends on its seed.
	Exec ExecOptions
}

// captionOf is the column with the id of a caption's image.
const captionOf = "image_id"

// Caption describes each image in words. Each image becomes [CaptionOptions].N rows with the ids ID#1, ID#2, …;
// image_id is the id of the image and the number column seed is the caption's seed. Added are
//
//   - caption, without special and unknown tokens; it may be empty;
//   - caption_tokens, the number of tokens after the prefix, without the end token;
//   - caption_logprob, the natural logarithm of the probability that the model assigns to those tokens (and to the end
//     token, if it was written), rounded to four decimals: a sum over tokens, before temperature, truncation and
//     penalties;
//   - caption_stop: "end", or "limit" if MaxTokens truncated the caption.
//
// A sampled caption depends on the image's contents, its seed and the options, not on the batch. In a beam search
// caption k is the k-th best. Of tokens with equal logits the first in the vocabulary is taken.
//
// A row without an image whose outcome is refused, failed or skipped has an empty caption and no numbers. The table
// needs the columns id and image.
//
// The model is a BlipForConditionalGeneration, or a Blip2ForConditionalGeneration with an OPT language model, with its
// tokenizer; see the package comment for how to name it.
func Caption(model string, images datasets.Table, options ...CaptionOptions) datasets.Table {
	fail := func(err error) datasets.Table { return images.Fail(fmt.Errorf("Caption: %w", err)) }
	o, err := only(options)
	if err = invalid(err, o.check()); err != nil {
		return fail(err)
	}
	args := o.args()
	if strings.HasPrefix(model, Exec) && (o.Decode == "beam" || o.MinTokens != 0 || o.TopP != 0 || o.TopK != 0 ||
		o.Temperature != 0 || o.RepetitionPenalty != 0 || args.Precision != "") {
		return fail(invalid(errors.New("a program takes no options of decoding but prefix, max tokens, and " +
			"decode greedy or nucleus; pass it arguments of its own (--exec-arg)")))
	}
	if args.Model, err = resolveExec(model, o.Exec); err != nil {
		return fail(err)
	}
	if slices.ContainsFunc(images.Columns(), func(c table.ColumnSpec) bool { return c.Name == captionOf }) {
		return fail(errors.New("the table has a column image_id already, which Caption adds: rename it"))
	}
	images = images.Need("id", table.KindText).Need("image", table.KindImage)
	captions := images.Repeat(args.N, captionOf, o.Seed).Derive(CaptionOp, args, CaptionColumns()...)
	return execSecrets(captions, model, o.Exec)
}

// check fills in defaults that other fields depend on and reports values out of range or without meaning.
func (o *CaptionOptions) check() error {
	if o.LengthPenalty != nil {
		if p := *o.LengthPenalty; !(p >= -100 && p <= 100) {
			return fmt.Errorf("length penalty %v: must be between -100 and 100", p)
		}
	}
	if err := invalid(between("captions per image:", o.N, 1, datasets.MaxRepeat),
		oneOf("decode", o.Decode, Decodings),
		between("max tokens", o.MaxTokens, 1, 1<<14),
		between("min tokens", o.MinTokens, 0, 1<<14),
		positive("top-p", o.TopP, 1),
		between("top-k", o.TopK, 0, 1<<21),
		positive("temperature", o.Temperature, 1000),
		between("beams", o.Beams, 2, 256),
		oneOf("early stopping", o.EarlyStopping, []string{"false", "true", "never"}),
		positive("repetition penalty", o.RepetitionPenalty, 1000),
		oneOf("precision", o.Precision, Precisions[1:])); err != nil {
		return err
	}
	o.N, o.MaxTokens, o.Decode = cmp.Or(o.N, 1), cmp.Or(o.MaxTokens, 20), cmp.Or(o.Decode, Decodings[0])
	nucleus, beam := o.Decode == "nucleus", o.Decode == "beam"
	switch {
	case o.MinTokens > o.MaxTokens:
		return fmt.Errorf("min tokens %d is more than max tokens %d", o.MinTokens, o.MaxTokens)
	case !nucleus && (o.TopP != 0 || o.TopK != 0 || o.Temperature != 0):
		return fmt.Errorf(`top-p, top-k and temperature are for decode "nucleus", not %q`, o.Decode)
	case !beam && (o.Beams != 0 || o.LengthPenalty != nil || o.EarlyStopping != "" && o.EarlyStopping != "false"):
		return fmt.Errorf(`beams, length penalty and early stopping are for decode "beam", not %q`, o.Decode)
	case !nucleus && !beam && o.N > 1:
		return fmt.Errorf(`decode "greedy" writes one caption per image, not %d: use "nucleus" or "beam"`, o.N)
	case beam && o.Beams != 0 && o.N > o.Beams:
		return fmt.Errorf("a search with %d beams writes at most %[1]d captions, not %d", o.Beams, o.N)
	}
	return nil
}

// args returns the arguments of the stage.
func (o *CaptionOptions) args() CaptionArgs {
	a := CaptionArgs{N: o.N, Prefix: o.Prefix, Decode: o.Decode, MaxTokens: o.MaxTokens, MinTokens: o.MinTokens,
		TopK: o.TopK, RepetitionPenalty: o.RepetitionPenalty, Precision: o.Precision,
		Exec: o.Exec}
	switch o.Decode {
	case "nucleus":
		a.TopP, a.Temperature = cmp.Or(o.TopP, 0.9), cmp.Or(o.Temperature, 1)
	case "beam":
		a.Beams, a.Early, a.LengthPenalty = cmp.Or(o.Beams, max(3, o.N)), o.EarlyStopping, 1
		if o.LengthPenalty != nil {
			a.LengthPenalty = *o.LengthPenalty
		}
	}
	// The plan does not contain what has its default.
	if a.Early == "false" {
		a.Early = ""
	}
	if a.RepetitionPenalty == 1 {
		a.RepetitionPenalty = 0
	}
	if a.Precision == "float32" {
		a.Precision = ""
	}
	return a
}

// CaptionColumns returns the columns that Caption adds.
func CaptionColumns() []table.ColumnSpec {
	return datasets.Columns("caption:text", "caption_tokens:number", "caption_logprob:number", "caption_stop:text")
}
