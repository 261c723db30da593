package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage/apimodel"
	"antipode/internal/atomicfile"
)

// modelUsage is the start of the help of --model.
const modelUsage = "the model: a `NAME` that `antipode models` lists, OWNER/NAME[@REVISION] of the hub once pulled, " +
	"or a folder "

// noArguments parses the flags of a command that takes no other arguments.
func noArguments(fs *flag.FlagSet, args []string) error {
	rest, err := parse(fs, args)
	if err == nil && len(rest) > 0 {
		err = usage("%s takes no argument %q; tables are given with --in", fs.Name(), rest[0])
	}
	return err
}

func generate(ctx context.Context, args []string) error {
	var s stageFlags
	var o gomlxmodels.GenerateOptions
	var model, prompt, prompts string
	fs := flags("generate", "")
	addOptions(fs, &o)
	s.add(fs)
	fs.StringVar(&prompt, "prompt", "", "one prompt, in place of a table; without --out its image is written to a PNG "+
		"file in the working directory, without --model by "+builtInGenerator)
	fs.StringVar(&model, "model", "", modelUsage+"as diffusers writes it (StableDiffusionPipeline, "+
		"AltDiffusionPipeline), a file with a Stable Diffusion 1.x or 2.x (.safetensors, .ckpt), or api:NAME, a "+
		"model behind an OpenAI-compatible image API (OPENAI_API_KEY, "+
		"OPENAI_BASE_URL)"+execUsage)
	fs.StringVar(&prompts, "prompts", "", "the `TABLE` of prompts: columns id and prompt, and optionally seed and "+
		"negative; --in is the same")
	if err := noArguments(fs, args); err != nil {
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
	if prompts != "" && s.in != "" {
		return usage("give --prompts or --in")
	}
	s.in = cmp.Or(prompts, s.in)
	t, err := s.prompts(ctx, prompt)
	if err == nil {
		err = allowExec(model)
	}
	if err != nil {
		return err
	}
	images := gomlxmodels.Generate(model, t, o)
	if _, err := images.Plan(); errors.As(err, new(gomlxmodels.OptionError)) {
		return usageOf(err)
	}
	if name, api := strings.CutPrefix(model, gomlxmodels.API); api && collecting(ctx) == nil {
		a := apimodel.Options{BaseURL: cmp.Or(o.API.BaseURL, os.Getenv("OPENAI_BASE_URL")), Model: name,
			Quality: o.API.Quality, Price: o.API.Price}
		if o.Width > 0 {
			a.Size = fmt.Sprintf("%dx%d", o.Width, o.Height)
		}
		if err := estimate(ctx, t, cmp.Or(o.N, 1), a); err != nil {
			return err
		}
	}
	if s.out == "" {
		return s.writeImages(ctx, images)
	}
	return s.save(ctx, images)
}

// prompts returns the table of prompts, or one prompt.
func (s *stageFlags) prompts(ctx context.Context, prompt string) (datasets.Table, error) {
	switch {
	case prompt != "" && s.in != "":
		return datasets.Table{}, usage("give --prompt or --prompts")
	case prompt == "":
		return s.table(ctx)
	}
	t := datasets.FromRows([]map[string]any{{"id": fileName(prompt), "prompt": prompt}})
	if s.out == "" {
		return t, nil
	}
	return t, s.outName()
}

// builtInGenerator is the generator of a prompt without --model.
const builtInGenerator = "archipelago-diffusion"

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
func (s *stageFlags) writeImages(ctx context.Context, images datasets.Table) error {
	res, err := s.rows(ctx, images)
	if err != nil {
		return err
	}
	var failed []error
	ids, outcomes, reasons := res.Frame.Texts("id"), res.Frame.Texts("outcome"), res.Frame.Texts("reason")
	for i, img := range res.Frame.Images("image") {
		if img.Path == "" {
			failed = append(failed, fmt.Errorf("%s: %s: %s", ids[i], outcomes[i], reasons[i]))
			continue
		}
		data, err := os.ReadFile(img.Path)
		if err != nil {
			return err
		}
		file := ids[i]
		if len(ids) == 1 {
			file = strings.TrimSuffix(file, "#1")
		}
		if file, err = freeName(strings.ReplaceAll(file, "#", "-"), filepath.Ext(img.Path), data); err != nil {
			return err
		}
		if err := atomicfile.Write(file, data); err != nil {
			return err
		}
		fmt.Println("wrote " + file)
	}
	return errors.Join(failed...)
}

// freeName returns the name of a file that does not exist or has the data already: NAME.EXT, NAME-2.EXT, …
func freeName(name, ext string, data []byte) (string, error) {
	file := name + ext
	for n := 2; ; n++ {
		old, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Equal(old, data) {
			return file, nil
		}
		if err != nil {
			return "", err
		}
		file = fmt.Sprintf("%s-%d%s", name, n, ext)
	}
}

// estimate prints what images or answers of an API will cost at most, before the first request.
func estimate(ctx context.Context, rows datasets.Table, n int, o apimodel.Options) error {
	plan, err := rows.Plan()
	if err != nil {
		return err
	}
	res, err := request(ctx, client.Request{Plan: plan, Counts: true})
	if err != nil {
		return err
	}
	g, err := apimodel.New(o)
	if err != nil {
		return err
	}
	say("%s: %s", g.Label(), inWords(g.Estimate(res.Rows*n)))
	return nil
}

func inWords(e apimodel.Estimate) string {
	unit := cmp.Or(e.Unit, "image")
	stored, limit := unit+"s that are stored are not requested again", "--budget-images"
	if unit != "image" {
		limit = "--budget-requests"
	}
	switch {
	case !e.Known:
		return fmt.Sprintf("%d %ss, price unknown before the answers; %s; %s sets a limit", e.Images, unit, stored,
			limit)
	case e.Date == "":
		return fmt.Sprintf("%d %ss, %.2f US dollars (%.3f per %[2]s by --price); %[5]s; --budget sets a limit",
			e.Images, unit, e.Total, e.Image, stored)
	}
	return fmt.Sprintf("%d images, about %.2f US dollars (%.3f per image, price of %s: check it); %s; --budget sets a "+
		"limit", e.Images, e.Total, e.Image, e.Date, stored)
}
