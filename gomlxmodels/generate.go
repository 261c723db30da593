package gomlxmodels

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
)

// GenerateOp is the operation of [Generate] in a plan.
const GenerateOp = "generate"

// API is the prefix of the name of a model behind an OpenAI-compatible image API: "api:gpt-image-2".
const API = "api:"

// APIKey is the environment variable with the key of an image API.
const APIKey = "OPENAI_API_KEY"

// The values of [GenerateOptions].APIExtra: fields of a request to an image API next to the standard ones.
const (
	APISeed     = "seed"
	APISteps    = "num_inference_steps"
	APIGuidance = "guidance_scale"
	APINegative = "negative_prompt"
)

// APIExtras lists the values of [GenerateOptions].APIExtra.
var APIExtras = []string{APISeed, APISteps, APIGuidance, APINegative}

// The values of [GenerateOptions].Safety.
const (
	SafetyOn  = "on"
	SafetyOff = "off"
)

// FP16 is a variant of a pipeline's weights: in half precision, in files such as model.fp16.safetensors.
const FP16 = "fp16"

// Schedulers are the values of [GenerateOptions].Scheduler.
var Schedulers = []string{"ddim", "pndm", "euler", "euler-ancestral", "dpm++"}

// GenerateArgs are the arguments of a generate stage in a plan. Zero values are the model's defaults.
type GenerateArgs struct {
	Model        string  `json:"model"` // a known name, a name on the hub, or the absolute path of a folder or file
	Negative     string  `json:"negative,omitempty"`
	Steps        int     `json:"steps,omitempty"`
	Guidance     float64 `json:"guidance,omitempty"`
	Scheduler    string  `json:"scheduler,omitempty"`
	Width        int     `json:"width,omitempty"`
	Height       int     `json:"height,omitempty"`
	Precision    string  `json:"precision,omitempty"` // "" = auto
	Safety       string  `json:"safety,omitempty"`    // "" = SafetyOn
	Variant      string  `json:"variant,omitempty"`   // of the weights
	BaseURL      string  `json:"base_url,omitempty"`
	Quality      string  `json:"quality,omitempty"`
	Price        float64 `json:"price,omitempty"`
	Budget       float64 `json:"budget,omitempty"`
	BudgetImages int     `json:"budget_images,omitempty"`
	PerMinute    int     `json:"per_minute,omitempty"`

	APIExtra    []string `json:"api_extra,omitempty"`    // sorted
	ModelDigest string   `json:"model_digest,omitempty"` // of the weights behind an API

	Exec ExecOptions `json:"exec,omitzero"`

	File FileOptions `json:"file,omitzero"`

	Tokens TokenOptions `json:"tokens,omitzero"`
}

// GenerateOptions are the options of [Generate].
type GenerateOptions struct {
	// N is the number of images per prompt, 1 to 10,000; default 1.
	N int

	// Seed is the seed of each prompt's first image, default 0; image k has seed Seed + k − 1. A number column seed
	// of the table overrides it.
	Seed int64

	// Steps is the number of denoising steps, 1 to 1000; default 50. For image APIs see APIExtra.
	Steps int

	// Guidance is the guidance scale: the weight of the prompt relative to the negative prompt, up to 1000; default
	// 7.5. Values up to 1 turn guidance off. For image APIs see APIExtra.
	Guidance float64

	// Scheduler is the sampler, one of [Schedulers]; default the model's own. Not for image APIs.
	Scheduler string

	// Negative is the negative prompt: what images should not show; default "". A text column negative of the table
	// overrides it. For image APIs see APIExtra.
	Negative string

	// Width and Height are the size in pixels, each a multiple of 8 up to 4096, set both or none; default the
	// model's own.
	Width, Height int

	// Precision is the number type of the computation: "auto" (default; bfloat16 on an NVIDIA GPU, else float32),
	// "float32" or "bfloat16". Not for image APIs.
	Precision string

	// Safety is "on" (default) or "off": whether images pass through the safety checker of the model's folder, if it
	// has one. Not for image APIs, which have their own check.
	Safety string

	// Variant selects among the weights of a pipeline's folder: [FP16] reads those in half precision; default those in
	// float32 where the folder has such. Precision is that of the computation. The images are stored under the digest
	// of the files that were read. For folders of diffusers only.
	Variant string

	// Quality is one of the qualities of the API's model: "low", "medium", "high" or "auto" for gpt-image-2, also
	// "xhigh" and "max" for later ones; a local server may have others. Default the API's own. For image APIs only.
	Quality string

	// Price is what an image costs in US dollars, where package imageapi knows no price; the tokens that an answer
	// counts come first. Default 0: unknown. For image APIs only.
	Price float64

	// Budget is the most that an image API may cost in US dollars; a request that would exceed it ends the run. The
	// price of an image must be known. Default 0: no limit. For image APIs, and for programs that report costs: no
	// batch follows once they reach it.
	Budget float64

	// BudgetImages is the largest number of images that a run may pay for; a request that would exceed it ends the
	// run. Stored images do not count. Default 0: no limit. For image APIs only.
	BudgetImages int

	// PerMinute is the largest number of requests per minute; default 0: no limit but the server's. For image APIs
	// only.
	PerMinute int

	// BaseURL is the address of the image API; default the environment variable OPENAI_BASE_URL, then OpenAI's. For
	// image APIs only.
	BaseURL string

	// APIExtra lists the fields that the server at BaseURL accepts next to the standard ones, of [APIExtras]: the
	// image's seed, Steps, Guidance and Negative are then sent. Default none. For image APIs only.
	APIExtra []string

	// ModelDigest identifies the weights of the server's model, for example by the revision of its repository: images
	// are stored under it, and under the server's address if it is "", which does not tell when the weights change.
	// For image APIs only.
	ModelDigest string

	// File are the options of a model that is a single file (.safetensors, .ckpt).
	File FileOptions

	// Tokens are the options of a model that writes image tokens.
	Tokens TokenOptions

	// Exec are the options of a program (a model named exec:PATH).
	Exec ExecOptions
}

// Generate makes images from the text column prompt. Each prompt becomes [GenerateOptions].N rows with the ids ID#1,
// ID#2, …; prompt_id is the id of the prompt (row_id where the table has a prompt_id already), and the number column
// seed is the image's seed: the same seed gives the same image, whatever the batch. Added are
//
//   - image, model, and source ("generated");
//   - outcome and reason: "ok", or "refused" with the reason and no image if the safety checker blocks the image. A
//     prompt that is truncated to the model's context is ok with a reason;
//   - safety_checker: "on", "off", or "absent" where the model has none.
//
// The model is a pipeline as diffusers writes it (StableDiffusionPipeline, AltDiffusionPipeline; see the package
// comment for how to name it), or "api:NAME": a model behind an OpenAI-compatible image API, whose key is the
// environment variable OPENAI_API_KEY. Unless the server takes a seed ([GenerateOptions].APIExtra), the number in seed
// only distinguishes the images of a prompt. An image that was paid for is never requested again, and stays readable
// when its model is shut down. A prompt that the API refuses has the outcome refused. The columns revised_prompt and
// cost (US dollars; no value if the price is unknown) are added.
//
// A path of a .safetensors or .ckpt file is a Stable Diffusion 1.x or 2.x as its authors saved it:
// [GenerateOptions].File.
//
// A prompt with a label of [antipode/datasets/seegull.Masker] in place of a word is an error before any image is made.
// The column prompt_shown may hold a masked form for display; see [table.Frame.Shown].
//
// "exec:PATH" is a program that [AllowExec] allows: an adapter for any other generator; see docs/adapters.md. The
// columns cost (US dollars) and meta (what the program reports about the image, as JSON) are added.
func Generate(model string, prompts datasets.Table, options ...GenerateOptions) datasets.Table {
	fail := func(err error) datasets.Table { return prompts.Fail(fmt.Errorf("Generate: %w", err)) }
	o, err := only(options)
	if err = invalid(err, o.check()); err != nil {
		return fail(err)
	}
	args, err := o.args(model)
	if err != nil {
		return fail(err)
	}
	of := "prompt_id"
	if slices.ContainsFunc(prompts.Columns(), func(c table.ColumnSpec) bool { return c.Name == of }) {
		of = "row_id"
	}
	prompts = prompts.Need("id", table.KindText).Need("prompt", table.KindText)
	api := strings.HasPrefix(model, API)
	images := prompts.Repeat(cmp.Or(o.N, 1), of, o.Seed).Derive(GenerateOp, args, GenerateColumns(model)...)
	if api {
		images = images.Secret(APIKey)
	}
	return execSecrets(images, model, o.Exec)
}

// check reports values out of range.
func (o *GenerateOptions) check() error {
	if (o.Width == 0) != (o.Height == 0) {
		return fmt.Errorf("%d×%d pixels: give both Width and Height", o.Width, o.Height)
	}
	if o.Width%8 != 0 || o.Height%8 != 0 {
		return fmt.Errorf("%d×%d pixels: each side must be a multiple of 8", o.Width, o.Height)
	}
	return invalid(between("images per prompt:", o.N, 1, datasets.MaxRepeat),
		between("steps", o.Steps, 1, 1000),
		positive("guidance", o.Guidance, 1000),
		oneOf("scheduler", o.Scheduler, Schedulers),
		between("width", o.Width, 8, 4096),
		between("height", o.Height, 8, 4096),
		oneOf("precision", o.Precision, Precisions),
		oneOf("safety", o.Safety, []string{SafetyOn, SafetyOff}),
		oneOf("variant", o.Variant, []string{FP16}),
		positive("price", o.Price, 1e9),
		positive("budget", o.Budget, 1e9),
		between("budget in images:", o.BudgetImages, 1, 1e9),
		between("requests per minute:", o.PerMinute, 1, 1e9),
		o.File.check(),
		o.Tokens.check())
}

// args returns the arguments of the stage, without defaults. It reports options of the other kind of generator.
func (o *GenerateOptions) args(model string) (a GenerateArgs, err error) {
	a = GenerateArgs{Model: model, Negative: o.Negative, Steps: o.Steps, Guidance: o.Guidance, Scheduler: o.Scheduler,
		Width: o.Width, Height: o.Height, Precision: o.Precision, Safety: o.Safety, Variant: o.Variant,
		BaseURL: o.BaseURL, Quality: o.Quality, Price: o.Price, Budget: o.Budget, BudgetImages: o.BudgetImages,
		PerMinute: o.PerMinute, ModelDigest: o.ModelDigest, Exec: o.Exec, Tokens: o.Tokens}
	if a.Tokens.TextNormalize == NormalizeOn {
		a.Tokens.TextNormalize = ""
	}
	if a.Tokens != (TokenOptions{}) && (strings.HasPrefix(model, API) || strings.HasPrefix(model, Exec)) {
		return a, invalid(ErrTokenOptions)
	}
	if a.Safety == SafetyOn {
		a.Safety = ""
	}
	if a.Precision == Precisions[0] {
		a.Precision = ""
	}
	file, single := singleFile(model)
	if a.Variant != "" && (single || strings.HasPrefix(model, API) || strings.HasPrefix(model, Exec)) {
		return a, invalid(errors.New("variant is for a folder as diffusers writes it"))
	}
	if a.File, err = o.File.resolved(single); err != nil {
		return a, err
	}
	if strings.HasPrefix(model, Exec) {
		if a.Precision != "" || o.Safety != "" || o.Quality != "" || o.Price != 0 || o.BudgetImages != 0 ||
			o.PerMinute != 0 || o.BaseURL != "" || len(o.APIExtra) > 0 || o.ModelDigest != "" {
			return a, invalid(errors.New("a program takes no precision, safety, quality, price, budget of images, " +
				"requests per minute, base URL, extra fields or model digest; pass it arguments of its own " +
				"(--exec-arg)"))
		}
		a.Model, err = execModel(model, o.Exec)
		return a, err
	}
	if err := notExec(o.Exec); err != nil {
		return a, err
	}
	if strings.HasPrefix(model, API) {
		a.BaseURL = cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"))
		a.APIExtra = slices.Compact(slices.Sorted(slices.Values(o.APIExtra)))
		return a, invalid(a.checkAPI())
	}
	if o.Quality != "" || o.Price != 0 || o.Budget != 0 || o.BudgetImages != 0 || o.PerMinute != 0 ||
		o.BaseURL != "" || len(o.APIExtra) > 0 || o.ModelDigest != "" {
		return a, invalid(errors.New("quality, price, budget, requests per minute, base URL, extra fields and model " +
			"digest are for an image API (a model named api:NAME)"))
	}
	if single {
		a.Model = file
		return a, nil
	}
	a.Model, err = resolve(model)
	return a, err
}

// checkAPI reports options that an image API, or its server, does not take.
func (a *GenerateArgs) checkAPI() error {
	for _, field := range a.APIExtra {
		if !slices.Contains(APIExtras, field) {
			return fmt.Errorf("extra field %q of an image API: must be one of %s", field, strings.Join(APIExtras, ", "))
		}
	}
	if len(a.APIExtra) > 0 && a.BaseURL == "" {
		return fmt.Errorf("OpenAI's own API does not take %s; set the base URL of another server (--api-base)",
			strings.Join(a.APIExtra, ", "))
	}
	for _, option := range []struct {
		name, field string
		set         bool
	}{{"steps", APISteps, a.Steps != 0}, {"guidance", APIGuidance, a.Guidance != 0},
		{"negative prompt", APINegative, a.Negative != ""}} {
		if option.set && !slices.Contains(a.APIExtra, option.field) {
			return fmt.Errorf("an image API takes no %s; if the server at the base URL does, list its field %s "+
				"(--api-extra)", option.name, option.field)
		}
	}
	if a.Scheduler != "" || a.Precision != "" || a.Safety != "" {
		return errors.New("an image API takes no scheduler and no precision, and has a safety check of its own")
	}
	return nil
}

// GenerateColumns returns the columns that Generate adds, with the model of a name.
func GenerateColumns(model string) []table.ColumnSpec {
	columns := datasets.Columns("image:image", "model:text", "source:text", "outcome:text", "reason:text",
		"safety_checker:text")
	switch {
	case strings.HasPrefix(model, API):
		columns = append(columns, datasets.Columns("revised_prompt:text", "cost:number")...)
	case strings.HasPrefix(model, Exec):
		columns = append(columns, datasets.Columns("cost:number", "meta:text")...)
	}
	return columns
}
