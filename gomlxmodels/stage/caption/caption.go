// Package caption is the stage that describes images: it runs a BLIP or BLIP-2 (package textgen) on the device. A
// row is one caption; rows of one image are written together.
package caption

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/blip2"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/tokenizers"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.CaptionOp, Version: Version, Open: open})
}

// worker captions with one model and one set of arguments.
type worker struct {
	stage.Release
	env       stage.Env
	args      gomlxmodels.CaptionArgs
	options   textgen.Options
	model     describer
	network   textgen.ImageNetwork
	dtype     dtypes.DType
	prompt    []int32
	contents  string // digest of the model's files
	kind      string // of the device
	images    *images
	captioner *textgen.Captioner
}

// describer is an opened folder of a captioner of one architecture.
type describer interface {
	Files() []string // what a digest must cover
	Preprocess() preprocess.Config
	Network() textgen.ImageNetwork
	Tokenizer() (*tokenizers.Tokenizer, error)
	Prepare(image.Image) ([]float32, error)
	Prompt(prefix string) ([]int32, error)
	Text(prompt, tokens []int32) (string, error)
}

// openModel opens a folder by its architecture.
func openModel(dir string) (describer, error) {
	architecture, err := hub.Architecture(dir)
	if err != nil {
		return nil, err
	}
	switch architecture {
	case "blip":
		return blip.Open(dir)
	case "blip-2":
		return blip2.OpenCaptioner(dir)
	}
	return nil, fmt.Errorf("%s: %w", dir, hub.WrongType(architecture, "a captioner (blip, blip-2)"))
}

// maxTogether is the largest number of sampled captions of an image in one group, if the model allows as many; more
// are split into groups of similar size.
const maxTogether = 50

// options converts the arguments to those of package textgen; up to most sampled captions are written together.
func options(a *gomlxmodels.CaptionArgs, most int) (textgen.Options, error) {
	s := textgen.Options{MaxTokens: a.MaxTokens, MinTokens: a.MinTokens, RepetitionPenalty: a.RepetitionPenalty,
		Number: 1}
	switch a.Decode {
	case "greedy":
	case "nucleus":
		groups := (a.N + most - 1) / most
		s.Sample, s.Number = true, (a.N+groups-1)/groups
		s.Temperature, s.TopK, s.TopP = a.Temperature, a.TopK, a.TopP
	case "beam":
		s.Beams, s.Number, s.Early = a.Beams, a.N, textgen.Early(a.EarlyStopping)
		if a.LengthPenalty != nil {
			s.LengthPenalty = *a.LengthPenalty
		}
	default:
		return s, fmt.Errorf("decode %q: must be greedy, beam or nucleus", a.Decode)
	}
	return s, nil
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (*stage.Opened, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	var err error
	if w.args.N < 1 {
		return nil, fmt.Errorf("%d captions per image: must be at least one", w.args.N)
	}
	if strings.HasPrefix(w.args.Model, gomlxmodels.Exec) {
		return openExec(ctx, env, w.args)
	}
	dir, err := hub.Resolve(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	if w.model, err = openModel(dir); err != nil {
		return nil, err
	}
	w.network = w.model.Network()
	if w.options, err = options(&w.args, min(maxTogether, w.network.MaxRows())); err != nil {
		return nil, err
	}
	w.options.Ends = w.network.Ends
	if w.kind, err = env.DeviceKind(); err != nil {
		return nil, err
	}
	w.dtype = stage.Precision(cmp.Or(w.args.Precision, "float32"), w.kind, env.Note)
	decoder := w.network.Decoder(w.dtype)
	if err := w.options.Validate(decoder.Vocab); err != nil {
		return nil, err
	}
	if _, err := w.model.Tokenizer(); err != nil {
		return nil, err
	}
	if w.prompt, err = w.model.Prompt(w.args.Prefix); err != nil {
		return nil, err
	}
	if room := decoder.Positions - decoder.Before; len(w.prompt)+w.args.MaxTokens-1 > room {
		return nil, fmt.Errorf("a prefix of %d tokens and %d more are more than the model's %d: request fewer",
			len(w.prompt), w.args.MaxTokens, room)
	}
	if w.contents, err = hub.Digest(env, w.args.Model, w.model.Files(), w.model.Preprocess()); err != nil {
		return nil, err
	}
	w.images = newImages(4*w.batch()+16, w.read)
	return stage.Of(w), nil
}

func (w *worker) Label() string { return "caption " + hub.Name(w.args.Model) }

// batch is the number of groups per call.
func (w *worker) batch() int { return w.network.Batch(textgen.DefaultBatch, &w.options) }

// Batch is in captions: whole groups.
func (w *worker) Batch() int { return w.batch() * w.options.Number }

func (w *worker) Digest() string {
	a := w.args
	// captions depend on how many rows are written together, not on how many are requested
	a.Model, a.N, a.Precision = "", w.options.Width(), ""
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // text and finite numbers have JSON
	}
	return fmt.Sprintf("%s %s %s %s", w.contents, text, strings.ToLower(w.dtype.String()), w.kind)
}

func (w *worker) Check(columns []table.ColumnSpec) error {
	return stage.Needs("caption", columns, datasets.Columns("id:text", "image_id:text", "image:image",
		"seed:number")...)
}

func (w *worker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.CaptionColumns()
}

// Readings counts the captions that say nothing about their image.
func (w *worker) Readings(rows *table.Frame) []table.Reading {
	captions := rows.Texts("caption")
	return []table.Reading{table.Reading{Source: w.Label(), Column: "caption", What: "captions are empty, or repeat " +
		"up to " +
		"three words four times"}.Count(rows, func(row int) (bool, bool) {
		return strings.TrimSpace(captions[row]) == "" || datasets.Degenerate(captions[row]),
			rows.Images("image")[row].Path != ""
	})}
}

// absent reports whether a row has no image and its outcome says why.
func absent(row stage.Row) bool { return row.Image("image").Path == "" && stage.Absent(row) }

func (w *worker) Key(row stage.Row) string {
	if absent(row) {
		return "\x00absent"
	}
	key := stage.ImageKey(row.Image("image"))
	switch w.args.Decode {
	case "nucleus":
		key += " seed " + row.SeedKey()
	case "beam":
		key += " " + row.Text("id")[min(len(row.Text("id")), len(row.Text("image_id"))):] // #k
	}
	return key
}

func (w *worker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s, %s)", w.Label(), w.contents, w.dtype, w.kind)
	w.captioner, w.Release, err = stage.Load(ctx, w.env, key, func(backend compute.Backend) (*textgen.Captioner,
		error) {
		return textgen.NewCaptioner(backend, w.network, textgen.CaptionerOptions{DType: w.dtype})
	})
	return err
}

// item is a row, prepared.
type item struct {
	pixels []float32
	image  string // identifies the pixels
	seed   uint64 // of a sampled caption
	// its position among those of its image that are written together; in a beam search its rank, from 0
	slot int
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (*item, string, error) {
	img := row.Image("image")
	if absent(row) {
		return nil, "", nil
	}
	if img.Path == "" {
		return nil, "image", stage.ErrNoImage
	}
	it := &item{image: img.SHA256}
	switch w.args.Decode {
	case "nucleus":
		seed, err := row.Seed()
		if err != nil {
			return nil, "seed", err
		}
		// The position depends on the seed alone: a device may round the positions of a group differently.
		it.seed, it.slot = stream(seed, img.SHA256), int(seed%uint64(w.options.Number))
	case "beam":
		k, err := strconv.Atoi(strings.TrimPrefix(row.Text("id"), row.Text("image_id")+"#"))
		if err != nil || k < 1 || k > w.args.N {
			return nil, "id", fmt.Errorf("the id %q is not %q followed by # and a number from 1 to %d, the rank of "+
				"the caption", row.Text("id"), row.Text("image_id"), w.args.N)
		}
		it.slot = k - 1
	}
	var err error
	if it.pixels, err = w.images.get(img); err != nil {
		return nil, "image", err
	}
	return it, "", nil
}

// stream returns the seed of a caption's random numbers: captions of two images with one seed are independent.
func stream(seed uint64, image string) uint64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(image+" "), seed))
	return binary.LittleEndian.Uint64(sum[:])
}

// read decodes and prepares an image.
func (w *worker) read(img table.Image) ([]float32, error) {
	rgb, err := stage.ReadImage(img)
	if err != nil {
		return nil, err
	}
	pixels, err := w.model.Prepare(rgb)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(img.Path), err)
	}
	return pixels, nil
}

func (w *worker) Compute(ctx context.Context, prepared []*item) ([][]table.Value, error) {
	groups, places := w.together(slices.DeleteFunc(slices.Clone(prepared), func(it *item) bool { return it == nil }))
	var texts [][]textgen.Text
	err := w.env.OnDevice(ctx, func() (err error) {
		texts, err = w.captioner.Caption(ctx, groups, w.options)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]table.Value, len(prepared))
	for i, it := range prepared {
		if it == nil {
			out[i] = []table.Value{{}, {Number: math.NaN()}, {Number: math.NaN()}, {}}
			continue
		}
		at := places[0]
		places = places[1:]
		text := texts[at.group][at.slot]
		words, err := w.model.Text(w.prompt, text.Tokens)
		if err != nil {
			return nil, err
		}
		stop := "limit"
		if text.Ended {
			stop = "end"
		}
		out[i] = []table.Value{{Text: words}, {Number: float64(len(text.Tokens))},
			{Number: math.Round(text.LogProb*1e4) / 1e4}, {Text: stop}}
	}
	return out, nil
}

// place is the position of an item's caption in the captioner's result.
type place struct{ group, slot int }

// together puts the items of one image into groups, in the images' order. Sampled captions of one position go into
// several groups.
func (w *worker) together(items []*item) ([]textgen.ImageRequest, []place) {
	var groups []textgen.ImageRequest
	var taken [][]bool // of each group's positions
	places := make([]place, len(items))
	of := map[string][]int{} // an image's groups
	for i, it := range items {
		at := slices.IndexFunc(of[it.image], func(g int) bool { return !w.options.Sample || !taken[g][it.slot] })
		if at < 0 {
			at = len(of[it.image])
			of[it.image] = append(of[it.image], len(groups))
			r := textgen.ImageRequest{Pixels: it.pixels, Image: it.image, Prompt: w.prompt}
			if w.options.Sample {
				// unused positions are sampled too
				r.Seeds = slices.Repeat([]uint64{it.seed}, w.options.Number)
			}
			groups, taken = append(groups, r), append(taken, make([]bool, w.options.Number))
		}
		g := of[it.image][at]
		places[i] = place{g, it.slot}
		if w.options.Sample {
			groups[g].Seeds[it.slot], taken[g][it.slot] = it.seed, true
		}
	}
	return groups, places
}
