package commands

import (
	"context"

	"antipode/gomlxmodels"
)

func caption(ctx context.Context, args []string) error {
	var o gomlxmodels.CaptionOptions
	s, t, err := readStage(ctx, "caption", modelUsage+"(BlipForConditionalGeneration, or "+
		"Blip2ForConditionalGeneration with an OPT)"+execUsage, &o, args)
	if err != nil {
		return err
	}
	return s.save(ctx, gomlxmodels.Caption(s.model, t, o))
}
