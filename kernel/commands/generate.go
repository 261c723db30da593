package commands

import (
	"context"
	"fmt"
	"strings"

	"antipode/gomlxmodels"
)

func generate(ctx context.Context, args []string) error {
	var s stageFlags
	var model, prompts, negative, scheduler, size string
	var n, steps int
	var guidance float64
	fs := flags("generate", "--model NAME|DIR --prompts TABLE --out TABLE")
	s.add(fs)
	fs.StringVar(&model, "model", "", "the model: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, or a folder as diffusers writes it (StableDiffusionPipeline)")
	fs.StringVar(&prompts, "prompts", "", "the `TABLE` of prompts: columns id and prompt, and where wanted seed and negative; --in says the same")
	fs.IntVar(&n, "n", 1, "pictures of each prompt: picture k has the seed --seed + k − 1, or that of the prompt's column seed + k − 1")
	fs.IntVar(&steps, "steps", 50, "steps that turn noise into a picture")
	fs.Float64Var(&guidance, "guidance", 7.5, "weight of the prompt against the negative one; up to 1 = none")
	fs.StringVar(&scheduler, "scheduler", "", "the sampler, one of "+strings.Join(gomlxmodels.Schedulers, ", ")+"; default: the model's own")
	fs.StringVar(&negative, "negative", "", "what pictures shall not show")
	fs.StringVar(&size, "size", "", "`WIDTHxHEIGHT` in pixels; default: the model's own")
	if rest, err := parse(fs, args); err != nil {
		return err
	} else if len(rest) > 0 {
		return usage("generate takes no argument %q", rest[0])
	}
	if model == "" {
		return usage("give --model NAME or --model DIR")
	}
	if prompts != "" {
		s.in = prompts
	}
	t, err := s.table()
	if err != nil {
		return err
	}
	options := []gomlxmodels.GenerateOption{gomlxmodels.Each(n), gomlxmodels.FirstSeed(s.seed), gomlxmodels.Steps(steps), gomlxmodels.Guidance(guidance), gomlxmodels.Negative(negative)}
	if scheduler != "" {
		options = append(options, gomlxmodels.Scheduler(scheduler))
	}
	if size != "" {
		var width, height int
		if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
			return usage("--size %q: WIDTHxHEIGHT, for example 512x512", size)
		}
		options = append(options, gomlxmodels.PictureSize(width, height))
	}
	return s.save(ctx, gomlxmodels.Generate(model, t, options...))
}
