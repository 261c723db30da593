package commands

import (
	"context"
	"fmt"
	"strconv"

	"antipode/gomlxmodels"
)

func caption(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.CaptionOptions
	var model string
	fs := flags("caption", "--model NAME|DIR --in TABLE --out TABLE [--n N] [--decode greedy|beam|nucleus] …")
	s.add(fs)
	fs.StringVar(&model, "model", "", modelUsage+"(BlipForConditionalGeneration, or Blip2ForConditionalGeneration "+
		"with an OPT)"+execUsage)
	fs.IntVar(&o.N, "n", 1, "captions per image; caption k is the row ID#k and has the seed --seed + k − 1")
	fs.StringVar(&o.Prefix, "prefix", "", "the `TEXT` every caption starts with")
	fs.StringVar(&o.Decode, "decode", "greedy", "decoding method: greedy, beam, nucleus (sampled)")
	fs.IntVar(&o.MaxTokens, "max-tokens", 20, "tokens after the prefix at most, the end token included")
	fs.IntVar(&o.MinTokens, "min-tokens", 0, "tokens before a caption may end")
	fs.StringVar(&o.Precision, "precision", "float32", "number type of the computation: float32, bfloat16 (half the "+
		"memory)")
	fs.IntVar(&o.Beams, "beams", 0, "beams of a beam search; default 3")
	fs.Func("length-penalty", "exponent `P` of the length that a beam's log-probability is divided by; default 1",
		func(text string) error {
			p, err := strconv.ParseFloat(text, 64)
			if o.LengthPenalty = &p; err != nil {
				return fmt.Errorf("%q is not a number", text)
			}
			return nil
		})
	fs.StringVar(&o.EarlyStopping, "early-stopping", "", "when a beam search ends: false, true, never; default false")
	fs.Float64Var(&o.TopP, "top-p", 0, "sample from the fewest tokens that reach this probability; default 0.9")
	fs.IntVar(&o.TopK, "top-k", 0, "sample from so many most probable tokens; default all")
	fs.Float64Var(&o.Temperature, "temperature", 0, "divides the logits before sampling; default 1")
	fs.Float64Var(&o.RepetitionPenalty, "repetition-penalty", 0, "above 1, tokens that a caption contains already are "+
		"less probable; default 1")
	execFlags(fs, &o.Exec)
	if err := noArguments(fs, args, "n", "max-tokens", "beams", "top-p", "temperature",
		"repetition-penalty"); err != nil {
		return err
	}
	if model == "" {
		return usage("give --model NAME or --model DIR")
	}
	if err := allowExec(model); err != nil {
		return err
	}
	o.Seed = s.seed
	t, err := s.table(ctx)
	if err != nil {
		return err
	}
	return s.save(ctx, gomlxmodels.Caption(model, t, o))
}
