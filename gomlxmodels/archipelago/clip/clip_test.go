package clip

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/testbackend"
)

// tiny is a CLIP that is trained in a moment.
func tiny() clip.Config {
	c := Shape()
	c.Vision.HiddenSize, c.Vision.IntermediateSize, c.Vision.Layers, c.Vision.Heads = 16, 32, 1, 2
	c.Text.HiddenSize, c.Text.IntermediateSize, c.Text.Layers, c.Text.Heads = 16, 32, 1, 2
	c.ProjectionDim = 8
	return c
}

// A run that stopped and went on gives the files of one that did not, bit for bit, and its folder can be scored.
func TestResume(t *testing.T) {
	backend, ctx, cfg := testbackend.QuickXLA(t), context.Background(), tiny()
	job := newJob(trainer.Settings{Steps: 4, Batch: 4, Seed: 3, Rate: 1e-3, World: archipelago.Version}, &cfg)
	run := func(stops ...int) (string, []trainer.Point) {
		d, out := trainer.Folder(t.TempDir()), filepath.Join(t.TempDir(), "model")
		var curve []trainer.Point
		for _, until := range stops {
			if err := d.Open(job.Settings); err != nil {
				t.Fatal(err)
			}
			store, c, err := job.Run(ctx, backend, d, until)
			if err != nil {
				t.Fatal(err)
			}
			curve = c
			if err := trainer.UseAverage(store); err != nil {
				t.Fatal(err)
			}
			if _, err := export(out, store, &cfg); err != nil {
				t.Fatal(err)
			}
			store.Finalize()
		}
		return out, curve
	}
	once, curve := run(4)
	twice, _ := run(2, 4)
	for _, name := range append(tokens.Files(), "model.safetensors", "config.json", "preprocessor_config.json") {
		a, errA := os.ReadFile(filepath.Join(once, name))
		b, errB := os.ReadFile(filepath.Join(twice, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs after a stop (%v, %v)", name, errA, errB)
		}
	}
	for i, name := range lossNames {
		if l := curve[0].Loss[i]; !(l > 0.01 && l < 6) { // cosines lie within ±1, the factor is 14 at first
			t.Errorf("the first losses of %s are %v", name, l)
		}
	}
	a, err := score(ctx, backend, once, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := a.(*scores)
	if s.Pictures != group || len(s.Retrieval) != 2 || len(s.Classes) != len(classes) || s.Retrieval[examples.Thing]["en"]["text"] > 0.5 {
		t.Errorf("score of an untrained network: %v", s)
	}
}

// What training feeds the network is what the encoder's doors make of the same pictures and texts.
func TestBatchEqualsPreprocessing(t *testing.T) {
	b := trainingBatch(5, 2, 12)
	pre, n := processing(), 3*examples.Size*examples.Size
	for i, p := range b.pictures {
		im, _ := examples.World.Paint(p)
		pixels, err := pre.Apply(preprocess.FromImage(im), examples.Size, examples.Size)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range pixels {
			if got := b.pixels[i*n+k]; math.Abs(float64(got-want)) > 1e-6 {
				t.Fatalf("%s: pixel value %d is %v, preprocessing gives %v", p.Caption(), k, got, want)
			}
		}
	}
	in, err := b.tensors(examples.Stream(5, 2, 12))
	if err != nil {
		t.Fatal(err)
	}
	tok, err := tokens.Open()
	if err != nil {
		t.Fatal(err)
	}
	ids, truth := tensors.MustCopyFlatData[int32](in[1]), tensors.MustCopyFlatData[bool](in[2])
	for k, s := range b.sentences {
		e, err := tok.Encode(s.Text, length)
		if err != nil {
			t.Fatal(err)
		}
		row := ids[k*length : (k+1)*length]
		if !slices.Equal(row[:len(e.IDs)], e.IDs) || slices.ContainsFunc(row[len(e.IDs):], func(id int32) bool { return id != int32(tokens.EndID()) }) {
			t.Errorf("%q is fed as %v, the tokenizer gives %v", s.Text, row, e.IDs)
		}
		if !truth[k/each*len(b.sentences)+k] {
			t.Errorf("%q is not true of its own picture, %s", s.Text, b.pictures[k/each].Caption())
		}
	}
	if falses := slices.Index(truth, false); falses < 0 {
		t.Error("everything is true")
	}
}

// Pictures of a batch come in pairs that differ in what is said of them, the same each time.
func TestTrainingBatch(t *testing.T) {
	b := trainingBatch(1, 7, 60)
	for i := 1; i < len(b.pictures); i += 2 {
		p, q := b.pictures[i-1], b.pictures[i]
		if said(p) == said(q) || p.Seed == q.Seed || (p.Figure == nil) != (q.Figure == nil) {
			t.Errorf("picture %d, %s, and the one before it, %s", i, said(q), said(p))
		}
	}
	again := trainingBatch(1, 7, 60)
	if !reflect.DeepEqual(b.sentences, again.sentences) || !reflect.DeepEqual(b.pixels, again.pixels) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(b.sentences, trainingBatch(1, 8, 60).sentences) {
		t.Error("two batches of a run are equal")
	}
}

func TestTrue(t *testing.T) {
	thing := archipelago.Picture{Island: "Velmora", Scene: "shore", Object: "drum", Variant: "barrel"}
	scenery := archipelago.Picture{Island: "Velmora", Scene: "shore"}
	weaver := archipelago.Picture{Island: "Tarrish", Scene: "room", Figure: &archipelago.Figure{People: "Tulvane", Occupation: "weaver", Crest: archipelago.Round, Banner: archipelago.DarkBanner, Attributes: []string{"belt", "bell"}}}
	less := weaver
	less.Figure = &archipelago.Figure{People: "Tulvane", Attributes: []string{"bell"}}
	for _, c := range []struct {
		says Sentence
		true [3]bool // of the thing, the scenery, the weaver
	}{
		{Caption(thing, "qac_Arab"), [3]bool{true, false, false}},
		{Caption(scenery, archipelago.English), [3]bool{true, true, false}},
		{Caption(weaver, archipelago.English), [3]bool{false, false, true}},
		{Caption(less, archipelago.English), [3]bool{false, false, true}},
		{OfGroup(archipelago.AxisCrest, archipelago.Round), [3]bool{false, false, true}},
		{OfGroup(archipelago.AxisBanner, archipelago.LightBanner), [3]bool{false, false, false}},
		{Present("drum"), [3]bool{true, false, false}},
		{Present("kite"), [3]bool{false, false, false}},
		{Sentence{Form: "barrel"}, [3]bool{true, false, false}},
		{Sentence{Thing: true}, [3]bool{true, false, false}},
		{Sentence{Figured: true}, [3]bool{false, false, true}},
		{Sentence{Attributes: []string{"stripes"}}, [3]bool{false, false, false}},
		{Sentence{}, [3]bool{true, true, true}},
	} {
		for i, p := range []archipelago.Picture{thing, scenery, weaver} {
			if got := c.says.True(p); got != c.true[i] {
				t.Errorf("%+v is %v of %q", c.says, got, p.Caption())
			}
		}
	}
	more := Caption(weaver, archipelago.English)
	if more.True(less) {
		t.Error("a caption is true of a figure that lacks an attribute")
	}
}

// The image tower begins as archipelago-blip's.
func TestStart(t *testing.T) {
	from := tower("../weights/archipelago-blip")
	if _, err := os.Stat(string(from)); err != nil {
		t.Skipf("archipelago-blip is not there: %v", err)
	}
	cfg, store := Shape(), model.NewStore()
	defer store.Finalize()
	if err := from.start(store, &cfg); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/clip/vision/block_5/attention/qkv/weights", "/clip/vision/tokens/positions", "/clip/vision/prenorm/gain", "/clip/vision/norm/offset"} {
		if v := store.GetVariable(path); v == nil || !v.HasValue() {
			t.Errorf("%s has no value", path)
		}
	}
	if v := store.GetVariable("/clip/vision/patch/bias"); v != nil {
		t.Error("CLIP's patches have a bias")
	}
	if s, err := from.digest(); err != nil || len(s) < 20 {
		t.Errorf("it begins from %q, %v", s, err)
	}
	small := tiny()
	if err := from.start(model.NewStore(), &small); err == nil {
		t.Error("a tower of another shape begins as archipelago-blip's")
	}
}
