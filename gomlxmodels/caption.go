package gomlxmodels

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// CaptionOp is the operation of [Caption].
const CaptionOp = "caption"

// CaptionArgs are the arguments of a caption stage. Names in brackets are those of transformers' generate.
type CaptionArgs struct {
	Model             string  `json:"model"` // a known name, a name on the hub, or the absolute path of a folder
	N                 int     `json:"n"`     // captions of an image
	Prefix            string  `json:"prefix,omitempty"`
	Decode            string  `json:"decode"`                // one of Decodings
	MaxTokens         int     `json:"max_tokens"`            // max_new_tokens
	MinTokens         int     `json:"min_tokens,omitempty"`  // min_new_tokens
	Temperature       float64 `json:"temperature,omitempty"` // of drawn tokens
	TopK              int     `json:"top_k,omitempty"`       // 0 = all
	TopP              float64 `json:"top_p,omitempty"`       // 1 = all
	Beams             int     `json:"beams,omitempty"`       // num_beams
	LengthPenalty     float64 `json:"length_penalty,omitempty"`
	Early             string  `json:"early_stopping,omitempty"` // "", "true" or "never"
	RepetitionPenalty float64 `json:"repetition_penalty,omitempty"`
	Precision         string  `json:"precision,omitempty"` // "" = float32

	seed   int64
	length *float64
}

// CaptionOption is a setting of [Caption].
type CaptionOption func(*CaptionArgs) error

// Decodings are the ways of [Decode], the default first.
var Decodings = []string{"greedy", "beam", "nucleus"}

// whole makes an option of a whole number between bounds.
func whole(what string, n, least, most int, to func(*CaptionArgs) *int) CaptionOption {
	return func(a *CaptionArgs) error {
		if n < least || n > most {
			return fmt.Errorf("%s %d is not between %d and %d", what, n, least, most)
		}
		*to(a) = n
		return nil
	}
}

// positive makes an option of a number above 0 and up to a most.
func positive(what string, x, most float64, to func(*CaptionArgs) *float64) CaptionOption {
	return func(a *CaptionArgs) error {
		if !(x > 0 && x <= most) {
			return fmt.Errorf("%s %v is not above 0 and up to %v", what, x, most)
		}
		*to(a) = x
		return nil
	}
}

// Captions is how many captions are written of an image; 1 by default.
func Captions(n int) CaptionOption {
	return whole("captions of an image:", n, 1, datasets.MaxRepeat, func(a *CaptionArgs) *int { return &a.N })
}

// CaptionSeed is the seed of each image's first caption, 0 by default; caption k has CaptionSeed + k − 1. A number column seed overrides it.
func CaptionSeed(seed int64) CaptionOption {
	return func(a *CaptionArgs) error {
		a.seed = seed
		return nil
	}
}

// Prefix is what every caption begins with, for example "a picture of"; "" by default. It stands in the caption, as in transformers.
func Prefix(text string) CaptionOption {
	return func(a *CaptionArgs) error {
		a.Prefix = text
		return nil
	}
}

// Decode says how tokens are chosen: "greedy" (the likeliest, the default; one caption of an image), "beam" ([Beams]; the best captions
// of the search) or "nucleus" (drawn: [TopP], [TopK], [Temperature]; any number of captions, each with its seed).
func Decode(how string) CaptionOption {
	return func(a *CaptionArgs) error {
		if !slices.Contains(Decodings, how) {
			return fmt.Errorf("decode %q: it is one of %s", how, strings.Join(Decodings, ", "))
		}
		a.Decode = how
		return nil
	}
}

// MaxTokens is the most tokens written after the prefix, the end included; 20 by default.
func MaxTokens(n int) CaptionOption {
	return whole("max tokens", n, 1, 1<<14, func(a *CaptionArgs) *int { return &a.MaxTokens })
}

// MinTokens is how many tokens are written before a caption may end; 0 by default.
func MinTokens(n int) CaptionOption {
	return whole("min tokens", n, 0, 1<<14, func(a *CaptionArgs) *int { return &a.MinTokens })
}

// Beams is how many beams a beam search follows; 3 by default.
func Beams(n int) CaptionOption {
	return whole("beams", n, 2, 256, func(a *CaptionArgs) *int { return &a.Beams })
}

// LengthPenalty is the power of a caption's length that its log-probability is divided by in a beam search; 1 by default.
func LengthPenalty(power float64) CaptionOption {
	return func(a *CaptionArgs) error {
		if math.IsNaN(power) || math.Abs(power) > 100 {
			return fmt.Errorf("length penalty %v is not between -100 and 100", power)
		}
		a.length = &power
		return nil
	}
}

// EarlyStopping says when a beam search ends, as in transformers: "false" (the default), "true" or "never".
func EarlyStopping(when string) CaptionOption {
	return func(a *CaptionArgs) error {
		if !slices.Contains([]string{"false", "true", "never"}, when) {
			return fmt.Errorf("early stopping %q: it is false, true or never", when)
		}
		if a.Early = when; when == "false" {
			a.Early = ""
		}
		return nil
	}
}

// TopP draws from the fewest tokens whose probabilities together reach p, up to 1; 0.9 by default.
func TopP(p float64) CaptionOption {
	return positive("top-p", p, 1, func(a *CaptionArgs) *float64 { return &a.TopP })
}

// TopK draws from the k likeliest tokens; 0, the default, is all.
func TopK(k int) CaptionOption {
	return whole("top-k", k, 0, 1<<21, func(a *CaptionArgs) *int { return &a.TopK })
}

// Temperature divides the logits of drawn tokens; 1 by default.
func Temperature(t float64) CaptionOption {
	return positive("temperature", t, 1000, func(a *CaptionArgs) *float64 { return &a.Temperature })
}

// RepetitionPenalty makes tokens that stand in the caption already less likely, above 1, or likelier; 1 by default.
func RepetitionPenalty(penalty float64) CaptionOption {
	return positive("repetition penalty", penalty, 1000, func(a *CaptionArgs) *float64 { return &a.RepetitionPenalty })
}

// CaptionPrecision says what the model computes in: "float32" (the default) or "bfloat16", which takes half the memory and may choose another
// word where two are nearly equally likely.
func CaptionPrecision(dtype string) CaptionOption {
	return func(a *CaptionArgs) error {
		if dtype != "float32" && dtype != "bfloat16" {
			return fmt.Errorf("precision %q: it is float32 or bfloat16", dtype)
		}
		if a.Precision = dtype; dtype == "float32" {
			a.Precision = "" // a plan says nothing of what it leaves at its default
		}
		return nil
	}
}

// complete gives settings that were left open their defaults and says which do not go together.
func (a *CaptionArgs) complete() error {
	drawn, searched := a.Decode == "nucleus", a.Decode == "beam"
	switch {
	case a.MinTokens > a.MaxTokens:
		return fmt.Errorf("min tokens %d is more than max tokens %d", a.MinTokens, a.MaxTokens)
	case !drawn && (a.TopP != 0 || a.TopK != 0 || a.Temperature != 0):
		return fmt.Errorf(`top-p, top-k and temperature are for decode "nucleus", not %q`, a.Decode)
	case !searched && (a.Beams != 0 || a.length != nil || a.Early != ""):
		return fmt.Errorf(`beams, length penalty and early stopping are for decode "beam", not %q`, a.Decode)
	case a.Decode == "greedy" && a.N > 1:
		return fmt.Errorf(`decode "greedy" writes one caption of an image, not %d: take "nucleus", or "beam"`, a.N)
	}
	if drawn {
		if a.TopP == 0 {
			a.TopP = 0.9
		}
		if a.Temperature == 0 {
			a.Temperature = 1
		}
	}
	if searched {
		if a.Beams == 0 {
			a.Beams = max(3, a.N)
		}
		if a.LengthPenalty = 1; a.length != nil {
			a.LengthPenalty = *a.length
		}
		if a.N > a.Beams {
			return fmt.Errorf("a search with %d beams writes at most as many captions, not %d", a.Beams, a.N)
		}
	}
	if a.RepetitionPenalty == 1 {
		a.RepetitionPenalty = 0
	}
	return nil
}

// Caption describes each image in words: [Captions] rows for each, with id ID#k, the image's id in image_id, the caption's seed in the
// number column seed (see datasets.Table.Repeat), and
//
//   - caption, as the model's tokenizer writes it without special and unknown tokens; it may be empty;
//   - caption_tokens, how many tokens were written after the prefix, the end not counted;
//   - caption_logprob, the natural logarithm of the probability that the model itself gives those tokens, and the end where it was
//     written, to four decimals: a sum over tokens, before any temperature, cut or penalty;
//   - caption_stop: "end", or "limit" where [MaxTokens] cut the caption.
//
// A drawn caption depends on the image's contents, its seed and the settings, not on what is captioned beside it. Of beams, caption k
// is the k-th best. Of tokens of equal logits the first in the vocabulary is taken. Work is in float32 on every device,
// where [CaptionPrecision] says nothing else.
//
// A row whose outcome is refused, failed or skipped and that has no image stays, with an empty caption, no numbers and an empty
// caption_stop.
//
// model is a name that [Known] lists, a model on the hub that was pulled, or a folder of a BlipForConditionalGeneration, or of a
// Blip2ForConditionalGeneration with an OPT, with its tokenizer, as transformers writes them.
func Caption(model string, images datasets.Table, options ...CaptionOption) datasets.Table {
	args := CaptionArgs{N: 1, Decode: Decodings[0], MaxTokens: 20}
	fail := func(err error) datasets.Table { return images.Fail(fmt.Errorf("Caption: %w", err)) }
	for _, o := range options {
		if err := o(&args); err != nil {
			return fail(err)
		}
	}
	if err := args.complete(); err != nil {
		return fail(err)
	}
	var err error
	if args.Model, err = resolve(model); err != nil {
		return fail(err)
	}
	if slices.ContainsFunc(images.Columns(), func(c client.ColumnSpec) bool { return c.Name == captionOf }) {
		return fail(errors.New("the table has a column image_id already, which is to hold the images' ids: rename it"))
	}
	images = images.Need("id", client.Text).Need("image", client.Picture)
	return images.Repeat(args.N, captionOf, args.seed).Derive(CaptionOp, args, CaptionColumns()...)
}

// captionOf is the column that holds the id of a caption's image.
const captionOf = "image_id"

// CaptionColumns are the columns that Caption adds.
func CaptionColumns() []client.ColumnSpec {
	return datasets.Columns("caption:text", "caption_tokens:number", "caption_logprob:number", "caption_stop:text")
}
