package groundingdino

import (
	"context"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/runner"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// TestThresholds: a higher threshold keeps the boxes above it, in the same order, and takes no token into a label.
func TestThresholds(t *testing.T) {
	g := openGolden(t, "shared")
	d := g.detector(testbackend.Go(t), Options{})
	img, c := g.prepared(0)
	detect := func(box, text float64) []Box {
		list := must.Get(d.Detect(context.Background(), img, c, DetectOptions{BoxThreshold: box,
			TextThreshold: text}))(t)
		return list
	}
	all := detect(1e-9, 1e-9)
	if len(all) != g.cfg.Queries {
		t.Fatalf("%d boxes of %d queries", len(all), g.cfg.Queries)
	}
	for _, b := range all {
		above := detect(b.Score, 0.5)
		want := slices.IndexFunc(all, func(x Box) bool { return x.Score <= b.Score })
		must.Equal(t, len(above), want, "boxes above", b.Score)
		for i, x := range above {
			if x.Label = all[i].Label; x != all[i] {
				t.Errorf("above %v: %+v, want %+v", b.Score, x, all[i])
			}
		}
	}
	for i, b := range detect(1e-9, 1-1e-9) {
		must.Equal(t, b.Label, "")
		must.Equal(t, all[i].Label, "a cat. a remote control. [SEP]")
	}
}

// TestProfiles: LangSAM's captions, thresholds and labels.
func TestProfiles(t *testing.T) {
	g := openGolden(t, "shared")
	var first Caption
	for i, text := range []string{"Cat", " cat ", "cat."} {
		c, err := g.Caption(text, LangSAM2024)
		if i == 0 {
			first = c
		}
		if err != nil || c.Text != "cat." || !slices.Equal(c.IDs, first.IDs) {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
	if plain, err := g.Caption("cat", Transformers); err != nil || slices.Equal(plain.IDs, first.IDs) {
		t.Errorf("transformers adds a period: %+v, %v", plain, err)
	}
	must.Equal(t, Labels(" A cat", "a Dog "), "a cat. a dog.", "labels make")
	img := must.Get(g.Prepare(modeltest.Image(70, 53), LangSAM2024))(t)
	other, _ := g.prepared(0)
	if img.Original != (Size{53, 70}) || slices.Equal(img.Pixels, other.Pixels) {
		t.Errorf("%+v prepared for both profiles alike", img.Size)
	}
	d := g.detector(testbackend.Go(t), Options{Profile: LangSAM2024})
	list, err := d.Detect(context.Background(), img, first, DetectOptions{TextThreshold: 1e-9})
	if err != nil || len(list) == 0 {
		t.Fatalf("%d boxes, %v", len(list), err)
	}
	for _, b := range list {
		if !(b.Score > 0.3) || b.Label != "cat [SEP]" {
			t.Errorf("%+v", b)
		}
	}
}

// TestGraphsAreBounded: the graphs that were used last stay compiled, and what was closed is compiled again and gives
// the same.
func TestGraphsAreBounded(t *testing.T) {
	g := openGolden(t, "shared")
	d := g.detector(testbackend.Go(t), Options{})
	_, c := g.prepared(2)
	detect := func(width int) []Box {
		t.Helper()
		// of its own size: 38 is the shorter side
		img := must.Get(g.Prepare(modeltest.Image(width, 38), Transformers))(t)
		return must.Get(d.Detect(context.Background(), img, c, DetectOptions{BoxThreshold: 1e-9}))(t)
	}
	first := detect(38)
	var before []*runner.Graph // of the first size, and of the text
	for _, graph := range d.graphs {
		before = append(before, graph)
	}
	must.Equal(t, len(before), 3, "graphs")
	for _, width := range []int{42, 46, 38, 50, 54, 38} { // the first size is used again
		detect(width)
		if len(d.graphs) > keptGraphs || len(d.recent) != len(d.graphs) {
			t.Fatalf("%d graphs, %d in the order of use", len(d.graphs), len(d.recent))
		}
	}
	still := 0
	for _, graph := range d.graphs {
		if slices.Contains(before, graph) {
			still++
		}
	}
	if still != 2 || d.graphs[key{imagePart, Size{40, 44}, 0}] != nil { // the text's is used once: it is cached
		t.Errorf("%d graphs of the size used last are kept, and the least recently used one too", still)
	}
	for _, width := range []int{42, 46, 50, 54} {
		detect(width)
	}
	if d.graphs[key{imagePart, Size{40, 40}, 0}] != nil {
		t.Error("the least recently used graph is kept")
	}
	must.EqualSlices(t, detect(38), first, "a graph that is compiled again gives another result")
}

func TestDetectErrors(t *testing.T) {
	g := openGolden(t, "shared")
	_, err := g.Caption(strings.Repeat("a cat. ", 20), Transformers)
	must.Fail(err)(t, "caption of 62 tokens, the model takes 48 (max_text_len)")
	must.Fail(g.Caption("बिल्ली.", LangSAM2024))(t, "no word of it is in the model's vocabulary")
	must.Fail(g.Caption("a", "none"))(t, `profile "none" is not known`)
	must.Fail(g.Prepare(nil, Transformers))(t, "no image")
	must.Fail(g.Prepare(modeltest.Image(70, 53), "none"))(t, `profile "none" is not known`)
	_, err = g.Prepare(modeltest.Image(400, 3), Transformers) // the shorter side would be 0 pixels
	must.Fail(err)(t, "too narrow")
	many := openGolden(t, "many")
	must.Fail(many.Prepare(modeltest.Image(100, 100), Transformers))(t,
		"too narrow: 100×100 pixels after resizing have 238 positions, the model takes 900")
	must.Fail(NewDetector(nil, g.Model, Options{}))(t, "needs a backend and a model")
	must.Fail(NewDetector(testbackend.Go(t), g.Model, Options{Profile: "none"}))(t, `profile "none" is not known`)

	d := g.detector(testbackend.Go(t), Options{})
	img, c := g.prepared(2)
	detect := func(img *Image, c Caption, o DetectOptions, want string) {
		t.Helper()
		must.Fail(d.Detect(context.Background(), img, c, o))(t, want)
	}
	detect(nil, c, DetectOptions{}, "no image")
	detect(&Image{Size: img.Size}, c, DetectOptions{}, "0 pixel values")
	detect(img, Caption{}, DetectOptions{}, "caption of 0 tokens")
	detect(img, Caption{IDs: []int32{5000}, Phrases: []int32{1}, Positions: []int32{0}}, DetectOptions{},
		"token 1 is number 5000")
	detect(img, c, DetectOptions{BoxThreshold: 1.5}, "box threshold 1.5 is not between 0 and 1")
	detect(img, c, DetectOptions{TextThreshold: -1}, "text threshold -1 is not")
	must.Fail(d.Detect(modeltest.Canceled(), img, c, DetectOptions{}))(t, "context canceled")
	if err := d.Load(); err != nil || d.Bytes() < 1<<20 {
		t.Errorf("%d bytes loaded, %v", d.Bytes(), err)
	}
	d.Close()
	d.Close()
	detect(img, c, DetectOptions{}, "the detector is closed")
}
