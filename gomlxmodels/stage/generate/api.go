package generate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/apimodel"
)

// apiWorker requests images from an API.
type apiWorker struct {
	prompts
	env       stage.Env
	args      gomlxmodels.GenerateArgs
	generator *apimodel.Client
	label     string
}

func openAPI(env stage.Env, args gomlxmodels.GenerateArgs) (*stage.Opened, error) {
	size := ""
	if args.Width > 0 {
		size = fmt.Sprintf("%dx%d", args.Width, args.Height)
	}
	o := args.API
	g, err := apimodel.New(apimodel.Options{BaseURL: o.BaseURL, Key: apimodel.Secret(env.Secret(gomlxmodels.APIKey)),
		Model: strings.TrimPrefix(args.Model, gomlxmodels.API), Size: size, Quality: o.Quality,
		PerMinute: o.PerMinute, Price: o.Price, Budget: o.Budget, BudgetPaid: o.BudgetImages,
		Warn: func(text string) { env.Note("%s", text) }})
	if err != nil {
		return nil, err
	}
	if o.ModelDigest != "" {
		env.NoteModel(args.Model, o.ModelDigest, "")
	}
	return stage.Of(&apiWorker{env: env, args: args, generator: g, label: g.Label()}), nil
}

func (w *apiWorker) Label() string { return "generate " + w.label }

// Digest contains the address of the server, which stands for the weights of its model unless their digest is given.
func (w *apiWorker) Digest() string {
	weights := w.args.API.BaseURL
	if d := w.args.API.ModelDigest; d != "" {
		weights = fmt.Sprintf("weights %q", d)
	}
	digest := "api " + w.label + " " + weights
	if extra := w.args.API.Extra; len(extra) > 0 {
		digest += fmt.Sprintf(" %q %d %v", extra, w.args.Steps, w.args.Guidance)
	}
	return digest
}

// Price is without the tokens of the prompt.
func (w *apiWorker) Price() (dollars float64, words string) {
	e := w.generator.Estimate(1)
	switch {
	case !e.Known:
		return math.NaN(), "price unknown"
	case e.Date == "":
		return e.Total, fmt.Sprintf("%.3f per image, as given", e.Image)
	}
	return e.Total, fmt.Sprintf("%.3f per image, price of %s", e.Image, e.Date)
}

func (w *apiWorker) Batch() int { return apimodel.AtOnce }
func (w *apiWorker) Close()     {}

func (w *apiWorker) Load(context.Context) error { return nil }

func (w *apiWorker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.GenerateColumns(gomlxmodels.API)
}

// Key distinguishes the images of a prompt by the number in the column seed.
func (w *apiWorker) Key(row stage.Row) string {
	key := fmt.Sprintf("%q %s", row.Text("prompt"), row.SeedKey())
	if w.sends(gomlxmodels.APINegative) {
		key += fmt.Sprintf(" %q", w.negative(row))
	}
	return key
}

// sends reports whether a field is sent next to those of the API.
func (w *apiWorker) sends(field string) bool { return slices.Contains(w.args.API.Extra, field) }

func (w *apiWorker) negative(row stage.Row) string {
	return cmp.Or(row.Text("negative"), w.args.Negative)
}

// fields returns the values of the fields in API.Extra; one without a value is not sent.
func (w *apiWorker) fields(row stage.Row) map[string]any {
	fields := map[string]any{}
	if w.sends(gomlxmodels.APISeed) {
		if seed, err := row.Seed(); err == nil {
			fields[gomlxmodels.APISeed] = seed
		}
	}
	if w.sends(gomlxmodels.APISteps) && w.args.Steps > 0 {
		fields[gomlxmodels.APISteps] = w.args.Steps
	}
	if w.sends(gomlxmodels.APIGuidance) && w.args.Guidance > 0 {
		fields[gomlxmodels.APIGuidance] = w.args.Guidance
	}
	if text := w.negative(row); w.sends(gomlxmodels.APINegative) && text != "" {
		fields[gomlxmodels.APINegative] = text
	}
	return fields
}

// order is an image to request.
type order struct {
	prompt, key string
	fields      map[string]any
}

func (w *apiWorker) Prepare(_ context.Context, row stage.Row) (order, string, error) {
	if row.Text("prompt") == "" {
		return order{}, "prompt", errors.New("the prompt is empty; an image API refuses that")
	}
	return order{row.Text("prompt"), w.Key(row), w.fields(row)}, "", nil
}

// paid is the answer to an order, as stored next to the models: an image is paid for once, even if the process ends
// before its batch is stored. The file has the image's path relative to its own folder, so that a store may be moved.
type paid struct {
	Image         table.Image `json:"image"`
	Outcome       string      `json:"outcome"`
	Reason        string      `json:"reason"`
	RevisedPrompt string      `json:"revised_prompt"`
	Cost          *float64    `json:"cost"` // US dollars; null = unknown
}

// cost returns the value of the column cost.
func (p *paid) cost() float64 {
	if p.Cost == nil {
		return math.NaN()
	}
	return *p.Cost
}

func (w *apiWorker) Compute(ctx context.Context, orders []order) ([][]table.Value, error) {
	answers := make([]paid, len(orders))
	fails := apimodel.Each(len(orders), func(i int) (err error) {
		answers[i], err = w.answer(ctx, orders[i])
		return err
	})
	if err := errors.Join(fails...); err != nil {
		first := fails[slices.IndexFunc(fails, func(e error) bool { return e != nil })]
		return nil, fmt.Errorf("%w; answers are stored", first)
	}
	out := make([][]table.Value, len(answers))
	for i, a := range answers {
		out[i] = []table.Value{{Image: a.Image}, {Text: strings.TrimPrefix(w.args.Model, gomlxmodels.API)},
			{Text: "generated"}, {Text: a.Outcome}, {Text: a.Reason},
			{Text: "the provider's own"}, {Text: a.RevisedPrompt}, {Number: a.cost()}}
	}
	return out, nil
}

// transient marks the reason of an outcome that another run should request again.
const transient = "may pass: "

// Keep stores every answer but the transient ones.
func (w *apiWorker) Keep(values []table.Value) bool {
	return !strings.HasPrefix(values[4].Text, transient)
}

// answer requests an image, unless its answer is stored.
func (w *apiWorker) answer(ctx context.Context, o order) (paid, error) {
	dir := filepath.Join(w.env.ModelDir(), "api")
	valid := func(a paid) bool {
		a.Image.Path = filepath.Join(dir, a.Image.Path)
		_, err := stage.ImageFile(a.Image)
		return err == nil || a.Image.SHA256 == ""
	}
	a, err := apimodel.Once(dir, w.Digest()+"\x00"+o.key, valid, func() (a paid, keep bool, err error) {
		r, err := w.generator.Generate(ctx, o.prompt, o.fields)
		if err != nil {
			return a, false, err
		}
		a = paid{Outcome: r.Outcome, Reason: r.Reason, RevisedPrompt: r.RevisedPrompt}
		if !r.CostUnknown {
			a.Cost = &r.Cost
		}
		if r.Transient {
			a.Reason = transient + r.Reason
		}
		if r.Outcome == apimodel.OK {
			if a.Image, err = w.env.PutBlob(r.Image, extension(r.Type)); err == nil {
				a.Image.Path, err = filepath.Rel(dir, a.Image.Path)
			}
		}
		return a, r.Final(), err
	})
	if a.Image.Path != "" {
		a.Image.Path = filepath.Join(dir, a.Image.Path)
	}
	return a, err
}

func extension(media string) string {
	switch kind, _, _ := mime.ParseMediaType(media); kind {
	case "image/jpeg":
		return ".jpg"
	case "image/webp":
		return ".webp"
	}
	return ".png"
}
