package gomlxmodels

// TokenOptions are the options of [GenerateOptions] of generators that write the tokens of an image one by one: DALL·E
// mini and mega, minDALL-E. Zero values are the original's.
type TokenOptions struct {
	// TopK samples from the K most probable tokens, 1 to 100,000; default 50, for minDALL-E 256.
	TopK int `json:"top_k,omitempty" min:"1" max:"100000" help:"sample from the K most probable tokens; default 50, of minDALL-E 256"`

	// TopP samples from the fewest tokens whose probabilities reach P; default 1: all.
	TopP float64 `json:"top_p,omitempty" min:">0" max:"1" help:"sample from the fewest tokens whose probabilities reach P; default 1"`

	// Temperature divides the logits; default 1.
	Temperature float64 `json:"temperature,omitempty" min:">0" max:"100" help:"the logits are divided by it; default 1"`

	// ConditionScale is the weight of the prompt relative to the empty prompt, 1 to 1000; default 10. 1 turns it off.
	ConditionScale float64 `json:"condition_scale,omitempty" for:"dallemini" min:"1" max:"1000" help:"weight of the prompt relative to the empty prompt; 1 = off; default 10"`

	// TextNormalize is "on" (default) or "off": whether prompts are normalized as the model's training texts were: to
	// ASCII, in lower case, with commas for punctuation. Other scripts are transliterated, emoji become their names;
	// the column reason names words without a transliteration, which the model does not see. off is for prompts that
	// are normalized already.
	TextNormalize string `json:"text_normalize,omitempty" for:"dallemini" zero:"on" values:"on,off" help:"whether prompts are normalized as the training texts were"`
}
