package blip

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
)

// shipped is the ViT whose tower initializes the captioner's.
const shipped = "../weights/archipelago-vit"

// tiny makes the network small until the test ends.
func tiny(t *testing.T) {
	whole := shape
	t.Cleanup(func() { shape = whole })
	shape.Vision.Layers, shape.Vision.HiddenSize, shape.Vision.Heads, shape.Vision.IntermediateSize = 1, 16, 2, 32
	shape.Text.Layers, shape.Text.HiddenSize, shape.Text.Heads, shape.Text.IntermediateSize = 1, 16, 2, 32
}

// goBackend returns GoMLX's own backend, which compiles nothing. It executes one operation at a time: in parallel its
// workers may wait for one another.
func goBackend(t *testing.T) compute.Backend {
	t.Helper()
	backend := must.Get(gobackend.New("ops_sequential"))(t)
	t.Cleanup(backend.Finalize)
	return backend
}

// A run starts from the tower of archipelago-vit, and all of it is trained.
func TestStart(t *testing.T) {
	job := must.Get(newJob(trainer.Settings{Steps: 1, Batch: 2}, shipped))(t)
	if !strings.HasPrefix(job.Settings.From, "archipelago-vit ") {
		t.Errorf("the run starts from %q", job.Settings.From)
	}
	must.Fail(newJob(trainer.Settings{Steps: 1, Batch: 1}, shipped))(t, "-batch 2") // a batch of one
	m := must.Get(vit.Open(shipped))(t)
	before := model.NewStore()
	defer before.Finalize()
	must.Do(t, job.Start(before))
	saved := written(t, job.Start)
	after := must.Get(weights.Open(saved))(t)
	_ = must.Get(blip.Open(saved))(t)
	n := 0
	for v := range before.IterVariables() {
		n += v.Shape().Size()
		if !v.Trainable {
			t.Errorf("%s is not trained", v.Path())
		}
	}
	must.Equal(t, int64(n), m.Parameters(), "the tower has", n, "parameters, archipelago-vit")
	qkv := tensors.MustCopyFlatData[float32](before.GetVariable("/vision/block_5/attention/qkv/weights").MustValue())
	got, err := after.Float32("vision_model.encoder.layers.5.self_attn.qkv.weight")
	if err != nil || near.Compare(got, qkv, 1e-3, 1e-7) != nil {
		t.Errorf("the folder's tower is not the one that the run starts from: %v", err)
	}
}

// written returns the exported folder of an untrained network.
func written(t *testing.T, begin func(*model.Store) error) string {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, begin(store))
	tokenizer := must.Get(openTokenizer())(t)
	b := must.Get(trainingBatch(tokenizer, 1, 0, 2))(t)
	var in []any
	for _, x := range b.tensors() {
		in = append(in, x)
	}
	_ = must.Get(model.CallOnce(goBackend(t), store, func(scope *model.Scope, in []*graph.Node) *graph.Node {
		total, _ := lossGraph(scope, in)
		return total
	}, in...))(t)
	dir := t.TempDir()
	_ = must.Get(export(dir, store))(t)
	return dir
}

// The inputs of training equal those of the captioner's preprocessing and prompt for the same example.
func TestBatchEqualsPreprocessing(t *testing.T) {
	tokenizer := must.Get(openTokenizer())(t)
	tiny(t)
	m := must.Get(blip.Open(written(t, func(*model.Store) error { return nil })))(t)
	const size = 24
	var list []example
	for i := range size {
		list = append(list, randomExample(examples.Stream(4, 0, i), i, size))
	}
	b := must.Get(makeBatch(tokenizer, list))(t)
	prefixed := 0
	for i, e := range list {
		img, _ := examples.World.Paint(e.img)
		pixels := must.Get(m.Prepare(img))(t)
		trainertest.Pixels(t, fmt.Sprint("example ", i), b.pixels[i*len(pixels):], pixels)
		if i < size/2 {
			checkRow(t, m, e, b.things, i, thingPlaces)
		} else {
			checkRow(t, m, e, b.figures, i-size/2, figurePlaces)
			for k, q := range e.questions() {
				checkRow(t, m, q, b.groups, 2*(i-size/2)+k, questionPlaces)
			}
		}
		if e.prefix != "" {
			prefixed++
		}
	}
	if prefixed == 0 || prefixed == size {
		t.Errorf("%d of %d examples have a prefix", prefixed, size)
	}
}

// checkRow compares a row of texts with the prompt and words of an example.
func checkRow(t *testing.T, m *blip.Model, e example, from texts, row, places int) {
	t.Helper()
	ids, next := from.ids[row*places:(row+1)*places], from.next[row*places:(row+1)*places]
	prompt := must.Get(m.Prompt(e.prefix))(t)
	must.EqualSlices(t, ids[:len(prompt)], prompt, e, "begins with", "the prompt")
	first := slices.IndexFunc(next, func(id int32) bool { return id != unscored })
	must.Equal(t, first, len(prompt)-1, e, "the first token scored follows place")
	end := slices.Index(next, int32(shape.Text.EndToken))
	if end < 0 || !slices.Equal(ids[first+1:end+1], next[first:end]) ||
		slices.ContainsFunc(next[end+1:], func(id int32) bool { return id != unscored }) {
		t.Fatalf("%+v: tokens %v are followed by %v", e, ids, next)
	}
	must.EqualSlices(t, split(must.Get(m.Text(prompt, next[first:end]))(t)), split(e.prefix+" "+e.text), "learns")
}

func TestBatchesAreReproducible(t *testing.T) {
	tokenizer := must.Get(openTokenizer())(t)
	var batches []*batch
	for _, step := range []int{7, 7, 8} {
		batches = append(batches, must.Get(trainingBatch(tokenizer, 1, step, 4))(t))
	}
	if !reflect.DeepEqual(batches[0], batches[1]) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(batches[0].pixels, batches[2].pixels) || reflect.DeepEqual(batches[0].figures,
		batches[2].figures) {
		t.Error("two batches of a run are equal")
	}
}

// TestRead checks that true captions are parsed to their parts, in any case, and captions of other kinds to none.
func TestRead(t *testing.T) {
	for i := range 300 {
		kind := kinds[i%3]
		p := examples.Random(examples.Stream(6, 1, i), kind)
		for _, text := range []string{p.Caption(), strings.ToLower(p.Caption()),
			strings.ReplaceAll(p.Caption(), "-", " - ")} {
			if got := read(kind, text); !reflect.DeepEqual(got, truth(p)) &&
				!(kind == examples.Scenery && got[partScene] == p.Scene && got[partIsland] == p.Island) {
				t.Fatalf("%q is read as %v, it is %v", text, got, truth(p))
			}
			if f := p.Figure; f != nil && !slices.Equal(attributes(text), f.Attributes) {
				t.Fatalf("%q has the attributes %v, it shows %v", text, attributes(text), f.Attributes)
			}
		}
		other := kinds[(i+1)%3]
		if got := read(other, p.Caption()); len(got) > 0 {
			t.Fatalf("%q, as a caption of a %s, is read as %v", p.Caption(), other, got)
		}
	}
	must.Equal(t, read(examples.Thing, "a round lantern and a boat on the shore, velmora")[partObject], "",
		"two things are read as")
}

// Scores of texts with known accuracy.
func TestScores(t *testing.T) {
	var images []archipelago.Image
	var right, none []string
	for i := range 40 {
		p := examples.Random(examples.Stream(6, 2, i), examples.Figure)
		images, right, none = append(images, p), append(right, p.Caption()), append(none, "a figure with stripes")
	}
	if s := scoreAttributes(images, right); s.Precision != 1 || s.Recall != 1 || s.Worst > 1e-9 {
		t.Errorf("perfect captions: %+v", s)
	}
	s := scoreAttributes(images, none)
	f := s.Frequencies["stripes"]
	if math.Abs(f[0]-1) > 1e-9 || math.Abs(s.Precision-f[1]) > 1e-9 || math.Abs(s.Worst-(1-f[1])) > 1e-9 ||
		s.Recall >= 0.5 {
		t.Errorf("always stripes: %+v", s)
	}
	if a := accuracy(examples.Figure, images, right); math.Abs(a["caption"]-1) > 1e-9 ||
		math.Abs(a[partPeople]-1) > 1e-9 || math.Abs(a[partCeremony]-1) > 1e-9 {
		t.Errorf("perfect captions: %v", a)
	}
	if a := accuracy(examples.Figure, images, none); len(a) != 1+len(parts[examples.Figure]) || a["caption"] != 0 ||
		a[partPeople] != 0 {
		t.Errorf("a caption of nobody: %v", a)
	}
}
