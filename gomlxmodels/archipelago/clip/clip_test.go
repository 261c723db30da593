package clip

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/must"
)

// tiny is a CLIP that is trained in a moment.
func tiny() clip.Config {
	c := Shape()
	c.Vision.HiddenSize, c.Vision.IntermediateSize, c.Vision.Layers, c.Vision.Heads = 16, 32, 1, 2
	c.Text.HiddenSize, c.Text.IntermediateSize, c.Text.Layers, c.Text.Heads = 16, 32, 1, 2
	c.ProjectionDim = 8
	return c
}

// The inputs of training equal those of the encoder for the same images and texts.
func TestBatchEqualsPreprocessing(t *testing.T) {
	b := trainingBatch(5, 2, 12)
	pre, n := processing(), 3*examples.Size*examples.Size
	for i, p := range b.images {
		im, _ := examples.World.Paint(p)
		pixels := must.Get(pre.Apply(preprocess.FromImage(im), examples.Size, examples.Size))(t)
		trainertest.Pixels(t, p.Caption(), b.pixels[i*n:], pixels)
	}
	in := must.Get(b.tensors(examples.Stream(5, 2, 12)))(t)
	tok := must.Get(tokens.Open())(t)
	ids, truth := tensors.MustCopyFlatData[int32](in[1]), tensors.MustCopyFlatData[bool](in[2])
	for k, s := range b.sentences {
		e := must.Get(tok.Encode(s.Text, length))(t)
		row := ids[k*length : (k+1)*length]
		if !slices.Equal(row[:len(e.IDs)], e.IDs) || slices.ContainsFunc(row[len(e.IDs):],
			func(id int32) bool { return id != int32(tokens.EndID()) }) {
			t.Errorf("%q is fed as %v, the tokenizer gives %v", s.Text, row, e.IDs)
		}
		if !truth[k/each*len(b.sentences)+k] {
			t.Errorf("%q is not true of its own image, %s", s.Text, b.images[k/each].Caption())
		}
	}
	if falses := slices.Index(truth, false); falses < 0 {
		t.Error("everything is true")
	}
}

// The images of a batch are pairs that differ in a property, and batches are deterministic.
func TestTrainingBatch(t *testing.T) {
	b := trainingBatch(1, 7, 60)
	for i := 1; i < len(b.images); i += 2 {
		p, q := b.images[i-1], b.images[i]
		if said(p) == said(q) || p.Seed == q.Seed || (p.Figure == nil) != (q.Figure == nil) {
			t.Errorf("image %d, %s, and the one before it, %s", i, said(q), said(p))
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
	thing := archipelago.Image{Island: "Velmora", Scene: "shore", Object: "drum", Variant: "barrel"}
	scenery := archipelago.Image{Island: "Velmora", Scene: "shore"}
	weaver := archipelago.Image{Island: "Tarrish", Scene: "room", Figure: &archipelago.Figure{People: "Tulvane",
		Occupation: "weaver", Crest: archipelago.Round, Banner: archipelago.DarkBanner,
		Attributes: []string{"belt", "bell"}}}
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
		{ofGroup(archipelago.AxisCrest, archipelago.Round), [3]bool{false, false, true}},
		{ofGroup(archipelago.AxisBanner, archipelago.LightBanner), [3]bool{false, false, false}},
		{Present("drum"), [3]bool{true, false, false}},
		{Present("kite"), [3]bool{false, false, false}},
		{Sentence{Form: "barrel"}, [3]bool{true, false, false}},
		{Sentence{Thing: true}, [3]bool{true, false, false}},
		{Sentence{Figured: true}, [3]bool{false, false, true}},
		{Sentence{Attributes: []string{"stripes"}}, [3]bool{false, false, false}},
		{Sentence{}, [3]bool{true, true, true}},
	} {
		for i, p := range []archipelago.Image{thing, scenery, weaver} {
			must.Equal(t, c.says.True(p), c.true[i], c.says)
		}
	}
	more := Caption(weaver, archipelago.English)
	if more.True(less) {
		t.Error("a caption is true of a figure that lacks an attribute")
	}
}

// The image tower is initialized from archipelago-blip's.
func TestStart(t *testing.T) {
	from := "../weights/archipelago-blip"
	if _, err := os.Stat(from); err != nil {
		t.Skipf("archipelago-blip is missing: %v", err)
	}
	cfg, store := Shape(), model.NewStore()
	defer store.Finalize()
	must.Do(t, start(store, &cfg, from))
	for _, path := range []string{"/clip/vision/block_5/attention/qkv/weights", "/clip/vision/tokens/positions",
		"/clip/vision/prenorm/gain", "/clip/vision/norm/offset"} {
		if v := store.GetVariable(path); v == nil || !v.HasValue() {
			t.Errorf("%s has no value", path)
		}
	}
	if v := store.GetVariable("/clip/vision/patch/bias"); v != nil {
		t.Error("CLIP's patches have a bias")
	}
	if s, err := digest(from); err != nil || len(s) < 20 {
		t.Errorf("the run starts from %q, %v", s, err)
	}
	small := tiny()
	// a tower of another shape is initialized from archipelago-blip's
	must.Fail(start(model.NewStore(), &small, from))(t)
}
