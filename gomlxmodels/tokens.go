package gomlxmodels

import "errors"

// The values of [TokenOptions].TextNormalize.
const (
	NormalizeOn  = "on"
	NormalizeOff = "off"
)

// TokenOptions are the options of [GenerateOptions] of generators that write the tokens of an image one by one: DALL·E
// mini and mega, minDALL-E. Zero values are the original's.
type TokenOptions struct {
	// TopK samples from the K most probable tokens, 1 to 100,000; default 50, for
	// minDALL-E 256.
	TopK int `json:"top_k,omitempty"`

	// TopP samples from the fewest tokens whose probabilities reach P, above 0 and at most 1; default 1: all.
	TopP float64 `json:"top_p,omitempty"`

	// Temperature divides the logits, above 0 and at most 100; default 1.
	Temperature float64 `json:"temperature,omitempty"`

	// ConditionScale is the weight of the prompt relative to the empty prompt, 1 to 1000; default 10. 1 turns it off.
	// Not for minDALL-E.
	ConditionScale float64 `json:"condition_scale,omitempty"`

	// TextNormalize is "on" (default) or "off": whether prompts are normalized as the model's training texts were: to
	// ASCII, in lower case, with commas for punctuation. Other scripts are transliterated, emoji become their names;
	// the column reason names words without a transliteration, which the model does not see. off is for prompts that
	// are normalized already. minDALL-E has no normalization.
	TextNormalize string `json:"text_normalize,omitempty"`
}

// check reports values out of range.
func (o *TokenOptions) check() error {
	return invalid(between("top-k", o.TopK, 1, 100_000), positive("top-p", o.TopP, 1),
		positive("temperature", o.Temperature, 100), between("condition scale", o.ConditionScale, 1, 1000),
		oneOf("text normalization", o.TextNormalize, []string{NormalizeOn, NormalizeOff}))
}

// ErrTokenOptions is the error of a generator that writes no tokens.
var ErrTokenOptions = errors.New("top-k, top-p, temperature, condition scale and text normalization are for models " +
	"that write image tokens (DALL·E mini, minDALL-E)")
