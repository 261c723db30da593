// Package generate is the stage that makes images from prompts: it runs a pipeline (Stable Diffusion or AltDiffusion,
// package diffusion) or a model that writes image tokens (packages dallemini and mindalle) on the device, requests
// images from an API (package apimodel) or from a program (package execmodel), and stores each as a blob.
package generate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/stage"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.GenerateOp, Version: Version, Open: open})
}

// together is the batch by kind of device, if not that of [imagesAtOnce]. On an NVIDIA GPU the UNet then runs on 8
// samples per step: prompt and negative prompt of each image.
var together = map[string]int{device.XLACUDA: 4}

// smallSide is the side of images, in pixels, up to which XLA samples four at once on a processor too: one image of
// 128 × 128 leaves it idle between operations, and four take 0.6 of the time (docs/benchmarks.md).
const smallSide = 256

// imagesAtOnce returns how many images of the model's size, or of the size in args, are sampled at once.
func imagesAtOnce(kind string, m *diffusion.Model, args gomlxmodels.GenerateArgs) int {
	if n := together[kind]; n > 0 {
		return n
	}
	w, h := m.Size()
	if kind == device.XLACPU && max(cmp.Or(args.Width, w), cmp.Or(args.Height, h)) <= smallSide {
		return 4
	}
	return diffusion.DefaultBatch
}

// worker generates with one model and one set of arguments.
type worker struct {
	prompts
	stage.Release
	env     stage.Env
	args    gomlxmodels.GenerateArgs
	name    string // for people
	model   *diffusion.Model
	digest  string
	dtype   dtypes.DType
	batch   int
	sampler *diffusion.Sampler
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (*stage.Opened, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	if strings.HasPrefix(w.args.Model, gomlxmodels.API) {
		return openAPI(env, w.args)
	}
	if strings.HasPrefix(w.args.Model, gomlxmodels.Exec) {
		return openExec(ctx, env, w.args)
	}
	w.name = hub.Name(w.args.Model)
	dir, err := hub.Resolve(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	if w.args.File == (gomlxmodels.FileOptions{}) {
		if writer, err := openTokens(env, w.args, w.name, dir); writer != nil || err != nil {
			return writer, err
		}
	}
	kind := "diffusers"
	if w.args.File != (gomlxmodels.FileOptions{}) {
		kind = "file"
	}
	if err := w.args.Check(kind); err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	if w.model, err = openModel(env, w.args, dir); err != nil {
		return nil, err
	}
	var corrected []any // of the configuration: a model without corrections has the digest of its files
	for _, c := range w.model.Corrections() {
		corrected = append(corrected, c)
	}
	contents, err := hub.Digest(env, w.args.Model, w.model.Files(), corrected...)
	if err != nil {
		return nil, err
	}
	device, err := env.DeviceKind()
	if err != nil {
		return nil, err
	}
	w.dtype, w.batch = stage.Precision(w.args.Precision, device, env.Note), imagesAtOnce(device, w.model, w.args)
	a := w.args
	w.digest = fmt.Sprintf("%s %d %v %q %d×%d %s %s", contents, a.Steps, a.Guidance, a.Scheduler, a.Width, a.Height,
		strings.ToLower(w.dtype.String()), device)
	if w.model.Safety() == diffusion.SafetyOn {
		w.digest += " safety checker"
	}
	if strings.Contains(w.name, "/") { // the column model has it; before, it had the last part of the name
		w.digest += " " + w.name
	}
	return stage.Of(w), nil
}

// openModel opens the model in dir: a folder or, where the plan says what its file needs, a single file.
func openModel(env stage.Env, args gomlxmodels.GenerateArgs, dir string) (*diffusion.Model, error) {
	if args.File == (gomlxmodels.FileOptions{}) {
		return diffusion.Open(dir, diffusion.OpenOptions{NoSafetyChecker: args.Safety == "off",
			Variant: args.Variant})
	}
	from, err := hub.Resolve(env, args.File.ConfigFrom)
	if err != nil {
		return nil, fmt.Errorf("tokenizer of %s: %w; or name a folder with one (--config-from)", dir, err)
	}
	m, err := diffusion.OpenFile(dir, diffusion.FileOptions{ConfigFrom: from, Prediction: args.File.Prediction,
		EMA: args.File.EMA})
	if err != nil {
		return nil, err
	}
	for _, note := range m.Corrections() {
		env.Note("%s: %s", hub.Name(dir), note)
	}
	return m, nil
}

func (w *worker) Label() string  { return "generate " + w.name }
func (w *worker) Digest() string { return w.digest }
func (w *worker) Batch() int     { return w.batch }

// prompts is what all workers require of their rows.
type prompts struct{}

func (prompts) Check(columns []table.ColumnSpec) error {
	return stage.Needs("generate", columns, datasets.Columns("id:text", "prompt:text", "seed:number")...)
}

// CheckRow refuses a masked prompt: its image would show something else.
func (prompts) CheckRow(row stage.Row) error {
	for _, column := range []string{"prompt", "negative"} {
		if label := seegull.Masked(row.Text(column)); label != "" {
			return fmt.Errorf("the column %s contains the masked text %q, which a generator would take literally. "+
				"Fix: put the words themselves into %[1]s, and the masked form, for display, into %[1]s%[3]s",
				column, label, table.ShownSuffix)
		}
	}
	return nil
}

func (w *worker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.GenerateColumns("")
}

func (w *worker) request(row stage.Row) (diffusion.Request, string, error) {
	r := diffusion.Request{Prompt: row.Text("prompt"), Negative: w.args.Negative, Steps: w.args.Steps,
		Guidance:  w.args.Guidance,
		Scheduler: w.args.Scheduler, Width: w.args.Width, Height: w.args.Height}
	if own := row.Text("negative"); own != "" {
		r.Negative = own
	}
	var err error
	if r.Seed, err = row.Seed(); err != nil {
		return r, "seed", err
	}
	return r, "", nil
}

func (w *worker) Key(row stage.Row) string {
	r, _, err := w.request(row)
	return fmt.Sprintf("%q %q %d %v", r.Prompt, r.Negative, r.Seed, err)
}

func (w *worker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s)", w.name, w.digest, strings.ToLower(w.dtype.String()))
	w.sampler, w.Release, err = stage.Load(ctx, w.env, key, func(backend compute.Backend) (*diffusion.Sampler,
		error) {
		s, err := diffusion.NewSampler(backend, w.model, diffusion.Options{DType: w.dtype, Batch: w.batch})
		if err != nil {
			return nil, err
		}
		return s, s.Load()
	})
	return err
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (diffusion.Request, string, error) {
	return w.request(row)
}

func (w *worker) Compute(ctx context.Context, requests []diffusion.Request) ([][]table.Value, error) {
	job, err := w.sampler.Begin(requests, func(p diffusion.Progress) { stage.Step(ctx, p.Step, p.Steps) })
	if err != nil {
		return nil, err
	}
	defer w.env.OnDevice(context.WithoutCancel(ctx), func() error { job.Close(); return nil })
	for more := true; more; { // other work may use the device between the steps: an image may take minutes
		if err := w.env.OnDevice(ctx, func() (err error) { more, err = job.Next(); return err }); err != nil {
			return nil, err
		}
	}
	out := make([][]table.Value, len(job.Results))
	for i, p := range job.Results {
		if out[i], err = w.values(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// truncated is the reason of an image of a truncated prompt.
const truncated = "the prompt is longer than the model's context: its end was truncated"

// values returns an image's columns. One that the safety checker blocked is a refused row without an image.
func (w *worker) values(p diffusion.Result) ([]table.Value, error) {
	var blob table.Image
	outcome, reason := "ok", ""
	if p.Truncated {
		reason = truncated
	}
	if len(p.Blocked) > 0 {
		outcome, reason = "refused", "the safety checker blocked the image: too close to its "+list(p.Blocked)
	} else {
		var err error
		if blob, err = putPNG(w.env, p.Image); err != nil {
			return nil, err
		}
	}
	return []table.Value{{Image: blob}, {Text: w.name}, {Text: "generated"}, {Text: outcome}, {Text: reason},
		{Text: string(w.model.Safety())}}, nil
}

func putPNG(env stage.Env, img image.Image) (table.Image, error) {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
		return table.Image{}, err
	}
	return env.PutBlob(b.Bytes(), ".png")
}

// list names concepts of the safety checker by their numbers, from 0: "concept 3", "concepts 3, 7".
func list(concepts []int) string {
	word := "concept "
	if len(concepts) > 1 {
		word = "concepts "
	}
	return word + strings.Trim(strings.ReplaceAll(fmt.Sprint(concepts), " ", ", "), "[]")
}
