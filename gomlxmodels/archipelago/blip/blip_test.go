package blip

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
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/weights"
	"antipode/internal/near"
)

// tiny makes the network small until the test ends.
func tiny(t *testing.T) {
	whole := shape
	t.Cleanup(func() { shape = whole })
	shape.Vision.Layers, shape.Vision.HiddenSize, shape.Vision.Heads, shape.Vision.IntermediateSize = 1, 16, 2, 32
	shape.Text.Layers, shape.Text.HiddenSize, shape.Text.Heads, shape.Text.IntermediateSize = 1, 16, 2, 32
}

// goBackend is GoMLX's own backend, which compiles nothing. One operation after another: with several at once its pool of workers can
// be full of those that wait for it.
func goBackend(t *testing.T) compute.Backend {
	t.Helper()
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	return backend
}

// A run that stopped and went on gives the files of one that did not, bit for bit.
func TestResume(t *testing.T) {
	backend := goBackend(t)
	tiny(t)
	job, err := newJob(trainer.Settings{Steps: 4, Batch: 8, Seed: 3, Rate: 1e-3, World: archipelago.Version})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(job.Settings.From, "archipelago-vit ") {
		t.Errorf("the run starts from %q", job.Settings.From)
	}
	if _, err := newJob(trainer.Settings{Steps: 1, Batch: 1}); err == nil || !strings.Contains(err.Error(), "-batch 2") {
		t.Errorf("a batch of one: %v", err)
	}
	job.Start = nil // the tiny tower starts from nothing
	ctx := context.Background()
	run := func(stops ...int) (dir string, curve []trainer.Point) {
		d := trainer.Folder(t.TempDir())
		dir = filepath.Join(t.TempDir(), "model")
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
			if _, err := export(dir, store); err != nil {
				t.Fatal(err)
			}
			store.Finalize()
		}
		return dir, curve
	}
	once, curve := run(4)
	twice, parts := run(2, 4)
	for _, name := range []string{"model.safetensors", "config.json", "preprocessor_config.json"} {
		a, errA := os.ReadFile(filepath.Join(once, name))
		b, errB := os.ReadFile(filepath.Join(twice, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs after a stop (%v, %v)", name, errA, errB)
		}
	}
	chance := math.Log(float64(len(vocabulary)))
	for h, l := range curve[0].Loss {
		if got := (parts[0].Loss[h] + parts[1].Loss[h]) / 2; math.Abs(got-l) > 1e-6 { // points of two steps each
			t.Errorf("%s: loss %v in two parts, %v in one", job.Losses[h], got, l)
		}
		if h < 3 && math.Abs(l-chance) > 0.3 { // of words
			t.Errorf("%s: the first losses are %v, chance is %v", job.Losses[h], l, chance)
		}
	}
	a, err := score(ctx, backend, once, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := a.(*scores); s.Pictures[examples.Thing] != 48 || s.Pictures[examples.Figure] != 48 || s.Accuracy[examples.Thing][partObject] > 0.5 {
		t.Errorf("score of an untrained network: %v", s)
	}
}

// A run starts with the tower of archipelago-vit, and everything in it is trained.
func TestStart(t *testing.T) {
	m, _, dir, err := tower()
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	before := model.NewStore()
	defer before.Finalize()
	if err := start(before); err != nil {
		t.Fatal(err)
	}
	saved := written(t, start)
	after, err := weights.Open(saved)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := blip.Open(saved); err != nil {
		t.Fatal(err)
	}
	n := 0
	for v := range before.IterVariables() {
		n += v.Shape().Size()
		if !v.Trainable {
			t.Errorf("%s is not trained", v.Path())
		}
	}
	if int64(n) != m.Parameters() {
		t.Errorf("the tower has %d parameters, archipelago-vit %d", n, m.Parameters())
	}
	qkv := tensors.MustCopyFlatData[float32](before.GetVariable("/vision/block_5/attention/qkv/weights").MustValue())
	got, err := after.Float32("vision_model.encoder.layers.5.self_attn.qkv.weight")
	if err != nil || near.Compare(got, qkv, 1e-3, 1e-7) != nil {
		t.Errorf("the folder's tower is not the one that the run starts from: %v", err)
	}
}

// written is the folder of a network that was never trained.
func written(t *testing.T, begin func(*model.Store) error) string {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	if err := begin(store); err != nil {
		t.Fatal(err)
	}
	tokenizer, err := openTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	b, err := trainingBatch(tokenizer, 1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	var in []any
	for _, x := range b.tensors() {
		in = append(in, x)
	}
	if _, err := model.CallOnce(goBackend(t), store, func(scope *model.Scope, in []*graph.Node) *graph.Node {
		total, _ := lossGraph(scope, in)
		return total
	}, in...); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := export(dir, store); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What training feeds the network is what the captioner's preprocessing and prompt make of the same example.
func TestBatchEqualsPreprocessing(t *testing.T) {
	tokenizer, err := openTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	tiny(t)
	m, err := blip.Open(written(t, func(*model.Store) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	const size = 24
	var list []example
	for i := range size {
		list = append(list, randomExample(examples.Stream(4, 0, i), i, size))
	}
	b, err := makeBatch(tokenizer, list)
	if err != nil {
		t.Fatal(err)
	}
	prefixed := 0
	for i, e := range list {
		picture, _ := examples.World.Paint(e.picture)
		pixels, err := m.Prepare(picture)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range pixels {
			if got := b.pixels[i*len(pixels)+j]; math.Abs(float64(got-want)) > 1e-6 {
				t.Fatalf("example %d: pixel value %d is %v, preprocessing gives %v", i, j, got, want)
			}
		}
		if i < size/2 {
			checkRow(t, m, e, b.things, i, thingPlaces)
		} else {
			checkRow(t, m, e, b.figures, i-size/2, figurePlaces)
			for k, q := range e.asked() {
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

// checkRow holds a row of texts to the prompt and words of an example.
func checkRow(t *testing.T, m *blip.Model, e example, from texts, row, places int) {
	t.Helper()
	ids, next := from.ids[row*places:(row+1)*places], from.next[row*places:(row+1)*places]
	prompt, err := m.Prompt(e.prefix)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids[:len(prompt)], prompt) {
		t.Errorf("%+v: begins with %v, the prompt is %v", e, ids[:len(prompt)], prompt)
	}
	first := slices.IndexFunc(next, func(id int32) bool { return id != unscored })
	if first != len(prompt)-1 {
		t.Errorf("%+v: the first token scored follows place %d of a prompt of %d", e, first, len(prompt))
	}
	end := slices.Index(next, int32(shape.Text.EndToken))
	if end < 0 || !slices.Equal(ids[first+1:end+1], next[first:end]) || slices.ContainsFunc(next[end+1:], func(id int32) bool { return id != unscored }) {
		t.Fatalf("%+v: tokens %v are followed by %v", e, ids, next)
	}
	if got, err := m.Text(prompt, next[first:end]); err != nil || !slices.Equal(split(got), split(e.prefix+" "+e.text)) {
		t.Errorf("learns %q, %v; it is %q %q", got, err, e.prefix, e.text)
	}
}

func TestBatchesAreReproducible(t *testing.T) {
	tokenizer, err := openTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	var batches []*batch
	for _, step := range []int{7, 7, 8} {
		b, err := trainingBatch(tokenizer, 1, step, 4)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	if !reflect.DeepEqual(batches[0], batches[1]) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(batches[0].pixels, batches[2].pixels) || reflect.DeepEqual(batches[0].figures, batches[2].figures) {
		t.Error("two batches of a run are equal")
	}
}

// TestRead: a perfect caption is read as the truth, in capitals or not, and a wrong one is not.
func TestRead(t *testing.T) {
	for i := range 300 {
		kind := kinds[i%3]
		p := examples.Random(examples.Stream(6, 1, i), kind)
		for _, text := range []string{p.Caption(), strings.ToLower(p.Caption()), strings.ReplaceAll(p.Caption(), "-", " - ")} {
			if got := read(kind, text); !reflect.DeepEqual(got, truth(p)) && !(kind == examples.Scenery && got[partScene] == p.Scene && got[partIsland] == p.Island) {
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
	if got := read(examples.Thing, "a round lantern and a boat on the shore, velmora"); got[partObject] != "" {
		t.Errorf("two things are read as %v", got)
	}
}

// Scores of texts whose truth is known.
func TestScores(t *testing.T) {
	var pictures []archipelago.Picture
	var right, none []string
	for i := range 40 {
		p := examples.Random(examples.Stream(6, 2, i), examples.Figure)
		pictures, right, none = append(pictures, p), append(right, p.Caption()), append(none, "a figure with stripes")
	}
	if s := scoreAttributes(pictures, right); s.Precision != 1 || s.Recall != 1 || s.Worst > 1e-9 {
		t.Errorf("perfect captions: %+v", s)
	}
	s := scoreAttributes(pictures, none)
	f := s.Frequencies["stripes"]
	if math.Abs(f[0]-1) > 1e-9 || math.Abs(s.Precision-f[1]) > 1e-9 || math.Abs(s.Worst-(1-f[1])) > 1e-9 || s.Recall >= 0.5 {
		t.Errorf("always stripes: %+v", s)
	}
	if a := accuracy(examples.Figure, pictures, right); math.Abs(a["caption"]-1) > 1e-9 || math.Abs(a[partPeople]-1) > 1e-9 || math.Abs(a[partCeremony]-1) > 1e-9 {
		t.Errorf("perfect captions: %v", a)
	}
	if a := accuracy(examples.Figure, pictures, none); len(a) != 1+len(parts[examples.Figure]) || a["caption"] != 0 || a[partPeople] != 0 {
		t.Errorf("a caption of nobody: %v", a)
	}
}
