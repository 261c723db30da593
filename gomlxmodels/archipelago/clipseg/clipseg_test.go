package clipseg

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/testbackend"
)

// tiny is a CLIPSeg that is trained in a moment.
func tiny() clipseg.Config {
	c := shape()
	c.Vision.HiddenSize, c.Vision.IntermediateSize, c.Vision.Layers, c.Vision.Heads = 16, 32, 2, 2
	c.Text.HiddenSize, c.Text.IntermediateSize, c.Text.Layers, c.Text.Heads = 16, 32, 1, 2
	c.ProjectionDim, c.ExtractLayers, c.ReduceDim, c.DecoderHeads, c.DecoderIntermediateSize = 8, []int{0, 1}, 8, 2, 16
	return c
}

// randomCLIP writes the folder of a CLIP of random weights.
func randomCLIP(t *testing.T, backend compute.Backend, cfg *clip.Config) string {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	if err := store.SetRNGStateFromSeed(1); err != nil {
		t.Fatal(err)
	}
	if _, err := model.CallOnceN(backend, store, func(s *model.Scope, in []*Node) []*Node {
		ids := Zeros(in[0].Graph(), shapes.Make(dtypes.Int32, 1, length))
		return []*Node{clip.ForwardImage(s, cfg, in[0], clip.GraphOptions{}).Projected, clip.ForwardText(s, cfg, ids, clip.GraphOptions{}).Projected}
	}, tensors.FromShape(shapes.Make(dtypes.Float32, 1, 3, cfg.Vision.ImageSize, cfg.Vision.ImageSize))); err != nil {
		t.Fatal(err)
	}
	side := cfg.Vision.ImageSize
	pre := preprocess.Config{Resize: preprocess.ShortestEdge, Edge: side, CropHeight: side, CropWidth: side, Filter: preprocess.Bicubic, Scale: 1.0 / 255, Mean: preprocess.Half, Std: preprocess.Half}
	dir := t.TempDir()
	if err := clip.Save(dir, cfg, store.RootScope(), 2, pre, weights.F16); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run that stopped and went on gives the files of one that did not, bit for bit; the CLIP in them is the one it began from.
func TestResume(t *testing.T) {
	backend, ctx, cfg := testbackend.QuickXLA(t), context.Background(), tiny()
	from := randomCLIP(t, backend, &cfg.Config)
	job, err := newJob(trainer.Settings{Steps: 4, Batch: 2, Seed: 3, Rate: 1e-3, World: archipelago.Version}, cfg, from)
	if err != nil {
		t.Fatal(err)
	}
	run := func(stops ...int) string {
		d, out := trainer.Folder(t.TempDir()), filepath.Join(t.TempDir(), "model")
		for _, until := range stops {
			if err := d.Open(job.Settings); err != nil {
				t.Fatal(err)
			}
			store, curve, err := job.Run(ctx, backend, d, until)
			if err != nil {
				t.Fatal(err)
			}
			if l := curve[0].Loss[0]; !(l > 0.1 && l < 3) {
				t.Errorf("the first losses are %v", curve[0].Loss)
			}
			if err := trainer.UseAverage(store); err != nil {
				t.Fatal(err)
			}
			if _, err := export(out, store, &cfg); err != nil {
				t.Fatal(err)
			}
			store.Finalize()
		}
		return out
	}
	once, twice := run(4), run(2, 4)
	for _, name := range append(tokens.Files(), "model.safetensors", "config.json", "preprocessor_config.json") {
		a, errA := os.ReadFile(filepath.Join(once, name))
		b, errB := os.ReadFile(filepath.Join(twice, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs after a stop (%v, %v)", name, errA, errB)
		}
	}
	old, errOld := weights.Open(from)
	now, errNow := weights.Open(once)
	if errOld != nil || errNow != nil {
		t.Fatal(errOld, errNow)
	}
	for _, name := range old.Names() {
		a, errA := old.Float32(name)
		b, errB := now.Float32("clip." + name)
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Errorf("%s was changed (%v, %v)", name, errA, errB)
		}
	}
	a, err := score(ctx, backend, once, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := a.(*scores); s.Pictures != 48 || s.Overlap["en"] > 0.5 {
		t.Errorf("score of an untrained network: %v", s)
	}
	if _, err := newJob(trainer.Settings{}, cfg, t.TempDir()); err == nil || !strings.Contains(err.Error(), "train clip first") {
		t.Errorf("without a CLIP: %v", err)
	}
}

// What training feeds the network is what the encoder's doors make of the same pictures and prompts, and masks are those of what is true.
func TestBatchEqualsPreprocessing(t *testing.T) {
	b := trainingBatch(5, 2, 40)
	pre, n := preprocess.Default(examples.Size, examples.Size), 3*examples.Size*examples.Size
	tok, err := tokens.Open()
	if err != nil {
		t.Fatal(err)
	}
	in, err := b.tensors()
	if err != nil {
		t.Fatal(err)
	}
	ids := tensors.MustCopyFlatData[int32](in[1])
	empty, full := 0, 0
	for i, p := range b.pictures {
		im, mask := examples.World.Paint(p)
		pixels, err := pre.Apply(preprocess.FromImage(im), examples.Size, examples.Size)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range pixels {
			if got := b.pixels[i*n+k]; math.Abs(float64(got-want)) > 1e-6 {
				t.Fatalf("%s: pixel value %d is %v, preprocessing gives %v", p.Caption(), k, got, want)
			}
		}
		for k := i * each; k < (i+1)*each; k++ {
			s := b.prompts[k]
			e, err := tok.Encode(s.Text, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(e.IDs) > length || !slices.Equal(ids[k*length:k*length+len(e.IDs)], e.IDs) {
				t.Errorf("%q is fed as %v, the tokenizer gives %v", s.Text, ids[k*length:(k+1)*length], e.IDs)
			}
			got := b.masks[k*n/3 : (k+1)*n/3]
			if !s.True(p) || mask == nil {
				empty++
				if slices.Contains(got, true) {
					t.Errorf("%q has a mask in %q", s.Text, p.Caption())
				}
				continue
			}
			full++
			for at, v := range mask.Pix {
				if got[at] != (v > 0) {
					t.Fatalf("%q in %q: pixel %d is %v", s.Text, p.Caption(), at, got[at])
				}
			}
		}
	}
	if empty < 20 || full < 30 {
		t.Errorf("%d masks are empty, %d are not", empty, full)
	}
	if again := trainingBatch(5, 2, 40); !reflect.DeepEqual(again.prompts, b.prompts) || !reflect.DeepEqual(again.masks, b.masks) {
		t.Error("the same batch drawn twice differs")
	}
}

// A prompt drawn for a picture is true of it, and of no scenery.
func TestAbout(t *testing.T) {
	for i := range 300 {
		kind := []string{examples.Thing, examples.Figure}[i%2]
		r := examples.Stream(1, 2, i)
		p := examples.Random(r, kind)
		s := about(r, p)
		if s.Text == "" || !s.True(p) || s.True(archipelago.Picture{Island: p.Island, Scene: p.Scene}) {
			t.Errorf("%+v for %q", s, p.Caption())
		}
	}
	if s := about(examples.Stream(1, 2, 3), archipelago.Picture{Scene: "shore", Island: "Velmora"}); s.Text == "" || s.True(archipelago.Picture{Scene: "shore", Island: "Velmora"}) {
		t.Errorf("%+v for a scene", s)
	}
}
