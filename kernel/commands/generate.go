package commands

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"antipode/datasets"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage/imageapi"
	"antipode/internal/atomicfile"
	"antipode/kernel/client"
)

// The start of the help of --model, and the help of --precision.
const (
	modelUsage = "the model: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, or " +
		"a folder "
	precisionUsage = "number type of the computation: auto (bfloat16 on an NVIDIA GPU, else float32), float32, bfloat16"
)

// noArguments parses the flags of a command that takes no other arguments. The flags named positive may not be 0, which
// the options would take for their default.
func noArguments(fs *flag.FlagSet, args []string, positive ...string) error {
	rest, err := parse(fs, args)
	if err == nil && len(rest) > 0 {
		err = usage("%s takes no argument %q; tables are given with --in", fs.Name(), rest[0])
	}
	fs.Visit(func(f *flag.Flag) {
		if err == nil && slices.Contains(positive, f.Name) && strings.Trim(f.Value.String(), "0.") == "" {
			err = usage("%s: --%s %s: must not be 0", fs.Name(), f.Name, f.Value)
		}
	})
	return err
}

func generate(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.GenerateOptions
	var model, prompt, prompts, size string
	fs := flags("generate", "--prompt TEXT | --model NAME|DIR|FILE --prompts TABLE --out TABLE")
	s.add(fs)
	fs.StringVar(&prompt, "prompt", "", "one prompt, in place of a table; without --out its image is written to a PNG "+
		"file in the working directory, without --model by "+builtInGenerator)
	fs.StringVar(&model, "model", "", modelUsage+"as diffusers writes it (StableDiffusionPipeline, "+
		"AltDiffusionPipeline), a file with a Stable Diffusion 1.x or 2.x (.safetensors, .ckpt), or api:NAME, a "+
		"model behind an OpenAI-compatible image API (OPENAI_API_KEY, "+
		"OPENAI_BASE_URL)"+execUsage)
	fs.StringVar(&prompts, "prompts", "", "the `TABLE` of prompts: columns id and prompt, and optionally seed and "+
		"negative; --in is the same")
	fs.IntVar(&o.N, "n", 1, "images per prompt: image k has the seed --seed + k − 1, or that of the prompt's "+
		"column seed + k − 1")
	fs.IntVar(&o.Steps, "steps", 0, "denoising steps; default 50")
	fs.Float64Var(&o.Guidance, "guidance", 0, "guidance scale; up to 1 = off; default 7.5")
	fs.StringVar(&o.Scheduler, "scheduler", "", "the sampler, one of "+strings.Join(gomlxmodels.Schedulers,
		", ")+"; default: the model's own")
	fs.StringVar(&o.Negative, "negative", "", "the negative prompt: what images should not show")
	fs.StringVar(&size, "size", "", "`WIDTHxHEIGHT` in pixels; default: the model's own")
	fs.StringVar(&o.Precision, "precision", "", precisionUsage+"; default auto")
	fs.StringVar(&o.Variant, "variant", "", "the variant of a pipeline's weights: fp16, half precision; default "+
		"float32 where its folder has such weights")
	fs.StringVar(&o.Safety, "safety", "", "on, off: whether images pass through the safety checker of the model's "+
		"folder, if it has one; default on")
	fs.StringVar(&o.Quality, "quality", "", "of an image API: low, medium, high or auto of gpt-image-2, also xhigh "+
		"and max of later models; a local server may have others")
	fs.Float64Var(&o.Price, "price", 0, "what an image of an API costs in US dollars, where no price is known")
	fs.Float64Var(&o.Budget, "budget", 0, "largest cost of an image API, or of a program that "+
		"reports costs, in US dollars; 0 = no limit")
	fs.IntVar(&o.BudgetImages, "budget-images", 0, "largest number of paid images of an API; 0 = no limit")
	fs.StringVar(&o.BaseURL, "api-base", "", "the `URL` of a server with an image API; default OPENAI_BASE_URL, then "+
		"OpenAI's")
	fs.Func("api-extra", "`FIELDS` that this server accepts, separated by commas: "+
		strings.Join(gomlxmodels.APIExtras, ", ")+" (the seed, --steps, --guidance, --negative)",
		func(list string) error {
			o.APIExtra = strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
			return nil
		})
	fs.StringVar(&o.ModelDigest, "model-digest", "", "any `TEXT` that identifies the weights of this server's model, "+
		"under which images are stored; default its URL")
	fs.Func("style", "no longer exists: it was an option of dall-e-3, which was shut down on 2026-05-12",
		func(string) error {
			return errors.New("only dall-e-3 had styles, and it was shut down on 2026-05-12")
		})
	fs.IntVar(&o.PerMinute, "per-minute", 0, "requests per minute to an image API at most; 0 = no limit but its own")
	fileFlags(fs, &o.File.ConfigFrom, &o.File.Prediction, &o.File.EMA)
	tokenFlags(fs, &o.Tokens)
	execFlags(fs, &o.Exec)
	if err := noArguments(fs, args, "n", "steps", "guidance", "top-k", "top-p", "temperature",
		"condition-scale"); err != nil {
		return err
	}
	if model == "" && prompt != "" {
		model = builtInGenerator
	}
	if model == "" {
		return usage("give --prompt TEXT, or --model NAME, --model DIR or --model FILE")
	}
	if prompt != "" && strings.TrimSpace(prompt) == "" {
		return usage("--prompt %q: the text is blank", prompt)
	}
	if prompts != "" {
		s.in = prompts
	}
	var t datasets.Table
	var err error
	switch {
	case prompt != "" && s.in != "":
		return usage("give --prompt or --prompts")
	case prompt != "":
		t = datasets.FromRows([]map[string]any{{"id": fileName(prompt), "prompt": prompt}})
		if s.out != "" {
			err = s.outName()
		}
	default:
		t, err = s.table(ctx)
	}
	if err != nil {
		return err
	}
	o.Seed = s.seed
	if size != "" {
		if _, err := fmt.Sscanf(size, "%dx%d", &o.Width, &o.Height); err != nil || o.Width == 0 || o.Height == 0 {
			return usage("--size %q: WIDTHxHEIGHT, for example 512x512", size)
		}
	}
	if err := allowExec(model); err != nil {
		return err
	}
	images := gomlxmodels.Generate(model, t, o)
	if _, err := images.Plan(); errors.As(err, new(gomlxmodels.OptionError)) {
		return usage("%w", err)
	}
	if name, api := strings.CutPrefix(model, gomlxmodels.API); api && collecting(ctx) == nil {
		address := cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"))
		if err := estimate(ctx, t, o.N, imageapi.Options{BaseURL: address, Model: name, Size: size, Quality: o.Quality,
			Price: o.Price}); err != nil {
			return err
		}
	}
	if s.out == "" {
		return writeImages(ctx, images)
	}
	return s.save(ctx, images)
}

// builtInGenerator is the generator of a prompt without --model.
const builtInGenerator = "archipelago-diffusion"

// fileName returns a name for the image of a prompt.
func fileName(prompt string) string {
	name := strings.Join(strings.FieldsFunc(prompt, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "_")
	if runes := []rune(name); len(runes) > 60 {
		name = string(runes[:60])
	}
	return cmp.Or(name, "image")
}

// writeImages writes generated images to files in the working directory.
func writeImages(ctx context.Context, images datasets.Table) error {
	plan, err := images.Plan()
	if err != nil {
		return err
	}
	res, err := request(ctx, client.Request{Plan: plan})
	if err != nil {
		return err
	}
	ids, outcomes, reasons := res.Frame.Texts("id"), res.Frame.Texts("outcome"), res.Frame.Texts("reason")
	for i, img := range res.Frame.Images("image") {
		if img.Path == "" {
			return fmt.Errorf("%s: %s: %s", ids[i], outcomes[i], reasons[i])
		}
		data, err := os.ReadFile(img.Path)
		if err != nil {
			return err
		}
		file := ids[i]
		if len(ids) == 1 {
			file = strings.TrimSuffix(file, "#1")
		}
		file = strings.ReplaceAll(file, "#", "-") + filepath.Ext(img.Path)
		if err := atomicfile.Write(file, data); err != nil {
			return err
		}
		fmt.Println("wrote " + file)
	}
	return nil
}

// tokenFlags adds the flags of models that write image tokens.
func tokenFlags(fs *flag.FlagSet, o *gomlxmodels.TokenOptions) {
	const of, mini = "of DALL·E mini and minDALL-E: ", "of DALL·E mini: "
	fs.IntVar(&o.TopK, "top-k", 0, of+"sample from the K most probable tokens; default 50, of minDALL-E 256")
	fs.Float64Var(&o.TopP, "top-p", 0, of+"sample from the fewest tokens whose probabilities reach P; default 1")
	fs.Float64Var(&o.Temperature, "temperature", 0, of+"the logits are divided by it; default 1")
	fs.Float64Var(&o.ConditionScale, "condition-scale", 0, mini+"weight of the prompt relative to the empty prompt; "+
		"1 = off; default 10")
	fs.StringVar(&o.TextNormalize, "text-normalize", "", mini+"on, off: whether prompts are normalized as its "+
		"training texts were; default on")
}

// estimate prints what images of an API will cost at most, before the first request.
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
	say("%s: %s", g.Label(), inWords(g.Estimate(res.Rows*n)))
	return nil
}

// inWords describes an estimate.
func inWords(e imageapi.Estimate) string {
	const stored = "images that are stored are not requested again"
	switch {
	case e.ShutDown != "":
		return fmt.Sprintf("model shut down %s; only images that are stored can be read; others made before are "+
			"imported (antipode import)", e.ShutDown)
	case !e.Known:
		return fmt.Sprintf("%d images, price unknown before the answers; %s; --budget-images sets a limit", e.Images,
			stored)
	case e.Date == "":
		return fmt.Sprintf("%d images, %.2f US dollars (%.3f per image by --price); %s; --budget sets a limit",
			e.Images, e.Total, e.Image, stored)
	}
	return fmt.Sprintf("%d images, about %.2f US dollars (%.3f per image, price of %s: check it); %s; --budget sets a "+
		"limit", e.Images, e.Total, e.Image, e.Date, stored)
}
