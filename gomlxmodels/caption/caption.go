// Package caption is the stage that puts pictures into words: it reads them and runs a captioner (a BLIP or BLIP-2, packages captioner and
// decode) on the device. A row is one caption; rows of one picture are written together.
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
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/blip2"
	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/checkpoint"
	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stagekit"
	"antipode/gomlxmodels/tokenizers"
	"antipode/kernel/client"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.CaptionOp, Version: Version, Open: open})
}

// worker captions with one model and one setting.
type worker struct {
	env       stage.Env
	args      gomlxmodels.CaptionArgs
	settings  decode.Settings
	model     describer
	network   captioner.Network
	dtype     dtypes.DType
	prompt    []int32
	contents  string // digest of the model's files
	kind      string // of the device
	pictures  *pictures
	captioner *captioner.Captioner
	release   func()
}

// describer is an opened folder of a captioner of one architecture.
type describer interface {
	Files() []string // what a digest must cover
	Preprocess() preprocess.Config
	Network() captioner.Network
	Tokenizer() (*tokenizers.Tokenizer, error)
	Prepare(image.Image) ([]float32, error)
	Prompt(prefix string) ([]int32, error)
	Text(prompt, tokens []int32) (string, error)
}

// openModel opens a folder by what it says it is.
func openModel(dir string) (describer, error) {
	architecture, err := checkpoint.Architecture(dir)
	if err != nil {
		return nil, err
	}
	if architecture == "blip-2" {
		return blip2.OpenCaptioner(dir)
	}
	return blip.Open(dir)
}

// maxTogether is the most drawn captions of a picture that are written in one group, where the model takes so many; more are split into
// groups of like size.
const maxTogether = 50

// settings are the arguments as package decode takes them; up to most drawn captions are written together.
func settings(a *gomlxmodels.CaptionArgs, most int) (decode.Settings, error) {
	s := decode.Settings{MaxTokens: a.MaxTokens, MinTokens: a.MinTokens, RepetitionPenalty: a.RepetitionPenalty, Number: 1}
	switch a.Decode {
	case "greedy":
	case "nucleus":
		groups := (a.N + most - 1) / most
		s.Sample, s.Number = true, (a.N+groups-1)/groups
		s.Temperature, s.TopK, s.TopP = a.Temperature, a.TopK, a.TopP
	case "beam":
		s.Beams, s.Number, s.LengthPenalty, s.Early = a.Beams, a.N, a.LengthPenalty, decode.Early(a.Early)
	default:
		return s, fmt.Errorf("decode %q: it is one of %s", a.Decode, strings.Join(gomlxmodels.Decodings, ", "))
	}
	return s, nil
}

func open(_ context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{env: env}
	if err := json.Unmarshal(raw, &w.args); err != nil {
		return nil, err
	}
	var err error
	if w.args.N < 1 {
		return nil, fmt.Errorf("%d captions of an image: it is at least one", w.args.N)
	}
	dir, err := checkpoint.Folder(env, w.args.Model)
	if err != nil {
		return nil, err
	}
	if w.model, err = openModel(dir); err != nil {
		return nil, err
	}
	w.network = w.model.Network()
	if w.settings, err = settings(&w.args, min(maxTogether, w.network.Most())); err != nil {
		return nil, err
	}
	w.settings.Ends = w.network.Ends
	w.dtype = stagekit.Precision(cmp.Or(w.args.Precision, "float32"), "")
	decoder := w.network.Decoder(w.dtype)
	if err := w.settings.Validate(decoder.Vocab); err != nil {
		return nil, err
	}
	if _, err := w.model.Tokenizer(); err != nil {
		return nil, err
	}
	if w.prompt, err = w.model.Prompt(w.args.Prefix); err != nil {
		return nil, err
	}
	if room := decoder.Positions - decoder.Before; len(w.prompt)+w.args.MaxTokens-1 > room {
		return nil, fmt.Errorf("a prefix of %d tokens and %d more are more than the model's %d: ask for fewer", len(w.prompt), w.args.MaxTokens, room)
	}
	if w.contents, err = checkpoint.Digest(env, w.args.Model, w.model.Files(), w.model.Preprocess()); err != nil {
		return nil, err
	}
	w.pictures = newPictures(4*w.batch()+16, w.read)
	w.kind, err = env.DeviceKind()
	return w, err
}

func (w *worker) Label() string { return "caption " + checkpoint.Name(w.args.Model) }

// batch is how many groups are written at once.
func (w *worker) batch() int { return w.network.Batch(captioner.DefaultBatch, &w.settings) }

// Batch is in captions: whole groups.
func (w *worker) Batch() int { return w.batch() * w.settings.Number }

func (w *worker) Digest() string {
	a := w.args
	a.Model, a.N, a.Precision = "", w.settings.Width(), "" // captions depend on how many rows are written together, not on how many are asked for
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // of text and numbers, of which complete leaves none that JSON lacks
	}
	return fmt.Sprintf("%s %s %s %s", w.contents, text, strings.ToLower(w.dtype.String()), w.kind)
}

func (w *worker) Check(columns []client.ColumnSpec) error {
	return stage.Needs("caption", columns, datasets.Columns("id:text", "image_id:text", "image:image", "seed:number")...)
}

func (w *worker) Outputs([]client.ColumnSpec) []client.ColumnSpec {
	return gomlxmodels.CaptionColumns()
}

// absent says that a row has no picture and says why in its outcome.
func absent(row stage.Row) bool {
	return row.Image("image").Path == "" && slices.Contains([]string{"refused", "failed", "skipped"}, row.Text("outcome"))
}

func (w *worker) Key(row stage.Row) string {
	if absent(row) {
		return "\x00absent"
	}
	key := row.Image("image").SHA256
	switch w.args.Decode {
	case "nucleus":
		key += fmt.Sprintf(" seed %v", number(row, "seed"))
	case "beam":
		key += " " + row.Text("id")[min(len(row.Text("id")), len(row.Text("image_id"))):] // #k
	}
	return key
}

func number(row stage.Row, column string) float64 {
	if v := row.Frame.Numbers(column); v != nil {
		return v[row.Index]
	}
	return math.NaN()
}

func (w *worker) Load(ctx context.Context) (err error) {
	key := fmt.Sprintf("%s (%.12s, %s, %s)", w.Label(), w.contents, w.dtype, w.kind)
	w.captioner, w.release, err = stagekit.Load(ctx, w.env, key, func(backend compute.Backend) (*captioner.Captioner, error) {
		return captioner.New(backend, w.network, captioner.Options{DType: w.dtype})
	})
	return err
}

// item is a row, prepared.
type item struct {
	pixels  []float32
	picture string // names the pixels
	seed    uint64 // of a drawn caption
	slot    int    // its place among those of its picture that are written together: its own, or of a beam search its rank, from 0
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	img := row.Image("image")
	if absent(row) {
		return (*item)(nil), "", nil
	}
	if img.Path == "" {
		return nil, "image", stagekit.ErrNoImage
	}
	it := &item{picture: img.SHA256}
	switch w.args.Decode {
	case "nucleus":
		seed := number(row, "seed")
		if !(seed >= 0 && seed <= 1<<53) || seed != math.Trunc(seed) {
			return nil, "seed", fmt.Errorf("the seed %v is no whole number from 0 to 2^53", seed)
		}
		// A place of its own: a device may round the places of a group differently.
		it.seed, it.slot = stream(uint64(seed), img.SHA256), int(uint64(seed)%uint64(w.settings.Number))
	case "beam":
		k, err := strconv.Atoi(strings.TrimPrefix(row.Text("id"), row.Text("image_id")+"#"))
		if err != nil || k < 1 || k > w.args.N {
			return nil, "id", fmt.Errorf("the id %q is not %q with # and a number from 1 to %d after it, the rank of the caption", row.Text("id"), row.Text("image_id"), w.args.N)
		}
		it.slot = k - 1
	}
	var err error
	if it.pixels, err = w.pictures.get(img); err != nil {
		return nil, "image", err
	}
	return it, "", nil
}

// stream is the seed of a caption's random numbers. Captions of two pictures with one seed are drawn independently.
func stream(seed uint64, picture string) uint64 {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(picture+" "), seed))
	return binary.LittleEndian.Uint64(sum[:])
}

// read decodes and prepares a picture.
func (w *worker) read(file string) ([]float32, error) {
	rgb, err := stagekit.Picture(file)
	if err != nil {
		return nil, err
	}
	pixels, err := w.model.Prepare(rgb)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return pixels, nil
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]stage.Value, error) {
	var items []*item
	for _, p := range prepared {
		if it := p.(*item); it != nil {
			items = append(items, it)
		}
	}
	groups, places := w.together(items)
	var texts [][]decode.Text
	err := w.env.OnDevice(ctx, func() (err error) {
		texts, err = w.captioner.Caption(ctx, groups, w.settings)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]stage.Value, len(prepared))
	for i, p := range prepared {
		if p.(*item) == nil {
			out[i] = []stage.Value{{}, {Number: math.NaN()}, {Number: math.NaN()}, {}}
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
		out[i] = []stage.Value{{Text: words}, {Number: float64(len(text.Tokens))}, {Number: math.Round(text.LogProb*1e4) / 1e4}, {Text: stop}}
	}
	return out, nil
}

// place is where an item's caption stands in what the captioner gives.
type place struct{ group, slot int }

// together puts items of one picture into groups, in the order the pictures come in. Drawn captions of one place go into several.
func (w *worker) together(items []*item) ([]captioner.Request, []place) {
	var groups []captioner.Request
	var taken [][]bool // of each group's places
	places := make([]place, len(items))
	of := map[string][]int{} // a picture's groups
	for i, it := range items {
		at := slices.IndexFunc(of[it.picture], func(g int) bool { return !w.settings.Sample || !taken[g][it.slot] })
		if at < 0 {
			at = len(of[it.picture])
			of[it.picture] = append(of[it.picture], len(groups))
			r := captioner.Request{Pixels: it.pixels, Picture: it.picture, Prompt: w.prompt}
			if w.settings.Sample {
				r.Seeds = slices.Repeat([]uint64{it.seed}, w.settings.Number) // places that nobody takes are drawn too, for nothing
			}
			groups, taken = append(groups, r), append(taken, make([]bool, w.settings.Number))
		}
		g := of[it.picture][at]
		places[i] = place{g, it.slot}
		if w.settings.Sample {
			groups[g].Seeds[it.slot], taken[g][it.slot] = it.seed, true
		}
	}
	return groups, places
}

func (w *worker) Close() {
	if w.release != nil {
		w.release()
	}
}
