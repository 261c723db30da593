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

// CaptionOptions are the options of [Caption]. The names in parentheses are those of transformers' generate.
type CaptionOptions struct {
	// N is the number of captions per image, 1 to 10,000; default 1.
	N int `json:"n" default:"1" min:"1" max:"10000" help:"captions per image; caption k is the row ID#k and has the seed --seed + k − 1"`

	// Seed is the seed of each image's first caption, default 0; caption k has seed Seed + k − 1. A number column
	// seed of the table overrides it.
	Seed int64 `json:"-" flag:"seed" help:"the seed of each image's first caption"`

	// Prefix is the text that every caption starts with, for example "a picture of"; default "". As in transformers
	// it is part of the caption.
	Prefix string `json:"prefix,omitempty" help:"the text every caption starts with"`

	// Decode is the decoding method: "greedy" (default; the most probable token, one caption per image), "beam" (the
	// N best captions of a beam search) or "nucleus" (tokens are sampled; any N, each caption with its own seed). A
	// program's caption is "nucleus" where it depends on its seed.
	Decode string `json:"decode" default:"greedy" values:"greedy,beam,nucleus" help:"decoding method; with nucleus tokens are sampled"`

	// MaxTokens is the largest number of tokens after the prefix (max_new_tokens), the end token included; default 20.
	MaxTokens int `json:"max_tokens" default:"20" min:"1" max:"16384" help:"tokens after the prefix at most, the end token included"`

	// MinTokens is the number of tokens before a caption may end (min_new_tokens); default 0.
	MinTokens int `json:"min_tokens,omitempty" group:"Rare options" for:"encoder" min:"0" max:"16384" help:"tokens before a caption may end"`

	// Temperature divides the logits before sampling, above 0 and up to 1000; default 1.
	Temperature float64 `json:"temperature,omitempty" group:"Sampling (--decode nucleus)" for:"nucleus" min:">0" max:"1000" help:"divides the logits before sampling; default 1"`

	// TopK samples from the TopK most probable tokens; default 0: all.
	TopK int `json:"top_k,omitempty" group:"Sampling (--decode nucleus)" for:"nucleus" min:"0" max:"2097152" help:"sample from so many most probable tokens; 0 = all"`

	// TopP samples from the fewest tokens whose probabilities sum to at least TopP, above 0 and up to 1; default 0.9.
	TopP float64 `json:"top_p,omitempty" group:"Sampling (--decode nucleus)" for:"nucleus" min:">0" max:"1" help:"sample from the fewest tokens that reach this probability; default 0.9"`

	// Beams is the number of beams (num_beams), 2 to 256; default 3, or N if that is larger.
	Beams int `json:"beams,omitempty" group:"Beam search (--decode beam)" for:"beam" min:"2" max:"256" help:"beams of the search; default 3, or --n"`

	// LengthPenalty is the exponent of the caption's length, by which its log-probability is divided, −100 to 100;
	// default nil: 1. Example: LengthPenalty: new(0.0).
	LengthPenalty *float64 `json:"length_penalty,omitempty" group:"Beam search (--decode beam)" for:"beam" min:"-100" max:"100" help:"exponent of the length that a beam's log-probability is divided by; default 1"`

	// EarlyStopping is when a beam search ends, as in transformers: "false" (default), "true" or "never".
	EarlyStopping string `json:"early_stopping,omitempty" group:"Beam search (--decode beam)" for:"beam" zero:"false" values:"false,true,never" help:"when the search ends"`

	// RepetitionPenalty above 1 makes tokens already in the caption less probable, below 1 more probable;
	// above 0 and up to 1000, default 1.
	RepetitionPenalty float64 `json:"repetition_penalty,omitempty" group:"Rare options" for:"encoder" zero:"1" min:">0" max:"1000" help:"above 1, tokens that a caption contains already are less probable"`

	// Precision is the number type of the computation: "float32" (default) or "bfloat16", which takes half the memory
	// and may choose another word where two are almost equally probable.
	Precision string `json:"precision,omitempty" group:"Rare options" for:"encoder" zero:"float32" values:"float32,bfloat16" help:"number type of the computation; bfloat16 takes half the memory"`

	// Exec are the options of a program (a model named exec:PATH).
	Exec ExecOptions `json:"exec,omitzero" group:"Programs (exec:PATH)" for:"exec"`
}

// CaptionArgs are the arguments of a caption stage in a plan, with defaults filled in; no length penalty is one of 0.
type CaptionArgs struct {
	Model string `json:"model"` // a known name, a name on the hub, or the absolute path of a folder
	CaptionOptions
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
	fail := func(err error) datasets.Table {
		return datasets.Extend(images).Fail(fmt.Errorf("Caption: %w", err)).Table
	}
	o, err := only(options, func(o *CaptionOptions) []string {
		if strings.HasPrefix(model, Exec) {
			return []string{"exec"}
		}
		return []string{cmp.Or(o.Decode, "greedy"), "encoder"}
	})
	if err = cmp.Or(err, invalid(o.complete(model))); err != nil {
		return fail(err)
	}
	args := CaptionArgs{model, o}
	if args.Model, err = resolveModel(model, o.Exec); err != nil {
		return fail(err)
	}
	if slices.ContainsFunc(images.Columns(), func(c table.ColumnSpec) bool { return c.Name == captionOf }) {
		return fail(errors.New("the table has a column image_id already, which Caption adds: rename it"))
	}
	images = datasets.Extend(images).Need("id", table.KindText).Need("image", table.KindImage).Table
	captions := datasets.Extend(images.Repeat(o.N, captionOf, o.Seed)).Derive(CaptionOp, args, CaptionColumns()...).
		Table
	return execSecrets(captions, model, o.Exec)
}

// complete fills in the defaults that depend on other options, and reports what does not go together.
func (o *CaptionOptions) complete(model string) error {
	switch {
	case strings.HasPrefix(model, Exec) && o.Decode == "beam":
		return errors.New(`a program decodes "greedy" or "nucleus", not "beam"`)
	case o.MinTokens > o.MaxTokens:
		return fmt.Errorf("min tokens %d is more than max tokens %d", o.MinTokens, o.MaxTokens)
	case o.Decode == "greedy" && o.N > 1:
		return fmt.Errorf(`decode "greedy" writes one caption per image, not %d: use "nucleus" or "beam"`, o.N)
	case o.Beams != 0 && o.N > o.Beams:
		return fmt.Errorf("a search with %d beams writes at most %[1]d captions, not %d", o.Beams, o.N)
	case o.Decode == "nucleus":
		o.TopP, o.Temperature = cmp.Or(o.TopP, 0.9), cmp.Or(o.Temperature, 1)
	case o.Decode == "beam":
		o.Beams = cmp.Or(o.Beams, max(3, o.N))
		if o.LengthPenalty == nil {
			o.LengthPenalty = new(1.0)
		} else if *o.LengthPenalty == 0 {
			o.LengthPenalty = nil
		}
	}
	return nil
}

// CaptionColumns returns the columns that Caption adds.
func CaptionColumns() []table.ColumnSpec {
	return datasets.Columns("caption:text", "caption_tokens:number", "caption_logprob:number", "caption_stop:text")
}
