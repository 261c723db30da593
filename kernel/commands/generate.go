package commands

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/imageapi"
	"antipode/kernel/client"
)

func generate(ctx context.Context, args []string) error {
	var s stageFlags
	var model, prompts, negative, scheduler, size, safety, quality, style string
	var n, steps, perMinute int
	var guidance, budget float64
	fs := flags("generate", "--model NAME|DIR --prompts TABLE --out TABLE")
	s.add(fs)
	fs.StringVar(&model, "model", "", "the model: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, a folder as diffusers writes it (StableDiffusionPipeline, AltDiffusionPipeline), or api:NAME, a model behind an OpenAI-compatible image API (OPENAI_API_KEY, OPENAI_BASE_URL)")
	fs.StringVar(&prompts, "prompts", "", "the `TABLE` of prompts: columns id and prompt, and where wanted seed and negative; --in says the same")
	fs.IntVar(&n, "n", 1, "pictures of each prompt: picture k has the seed --seed + k − 1, or that of the prompt's column seed + k − 1")
	fs.IntVar(&steps, "steps", 50, "steps that turn noise into a picture")
	fs.Float64Var(&guidance, "guidance", 7.5, "weight of the prompt against the negative one; up to 1 = none")
	fs.StringVar(&scheduler, "scheduler", "", "the sampler, one of "+strings.Join(gomlxmodels.Schedulers, ", ")+"; default: the model's own")
	fs.StringVar(&negative, "negative", "", "what pictures shall not show")
	fs.StringVar(&size, "size", "", "`WIDTHxHEIGHT` in pixels; default: the model's own")
	fs.StringVar(&safety, "safety", gomlxmodels.SafetyOn, "on, or off: what the model's own safety checker blocks is refused, where its folder has one")
	fs.StringVar(&quality, "quality", "", "of an image API: standard or hd of DALL·E 3, low, medium or high of GPT images")
	fs.StringVar(&style, "style", "", "of DALL·E 3: vivid or natural")
	fs.Float64Var(&budget, "budget", 0, "US dollars that an image API may cost; 0 = no limit")
	fs.IntVar(&perMinute, "per-minute", 0, "requests a minute to an image API at most; 0 = no limit but its own")
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
	options := []gomlxmodels.GenerateOption{gomlxmodels.Each(n), gomlxmodels.FirstSeed(s.seed)}
	given := map[string]gomlxmodels.GenerateOption{"steps": gomlxmodels.Steps(steps), "guidance": gomlxmodels.Guidance(guidance), "scheduler": gomlxmodels.Scheduler(scheduler),
		"negative": gomlxmodels.Negative(negative), "safety": gomlxmodels.Safety(safety), "quality": gomlxmodels.Quality(quality), "style": gomlxmodels.Style(style), "budget": gomlxmodels.Budget(budget), "per-minute": gomlxmodels.PerMinute(perMinute)}
	fs.Visit(func(f *flag.Flag) {
		if o := given[f.Name]; o != nil {
			options = append(options, o)
		}
	})
	if size != "" {
		var width, height int
		if _, err := fmt.Sscanf(size, "%dx%d", &width, &height); err != nil {
			return usage("--size %q: WIDTHxHEIGHT, for example 512x512", size)
		}
		options = append(options, gomlxmodels.PictureSize(width, height))
	}
	for _, o := range options {
		if err := o(&gomlxmodels.GenerateArgs{}); err != nil {
			return usage("%v", err)
		}
	}
	pictures := gomlxmodels.Generate(model, t, options...)
	if name, api := strings.CutPrefix(model, gomlxmodels.API); api {
		if err := estimate(ctx, t, n, imageapi.Options{Model: name, Size: size, Quality: quality, Style: style}); err != nil {
			return err
		}
	}
	return s.save(ctx, pictures)
}

// estimate says what pictures behind an API will cost at most, before any is asked for.
func estimate(ctx context.Context, prompts datasets.Table, n int, o imageapi.Options) error {
	plan, err := prompts.Plan()
	if err != nil {
		return err
	}
	res, err := request(ctx, client.Request{Plan: plan, Counts: true})
	if err != nil {
		return err
	}
	g, err := imageapi.New(o)
	if err != nil {
		return err
	}
	e := g.Estimate(res.Rows * n)
	if !e.Known {
		say("%s: %d pictures at a price that is not known here; what was made before is not made again", g.Label(), e.Images)
		return nil
	}
	say("%s: %d pictures, at most %.2f US dollars (%.3f each, the price of %s: look it up); what was made before is not made again; --budget sets a limit", g.Label(), e.Images, e.Total, e.Image, e.Date)
	return nil
}
