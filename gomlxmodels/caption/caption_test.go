package caption

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/weights"
	"antipode/internal/testbackend"
	"antipode/kernel/client"
)

// model is the small random model with a tokenizer that internal/pyref/blip.py makes.
var model, _ = filepath.Abs("../blip/testdata/base")

// env is what the engine lends a stage, without a store and with one loaded model.
type env struct {
	t       *testing.T
	backend compute.Backend
	loaded  map[string]any
}

func newEnv(t *testing.T, backend compute.Backend) env { return env{t, backend, map[string]any{}} }

func (e env) Device() (any, error) {
	return &device.Device{Backend: e.backend, Kind: device.XLACPU}, nil
}
func (env) DeviceKind() (string, error) { return device.XLACPU, nil }
func (env) ModelDir() string            { return "" }
func (env) FileDigest(path string) (string, error) {
	data, err := os.ReadFile(path)
	return digest(data), err
}
func (env) PutBlob([]byte, string) (client.Image, error) {
	return client.Image{}, errors.New("not kept")
}

func (e env) Shared(key string, open func() (any, int64, func(), error)) (any, func(), error) {
	if value, ok := e.loaded[key]; ok {
		return value, func() {}, nil
	}
	value, bytes, done, err := open()
	if err == nil {
		if e.t.Cleanup(done); bytes == 0 {
			e.t.Error("a loaded model takes no memory")
		}
	}
	e.loaded[key] = value
	return value, func() {}, err
}
func (env) OnDevice(_ context.Context, f func() error) error { return f() }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// args are those of a table's plan.
func args(t *testing.T, n int, options ...gomlxmodels.CaptionOption) gomlxmodels.CaptionArgs {
	t.Helper()
	a := gomlxmodels.CaptionArgs{Model: model, N: n, Decode: "greedy", MaxTokens: 9}
	for _, o := range options {
		if err := o(&a); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func start(t *testing.T, e env, a gomlxmodels.CaptionArgs) stage.Worker {
	t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	w, err := open(t.Context(), e, raw)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// scenes writes small pictures of stripes and noise.
func scenes(t *testing.T, n int) (files []client.Image) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		m := image.NewRGBA(image.Rect(0, 0, 40+i, 50))
		for y := range 50 {
			for x := range 40 + i {
				v := uint8((x*(i+3)*7 + y*(i*i+1)*5 + (x*y)%(i+2)*40) % 256)
				m.Set(x, y, color.RGBA{v, 255 - v, uint8(60 * i), 255})
			}
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.png", i))
		f, err := os.Create(file)
		if err == nil {
			err = errors.Join(png.Encode(f, m), f.Close())
		}
		data, readErr := os.ReadFile(file)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		files = append(files, client.Image{Path: file, SHA256: digest(data)})
	}
	return files
}

// table is n rows of each picture, as Repeat gives them.
func table(images []client.Image, n int, seed float64) *client.Frame {
	var id, of, outcome []string
	var list []client.Image
	var seeds []float64
	for i, img := range images {
		for k := range n {
			id, of = append(id, fmt.Sprintf("p%d#%d", i, k+1)), append(of, fmt.Sprintf("p%d", i))
			list, seeds, outcome = append(list, img), append(seeds, seed+float64(k)), append(outcome, "")
		}
	}
	f := &client.Frame{Columns: []client.Column{client.TextColumn("id", id), client.TextColumn("image_id", of), client.ImageColumn("image", list), client.NumberColumn("seed", seeds)}}
	return f.With(client.TextColumn("outcome", outcome))
}

// run computes the given rows in batches, each alone for size 1, and gives their values by row.
func run(t *testing.T, w stage.Worker, f *client.Frame, rows []int, size int) map[int][]stage.Value {
	t.Helper()
	if err := w.Check(f.Specs()); err != nil {
		t.Fatal(err)
	}
	if err := w.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := map[int][]stage.Value{}
	for part := range slices.Chunk(rows, size) {
		var prepared []any
		for _, i := range part {
			p, column, err := w.Prepare(t.Context(), stage.Row{Frame: f, Index: i})
			if err != nil {
				t.Fatal(column, err)
			}
			prepared = append(prepared, p)
		}
		values, err := w.Compute(t.Context(), prepared)
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range part {
			out[i] = values[k]
		}
	}
	return out
}

func all(f *client.Frame) (rows []int) {
	for i := range f.Len() {
		rows = append(rows, i)
	}
	return rows
}

// TestEqualReference: a picture file to words, with and without a prefix, as transformers writes them.
func TestEqualReference(t *testing.T) {
	set, err := weights.OpenFiles(filepath.Join(model, "golden.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := set.Float32("picture")
	if err != nil {
		t.Fatal(err)
	}
	info, _ := set.Info("picture")
	m := image.NewRGBA(image.Rect(0, 0, info.Shape[1], info.Shape[0]))
	for i := 0; i < len(v); i += 3 {
		copy(m.Pix[i/3*4:], []uint8{uint8(v[i]), uint8(v[i+1]), uint8(v[i+2]), 255})
	}
	file := filepath.Join(t.TempDir(), "a.png")
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(png.Encode(f, m), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		Prefix, Text string
		IDs          []int32
	}
	text, err := os.ReadFile(filepath.Join(model, "texts.json"))
	if err == nil {
		err = json.Unmarshal(text, &lines)
	}
	if err != nil || len(lines) == 0 {
		t.Fatal(err)
	}
	frame := table([]client.Image{{Path: file, SHA256: "x"}}, 1, 0)
	for name, backend := range map[string]compute.Backend{"pure Go": testbackend.Go(t), "XLA": testbackend.XLA(t)} {
		e := newEnv(t, backend)
		for _, l := range lines {
			got := run(t, start(t, e, args(t, 1, gomlxmodels.Prefix(l.Prefix))), frame, []int{0}, 1)[0]
			ended := l.IDs[len(l.IDs)-1] == 5
			tokens, stop := len(l.IDs)-1-len(strings.Fields(l.Prefix)), "limit"
			if ended {
				tokens, stop = tokens-1, "end"
			}
			if got[0].Text != l.Text || got[1].Number != float64(tokens) || !(got[2].Number < 0) || got[3].Text != stop {
				t.Errorf("%s, prefix %q: %+v, transformers writes %q (%d tokens, %s)", name, l.Prefix, got, l.Text, tokens, stop)
			}
		}
	}
}

// TestBatches: captions are the same whatever is computed with them, and in whatever order.
func TestBatches(t *testing.T) {
	images := scenes(t, 11)
	for name, a := range map[string]gomlxmodels.CaptionArgs{
		"nucleus": args(t, 3, gomlxmodels.Decode("nucleus"), gomlxmodels.TopP(0.95), gomlxmodels.Temperature(2)),
		"beam":    args(t, 2, gomlxmodels.Decode("beam"), gomlxmodels.Beams(3), gomlxmodels.MinTokens(2)),
		"greedy":  args(t, 1, gomlxmodels.RepetitionPenalty(1.5)),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "beam" {
				a.LengthPenalty = 1
			}
			e := newEnv(t, testbackend.Go(t))
			w := start(t, e, a)
			f := table(images, a.N, 7)
			rows := all(f)
			want := run(t, w, f, rows, w.Batch())
			turned := slices.Clone(rows)
			slices.Reverse(turned)
			for what, got := range map[string]map[int][]stage.Value{
				"one by one":    run(t, start(t, e, a), f, rows, 1),
				"in eights":     run(t, start(t, e, a), f, rows, 8),
				"from the end":  run(t, start(t, e, a), f, turned, 5),
				"a second time": run(t, w, f, rows, w.Batch()),
			} {
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, want %+v", what, got, want)
				}
			}
			different := map[string]bool{}
			for i, v := range want {
				different[v[0].Text] = true
				if n := v[1].Number; n < 0 || n > 9 || v[3].Text == "limit" && n != 9 || v[3].Text == "end" && n > 8 {
					t.Errorf("row %d: %+v", i, v)
				}
			}
			if len(different) < 4 {
				t.Errorf("only %d captions differ: %v", len(different), different)
			}
		})
	}
}

// TestRanks: caption k of a search is the k-th best.
func TestRanks(t *testing.T) {
	a := args(t, 3, gomlxmodels.Decode("beam"), gomlxmodels.Beams(4)) // length penalty 0: scores are log-probabilities
	w := start(t, newEnv(t, testbackend.Go(t)), a)
	f := table(scenes(t, 3), 3, 0)
	got := run(t, w, f, all(f), w.Batch())
	for i := range got {
		if i%3 > 0 && (got[i][2].Number > got[i-1][2].Number || got[i][0].Text == got[i-1][0].Text && got[i][1].Number == got[i-1][1].Number) {
			t.Errorf("caption %d: %+v after %+v", i%3+1, got[i], got[i-1])
		}
	}
	f = f.With(client.TextColumn("id", slices.Repeat([]string{"elsewhere"}, f.Len())))
	if _, column, err := w.Prepare(t.Context(), stage.Row{Frame: f}); column != "id" || err == nil || !strings.Contains(err.Error(), "the rank of the caption") {
		t.Errorf("%s: %v", column, err)
	}
}

// TestMany: more captions than are written in a group, each by its seed.
func TestMany(t *testing.T) {
	a := args(t, 60, gomlxmodels.Decode("nucleus"), gomlxmodels.Temperature(3))
	a.TopP = 1
	w := start(t, newEnv(t, testbackend.Go(t)), a)
	f := table(scenes(t, 1), 60, 0)
	got := run(t, w, f, all(f), w.Batch())
	if w.Batch() != 4*30 {
		t.Errorf("batch %d: 60 captions are two groups of 30, four of which are written at once", w.Batch())
	}
	again := run(t, w, f, []int{59}, 1)
	if !reflect.DeepEqual(again[59], got[59]) {
		t.Errorf("caption 60: %+v, alone %+v", got[59], again[59])
	}
	different := map[string]bool{}
	for _, v := range got {
		different[v[0].Text] = true
	}
	if len(different) < 40 {
		t.Errorf("of 60 drawn captions %d differ", len(different))
	}
}

// TestOutcomes: rows without a picture, empty captions, bad rows.
func TestOutcomes(t *testing.T) {
	images := scenes(t, 2)
	a := args(t, 1)
	w := start(t, newEnv(t, testbackend.Go(t)), a)
	broken := filepath.Join(t.TempDir(), "broken.png")
	if err := os.WriteFile(broken, []byte("no picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := table([]client.Image{{}, images[0], {}, {Path: broken, SHA256: "b"}, {Path: broken + "x", SHA256: "c"}}, 1, 0)
	f = f.With(client.TextColumn("outcome", []string{"refused", "ok", "", "", ""}))
	got := run(t, w, f, []int{0, 1}, 2)
	if v := got[0]; v[0].Text != "" || !math.IsNaN(v[1].Number) || !math.IsNaN(v[2].Number) || v[3].Text != "" {
		t.Errorf("a refused picture: %+v", v)
	}
	if v := got[1]; v[3].Text == "" {
		t.Errorf("the picture beside it: %+v", v)
	}
	if a, b := w.Key(stage.Row{Frame: f}), w.Key(stage.Row{Frame: f, Index: 1}); a == b || b != images[0].SHA256 {
		t.Errorf("keys %q, %q", a, b)
	}
	for i, want := range map[int]string{2: "the row has no image", 3: "broken.png", 4: "cannot be read"} {
		if _, column, err := w.Prepare(t.Context(), stage.Row{Frame: f, Index: i}); column != "image" || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("row %d, column %s: %v, want %q", i, column, err, want)
		}
	}
	// the end as the first token is a caption: an empty one
	empty := run(t, start(t, newEnv(t, testbackend.Go(t)), args(t, 1, gomlxmodels.MaxTokens(1), gomlxmodels.Decode("nucleus"), gomlxmodels.TopP(1))), table(images[:1], 1, emptySeed(t, images[0])), []int{0}, 1)[0]
	if empty[0].Text != "" || empty[1].Number != 0 || empty[3].Text != "end" || !(empty[2].Number < 0) {
		t.Errorf("an empty caption: %+v", empty)
	}
	seeds := table(images[:1], 1, 0.5)
	drawn := start(t, newEnv(t, testbackend.Go(t)), args(t, 1, gomlxmodels.Decode("nucleus")))
	if _, column, err := drawn.Prepare(t.Context(), stage.Row{Frame: seeds}); column != "seed" || err == nil {
		t.Errorf("a seed of 0.5: %s, %v", column, err)
	}
	if a, b := drawn.Key(stage.Row{Frame: table(images[:1], 2, 0)}), drawn.Key(stage.Row{Frame: table(images[:1], 2, 0), Index: 1}); a == b {
		t.Errorf("two seeds, one key %q", a)
	}
}

// emptySeed looks for a seed whose first drawn token is the end.
func emptySeed(t *testing.T, img client.Image) float64 {
	a := args(t, 50, gomlxmodels.MaxTokens(1), gomlxmodels.Decode("nucleus"), gomlxmodels.TopP(1))
	w := start(t, newEnv(t, testbackend.Go(t)), a)
	f := table([]client.Image{img}, 400, 0)
	for i, v := range run(t, w, f, all(f), w.Batch()) {
		if v[3].Text == "end" {
			return float64(i)
		}
	}
	t.Fatal("none of 400 captions is empty")
	return 0
}
