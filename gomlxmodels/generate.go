package gomlxmodels

import (
	"cmp"
	"encoding/json"
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

// The values of [APIOptions].Extra: fields of a request to an image API next to the standard ones.
const (
	APISeed     = "seed"
	APISteps    = "num_inference_steps"
	APIGuidance = "guidance_scale"
	APINegative = "negative_prompt"
)

// The values of [GenerateOptions].Safety.
const (
	SafetyOn  = "on"
	SafetyOff = "off"
)

// GenerateOptions are the options of [Generate].
type GenerateOptions struct {
	// N is the number of images per prompt, 1 to 10,000; default 1.
	N int `json:"-" flag:"n" default:"1" min:"1" max:"10000" help:"images per prompt: image k has the seed --seed + k − 1, or that of the prompt's column seed + k − 1"`

	// Seed is the seed of each prompt's first image, default 0; image k has seed Seed + k − 1. A number column seed
	// of the table overrides it.
	Seed int64 `json:"-" flag:"seed" help:"the seed of each prompt's first image"`

	// Negative is the negative prompt: what images should not show; default "". A text column negative of the table
	// overrides it. For image APIs see [APIOptions].Extra.
	Negative string `json:"negative,omitempty" for:"diffusers,file,exec,negative_prompt" help:"the negative prompt: what images should not show"`

	// Steps is the number of denoising steps, 1 to 1000; default 50. For image APIs see [APIOptions].Extra.
	Steps int `json:"steps,omitempty" for:"diffusers,file,exec,num_inference_steps" min:"1" max:"1000" help:"denoising steps; default 50"`

	// Guidance is the guidance scale: the weight of the prompt relative to the negative prompt, up to 1000; default
	// 7.5. Values up to 1 turn guidance off. For image APIs see [APIOptions].Extra.
	Guidance float64 `json:"guidance,omitempty" for:"diffusers,file,exec,guidance_scale" min:">0" max:"1000" help:"guidance scale; up to 1 = off; default 7.5"`

	// Scheduler is the sampler: "ddim", "pndm", "euler", "euler-ancestral" or "dpm++"; default the model's own.
	Scheduler string `json:"scheduler,omitempty" for:"diffusers,file,exec" values:"ddim,pndm,euler,euler-ancestral,dpm++" help:"the sampler; default the model's own"`

	// Width and Height are the size in pixels, each a multiple of 8 up to 4096, set both or none; default the
	// model's own.
	Width  int `json:"width,omitempty" flag:"size" for:"diffusers,file,api,exec" min:"8" max:"4096" help:"WIDTHxHEIGHT in pixels, multiples of 8; default the model's own"`
	Height int `json:"height,omitempty" flag:"size" for:"diffusers,file,api,exec" min:"8" max:"4096" help:"see --size"`

	// Precision is the number type of the computation: "auto" (default; bfloat16 on an NVIDIA GPU, else float32),
	// "float32" or "bfloat16".
	Precision string `json:"precision,omitempty" group:"Weights and checks" for:"diffusers,file,dallemini,mindalle" zero:"auto" values:"auto,float32,bfloat16" help:"number type of the computation; auto is bfloat16 on an NVIDIA GPU, else float32"`

	// Safety is "on" (default) or "off": whether images pass through the safety checker of the model's folder, if it
	// has one.
	Safety string `json:"safety,omitempty" group:"Weights and checks" for:"diffusers,file" zero:"on" values:"on,off" help:"whether images pass through the safety checker of the model's folder, if it has one"`

	// Variant selects among the weights of a pipeline's folder: "fp16" reads those in half precision; default those in
	// float32 where the folder has such. Precision is that of the computation. The images are stored under the digest
	// of the files that were read.
	Variant string `json:"variant,omitempty" group:"Weights and checks" for:"diffusers" values:"fp16" help:"the variant of a pipeline's weights, in half precision; default float32 where its folder has such"`

	// API are the options of a model behind an image API (a model named api:NAME).
	API APIOptions `json:"-" group:"Image APIs (api:NAME)" for:"api"`

	// Exec are the options of a program (a model named exec:PATH).
	Exec ExecOptions `json:"exec,omitzero" group:"Programs (exec:PATH)" for:"exec"`

	// File are the options of a model that is a single file (.safetensors, .ckpt).
	File FileOptions `json:"file,omitzero" group:"Models that are a single file" for:"file"`

	// Tokens are the options of a model that writes image tokens.
	Tokens TokenOptions `json:"tokens,omitzero" group:"Models that write image tokens (DALL·E mini, minDALL-E)" for:"dallemini,mindalle"`
}

// APIOptions are the options of a model behind an OpenAI-compatible image API.
type APIOptions struct {
	// BaseURL is the address of the API; default the environment variable OPENAI_BASE_URL, then OpenAI's.
	BaseURL string `json:"base_url,omitempty" flag:"api-base" help:"the URL of a server with an image API; default OPENAI_BASE_URL, then OpenAI's"`

	// Quality is one of the qualities of the model: "low", "medium", "high" or "auto" for gpt-image-2, also "xhigh"
	// and "max" for later ones; a local server may have others. Default the API's own.
	Quality string `json:"quality,omitempty" help:"low, medium, high or auto of gpt-image-2, also xhigh and max of later models; a local server may have others"`

	// Price is what an image costs in US dollars, where package apimodel knows no price; the tokens that an answer
	// counts come first. Default 0: unknown.
	Price float64 `json:"price,omitempty" min:">0" help:"what an image costs in US dollars, where no price is known"`

	// Budget is the most that an image API may cost in US dollars; a request that would exceed it ends the run. The
	// price of an image must be known. Default 0: no limit. For programs that report costs too: no batch follows once
	// they reach it.
	Budget float64 `json:"budget,omitempty" for:"api,exec" min:"0" help:"largest cost of an image API, or of a program that reports costs, in US dollars; 0 = no limit"`

	// BudgetImages is the largest number of images that a run may pay for; a request that would exceed it ends the
	// run. Stored images do not count. Default 0: no limit.
	BudgetImages int `json:"budget_images,omitempty" min:"0" help:"largest number of paid images; 0 = no limit"`

	// PerMinute is the largest number of requests per minute; default 0: no limit but the server's.
	PerMinute int `json:"per_minute,omitempty" min:"0" help:"requests per minute at most; 0 = no limit but the server's"`

	// Extra lists the fields that the server at BaseURL accepts next to the standard ones: "seed",
	// "num_inference_steps", "guidance_scale", "negative_prompt"; the image's seed, Steps, Guidance and Negative are
	// then sent. Default none.
	Extra []string `json:"api_extra,omitempty" flag:"api-extra" values:"seed,num_inference_steps,guidance_scale,negative_prompt" help:"fields that this server accepts (the seed, --steps, --guidance, --negative)"`

	// ModelDigest identifies the weights of the server's model, for example by the revision of its repository: images
	// are stored under it, and under the server's address if it is "", which does not tell when the weights change.
	ModelDigest string `json:"model_digest,omitempty" help:"any text that identifies the weights of this server's model, under which images are stored; default its URL"`
}

// GenerateArgs are the arguments of a generate stage in a plan. Zero values are the model's defaults.
type GenerateArgs struct {
	Model string `json:"model"` // a known name, a name on the hub, or the absolute path of a folder or file
	GenerateOptions
}

// MarshalJSON returns a plan's form: the options of an API are not apart.
func (a GenerateArgs) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Model string `json:"model"`
		GenerateOptions
		APIOptions
	}{a.Model, a.GenerateOptions, a.API})
}

// UnmarshalJSON reads a plan's form.
func (a *GenerateArgs) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &struct {
		Model *string `json:"model"`
		*GenerateOptions
		*APIOptions
	}{&a.Model, &a.GenerateOptions, &a.API})
}

// Check validates options for a model of a kind that is known when it is opened: "diffusers", "file", "dallemini" or
// "mindalle".
func (a *GenerateArgs) Check(kind string) error { return check(&a.GenerateOptions, kind) }

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
// environment variable OPENAI_API_KEY. Unless the server takes a seed ([APIOptions].Extra), the number in seed
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
	fail := func(err error) datasets.Table {
		return datasets.Extend(prompts).Fail(fmt.Errorf("Generate: %w", err)).Table
	}
	api := strings.HasPrefix(model, API)
	file, single := singleFile(model)
	o, err := only(options, func(o *GenerateOptions) []string {
		switch {
		case single:
			return []string{"file"}
		case api:
			return append([]string{"api"}, o.API.Extra...)
		}
		return []string{kindOf(model, "diffusers"), kindOf(model, "dallemini"), kindOf(model, "mindalle")}
	})
	args := GenerateArgs{Model: model, GenerateOptions: o}
	if err = cmp.Or(err, invalid(args.checkSize())); err != nil {
		return fail(err)
	}
	switch {
	case api:
		args.API.BaseURL = cmp.Or(o.API.BaseURL, os.Getenv("OPENAI_BASE_URL"))
		args.API.Extra = slices.Compact(slices.Sorted(slices.Values(o.API.Extra)))
		if len(args.API.Extra) > 0 && args.API.BaseURL == "" {
			err = invalid(fmt.Errorf("OpenAI's own API does not take %s; set the base URL of another server "+
				"(API.BaseURL, --api-base)", strings.Join(args.API.Extra, ", ")))
		}
	case single:
		args.Model = file
		args.File.ConfigFrom, err = resolve(cmp.Or(o.File.ConfigFrom, ConfigModel))
	default:
		args.Model, err = resolveModel(model, o.Exec)
	}
	if err != nil {
		return fail(err)
	}
	of := "prompt_id"
	if slices.ContainsFunc(prompts.Columns(), func(c table.ColumnSpec) bool { return c.Name == of }) {
		of = "row_id"
	}
	prompts = datasets.Extend(prompts).Need("id", table.KindText).Need("prompt", table.KindText).Table
	images := datasets.Extend(prompts.Repeat(o.N, of, o.Seed)).Derive(GenerateOp, args, GenerateColumns(model)...).Table
	if api {
		images = datasets.Extend(images).Secret(APIKey).Table
	}
	return execSecrets(images, model, o.Exec)
}

// checkSize reports a size that no model has.
func (o *GenerateOptions) checkSize() error {
	switch {
	case (o.Width == 0) != (o.Height == 0):
		return fmt.Errorf("%d×%d pixels: give both Width and Height", o.Width, o.Height)
	case o.Width%8 != 0 || o.Height%8 != 0:
		return fmt.Errorf("%d×%d pixels: each side must be a multiple of 8", o.Width, o.Height)
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
