package commands

import (
	"context"
	"strconv"

	"antipode/gomlxmodels"
)

func caption(ctx context.Context, args []string) error {
	var s stageFlags
	var model, prefix, decode, precision string
	var n, longest, shortest int
	fs := flags("caption", "--model NAME|DIR --in TABLE --out TABLE [--n N] [--decode greedy|beam|nucleus] …")
	s.add(fs)
	fs.StringVar(&model, "model", "", "the model: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, or a folder (BlipForConditionalGeneration, or Blip2ForConditionalGeneration with an OPT)")
	fs.IntVar(&n, "n", 1, "captions of each image; caption k is the row ID#k and has the seed --seed + k − 1")
	fs.StringVar(&prefix, "prefix", "", "the `TEXT` every caption begins with")
	fs.StringVar(&decode, "decode", "greedy", "how tokens are chosen: greedy, beam, nucleus (drawn)")
	fs.IntVar(&longest, "max-tokens", 20, "tokens after the prefix at most, the end included")
	fs.IntVar(&shortest, "min-tokens", 0, "tokens before a caption may end")
	fs.StringVar(&precision, "precision", "float32", "what the model computes in: float32, bfloat16 (half the memory)")
	fs.String("beams", "", "beams of a search; default 3")
	fs.String("length-penalty", "", "power of the length that a beam's log-probability is divided by; default 1")
	fs.String("early-stopping", "", "when a search ends: false, true, never; default false")
	fs.String("top-p", "", "draw from the fewest tokens that reach this probability; default 0.9")
	fs.String("top-k", "", "draw from so many likeliest tokens; default all")
	fs.String("temperature", "", "divides the logits of drawn tokens; default 1")
	fs.String("repetition-penalty", "", "above 1, tokens that were written are less likely again; default 1")
	if rest, err := parse(fs, args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usage("caption takes no argument %q", rest[0])
	}
	if model == "" {
		return usage("give --model NAME or --model DIR")
	}
	options := []gomlxmodels.CaptionOption{gomlxmodels.Captions(n), gomlxmodels.CaptionSeed(s.seed), gomlxmodels.Prefix(prefix),
		gomlxmodels.Decode(decode), gomlxmodels.MaxTokens(longest), gomlxmodels.MinTokens(shortest), gomlxmodels.CaptionPrecision(precision)}
	// Settings of one way of decoding are passed on only where they were given: another way refuses them.
	number := func(f func(float64) gomlxmodels.CaptionOption) func(string) (gomlxmodels.CaptionOption, error) {
		return func(text string) (gomlxmodels.CaptionOption, error) {
			v, err := strconv.ParseFloat(text, 64)
			return f(v), err
		}
	}
	whole := func(f func(int) gomlxmodels.CaptionOption) func(string) (gomlxmodels.CaptionOption, error) {
		return func(text string) (gomlxmodels.CaptionOption, error) {
			v, err := strconv.Atoi(text)
			return f(v), err
		}
	}
	for name, option := range map[string]func(string) (gomlxmodels.CaptionOption, error){
		"beams": whole(gomlxmodels.Beams), "length-penalty": number(gomlxmodels.LengthPenalty), "top-p": number(gomlxmodels.TopP),
		"top-k": whole(gomlxmodels.TopK), "temperature": number(gomlxmodels.Temperature), "repetition-penalty": number(gomlxmodels.RepetitionPenalty),
		"early-stopping": func(text string) (gomlxmodels.CaptionOption, error) { return gomlxmodels.EarlyStopping(text), nil },
	} {
		text := fs.Lookup(name).Value.String()
		if text == "" {
			continue
		}
		o, err := option(text)
		if err != nil {
			return usage("--%s %q is not a number", name, text)
		}
		options = append(options, o)
	}
	t, err := s.table()
	if err != nil {
		return err
	}
	return s.save(ctx, gomlxmodels.Caption(model, t, options...))
}
