package gomlxmodels

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
)

// GenerateOp is the operation of [Generate].
const GenerateOp = "generate"

// GenerateArgs are the arguments of a generate stage. What is zero is the model's own.
type GenerateArgs struct {
	Model     string  `json:"model"` // a known name, a name on the hub, or the absolute path of a folder
	Negative  string  `json:"negative,omitempty"`
	Steps     int     `json:"steps,omitempty"`
	Guidance  float64 `json:"guidance,omitempty"`
	Scheduler string  `json:"scheduler,omitempty"`
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
	Precision string  `json:"precision,omitempty"` // "" is Precisions[0]
	Safety    string  `json:"safety,omitempty"`    // one of SafetyOn, SafetyOff; "" is SafetyOn

	// Of an image API alone; see [Quality], [Style], [Budget], [PerMinute].
	BaseURL   string  `json:"base_url,omitempty"`
	Quality   string  `json:"quality,omitempty"`
	Style     string  `json:"style,omitempty"`
	Budget    float64 `json:"budget,omitempty"`
	PerMinute int     `json:"per_minute,omitempty"`

	n    int
	seed int64
}

// GenerateOption is a setting of [Generate].
type GenerateOption func(*GenerateArgs) error

// Schedulers are the samplers that [Scheduler] takes.
var Schedulers = []string{"ddim", "pndm", "euler", "euler-ancestral", "dpm++"}

// Each is how many pictures are made of a prompt; 1 by default.
func Each(n int) GenerateOption {
	return func(a *GenerateArgs) error {
		if n < 1 || n > datasets.MaxRepeat {
			return fmt.Errorf("%d pictures of a prompt are not between 1 and %d", n, datasets.MaxRepeat)
		}
		a.n = n
		return nil
	}
}

// FirstSeed is the seed of each prompt's first picture, 0 by default; picture k has FirstSeed + k − 1. A number column seed overrides it.
func FirstSeed(seed int64) GenerateOption {
	return func(a *GenerateArgs) error {
		a.seed = seed
		return nil
	}
}

// Negative is what pictures shall not show; "" by default. A text column negative overrides it.
func Negative(prompt string) GenerateOption {
	return func(a *GenerateArgs) error {
		a.Negative = prompt
		return nil
	}
}

// Steps is how many steps turn noise into a picture; 50 by default.
func Steps(n int) GenerateOption {
	return func(a *GenerateArgs) error {
		if n < 1 || n > 1000 {
			return fmt.Errorf("%d steps are not between 1 and 1000", n)
		}
		a.Steps = n
		return nil
	}
}

// Guidance is the weight of the prompt against the negative one; 7.5 by default, up to 1 = none.
func Guidance(weight float64) GenerateOption {
	return func(a *GenerateArgs) error {
		if !(weight > 0 && weight <= 1000) {
			return fmt.Errorf("guidance %v is not between 0 and 1000", weight)
		}
		a.Guidance = weight
		return nil
	}
}

// Scheduler names the sampler, one of [Schedulers]; the model's own by default.
func Scheduler(name string) GenerateOption {
	return func(a *GenerateArgs) error {
		if !slices.Contains(Schedulers, name) {
			return fmt.Errorf("scheduler %q: it is one of %v", name, Schedulers)
		}
		a.Scheduler = name
		return nil
	}
}

// PictureSize is the size in pixels, each side a multiple of 8; the model's own by default.
func PictureSize(width, height int) GenerateOption {
	return func(a *GenerateArgs) error {
		for _, side := range []int{width, height} {
			if side < 8 || side%8 != 0 || side > 4096 {
				return fmt.Errorf("%d×%d pixels: each side is a multiple of 8 up to 4096", width, height)
			}
		}
		a.Width, a.Height = width, height
		return nil
	}
}

// What [Safety] takes.
const (
	SafetyOn  = "on"
	SafetyOff = "off"
)

// Safety says whether pictures go through the safety checker of the model's folder, where it has one: [SafetyOn], the default, or
// [SafetyOff].
func Safety(onOff string) GenerateOption {
	return func(a *GenerateArgs) error {
		switch onOff {
		case SafetyOn:
			a.Safety = ""
		case SafetyOff:
			a.Safety = onOff
		default:
			return fmt.Errorf("safety %q: it is %s or %s", onOff, SafetyOn, SafetyOff)
		}
		return nil
	}
}

// API is what the name of a model behind an OpenAI-compatible image API begins with: "api:dall-e-3".
const API = "api:"

// Quality is what an image API takes: standard or hd of DALL·E 3, low, medium or high of the GPT image models.
func Quality(name string) GenerateOption {
	return func(a *GenerateArgs) error {
		a.Quality = name
		return nil
	}
}

// Style is what DALL·E 3 takes: vivid or natural.
func Style(name string) GenerateOption {
	return func(a *GenerateArgs) error {
		a.Style = name
		return nil
	}
}

// Budget is how many US dollars an image API may cost, by the price table of package imageapi; a picture that would cost more than
// is left ends the run. 0, the default, is no limit.
func Budget(dollars float64) GenerateOption {
	return func(a *GenerateArgs) error {
		if !(dollars >= 0) {
			return fmt.Errorf("a budget of %v dollars", dollars)
		}
		a.Budget = dollars
		return nil
	}
}

// PerMinute is how many requests a minute an image API gets at most; 0, the default, is no limit but the server's own.
func PerMinute(requests int) GenerateOption {
	return func(a *GenerateArgs) error {
		if requests < 0 {
			return fmt.Errorf("%d requests a minute", requests)
		}
		a.PerMinute = requests
		return nil
	}
}

// Generate makes pictures of the text column prompt, [Each] of every row. Picture k has the id ID#k; the prompt's id stands in
// prompt_id, or in row_id where the table has a prompt_id of its own. Its seed stands in the number column seed: the same seed
// gives the same picture whatever is made beside it. Added are image, model, source ("generated"), outcome and reason, and
// safety_checker: "absent", "on" or "off", see [Safety]. What the checker blocks has the outcome refused, a reason that says so, and no
// image. A prompt that is cut because the model takes fewer tokens has outcome ok and a reason that says so.
//
// model is a name that [Known] lists, a model on the hub that was pulled, or a folder as diffusers writes it (StableDiffusionPipeline,
// AltDiffusionPipeline); or "api:NAME", a model behind an OpenAI-compatible image API, whose address and key are those of OPENAI_BASE_URL and
// OPENAI_API_KEY. An API takes no seed: the number in seed tells the pictures of a prompt apart, and a picture that was paid for is
// never asked for again. A prompt that the API refuses has the outcome refused, and revised_prompt and cost (US dollars) stand
// beside each picture.
func Generate(model string, prompts datasets.Table, options ...GenerateOption) datasets.Table {
	args := GenerateArgs{n: 1}
	for _, o := range options {
		if err := o(&args); err != nil {
			return prompts.Fail(fmt.Errorf("Generate: %w", err))
		}
	}
	if err := args.locate(model); err != nil {
		return prompts.Fail(fmt.Errorf("Generate: %w", err))
	}
	of := "prompt_id"
	if slices.ContainsFunc(prompts.Columns(), func(c client.ColumnSpec) bool { return c.Name == of }) {
		of = "row_id"
	}
	prompts = prompts.Need("id", client.Text).Need("prompt", client.Text)
	return prompts.Repeat(args.n, of, args.seed).Derive(GenerateOp, args, GenerateColumns(strings.HasPrefix(args.Model, API))...)
}

// locate finds the model, and refuses settings of the other kind of generator.
func (a *GenerateArgs) locate(model string) (err error) {
	if !strings.HasPrefix(model, API) {
		if a.Quality != "" || a.Style != "" || a.Budget != 0 || a.PerMinute != 0 {
			return errors.New("quality, style, budget and requests a minute are for an image API (a model named api:NAME)")
		}
		a.Model, err = resolve(model)
		return err
	}
	if a.Steps != 0 || a.Guidance != 0 || a.Scheduler != "" || a.Negative != "" || a.Safety != "" {
		return errors.New("an image API takes no steps, guidance, scheduler or negative prompt, and has a safety check of its own")
	}
	a.Model, a.BaseURL = model, os.Getenv("OPENAI_BASE_URL")
	return nil
}

// GenerateColumns are the columns that Generate adds, by a model of one's own or by an API.
func GenerateColumns(api bool) []client.ColumnSpec {
	columns := datasets.Columns("image:image", "model:text", "source:text", "outcome:text", "reason:text", "safety_checker:text")
	if api {
		columns = append(columns, datasets.Columns("revised_prompt:text", "cost:number")...)
	}
	return columns
}
