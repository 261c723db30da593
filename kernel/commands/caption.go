package commands

import (
	"context"

	"antipode/gomlxmodels"
)

func caption(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.CaptionOptions
	var model string
	fs := flags("caption", "--model NAME|DIR --in TABLE --out TABLE [--n N] [--decode greedy|beam|nucleus] …")
	fs.StringVar(&model, "model", "", modelUsage+"(BlipForConditionalGeneration, or Blip2ForConditionalGeneration "+
		"with an OPT)"+execUsage)
	addOptions(fs, &o)
	s.add(fs)
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if model == "" {
		return usage("give --model NAME or --model DIR")
	}
	if err := allowExec(model); err != nil {
		return err
	}
	t, err := s.table(ctx)
	if err != nil {
		return err
	}
	return s.save(ctx, gomlxmodels.Caption(model, t, o))
}
