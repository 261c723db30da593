package owlv2

import (
	"context"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// detect returns what a detector finds above a threshold.
func detect(t *testing.T, d *Detector, img *Image, c Caption, threshold float64) []Box {
	t.Helper()
	return must.Get(d.Detect(context.Background(), img, c, DetectOptions{threshold}))(t)
}

// TestThresholds: a higher threshold keeps the boxes above it, in the same order; none is 0.1.
func TestThresholds(t *testing.T) {
	g := openGolden(t, "quick-gelu")
	d := g.detector(testbackend.Any(t), Options{})
	img, c := g.prepared(0)
	detect(t, d, img, c, 0.5)
	shifts := make([]float32, 36)
	for i := range shifts { // scores from almost 0 to almost 1
		shifts[i] = float32(i%12)/2 - 3
	}
	d.seen[1] = tensors.FromFlatDataAndDimensions(shifts, 1, 36)
	d.seen[2] = tensors.FromFlatDataAndDimensions(slices.Repeat([]float32{2}, 36), 1, 36)
	all := detect(t, d, img, c, 1e-9)
	if len(all) != 36 {
		t.Fatalf("%d boxes of 36 patches", len(all))
	}
	above := func(threshold float64) []Box {
		n := slices.IndexFunc(all, func(b Box) bool { return b.Score <= threshold })
		return all[:max(n, 0)]
	}
	for _, b := range all {
		must.EqualSlices(t, detect(t, d, img, c, b.Score), above(b.Score), "above", b.Score)
	}
	if got := detect(t, d, img, c, 0); !slices.Equal(got, above(0.1)) || len(got) == 0 || len(got) == len(all) {
		t.Errorf("%d boxes without a threshold, %d above 0.1", len(got), len(above(0.1)))
	}
}

// TestIndependence: a text's scores do not depend on the other texts and their order, nor an image's boxes on the
// images before it.
func TestIndependence(t *testing.T) {
	g := openGolden(t, "gelu-odd-patch")
	d := g.detector(testbackend.Any(t), Options{})
	img, c := g.prepared(0)
	together := detect(t, d, img, c, 1e-9)
	best := map[int]Box{}
	for i, text := range c.Texts {
		fresh := g.detector(testbackend.Any(t), Options{})
		for _, b := range detect(t, fresh, img, Caption{c.Texts[i : i+1], c.IDs[i : i+1]}, 1e-9) {
			if old, is := best[b.Query]; b.Label != text || !is || b.Score > old.Score {
				best[b.Query] = b
			}
		}
	}
	for _, b := range together {
		must.Equal(t, b, best[b.Query], "together", "alone")
	}
	many := Caption{slices.Repeat(c.Texts, 2*textsAtOnce), slices.Repeat(c.IDs, 2*textsAtOnce)}
	must.EqualSlices(t, detect(t, d, img, many, 1e-9), together, "each text", 2*textsAtOnce, "times")
	labels := map[string]bool{}
	for _, b := range together {
		labels[b.Label] = true
	}
	if len(labels) < 2 {
		t.Errorf("labels %v", labels)
	}
	slices.Reverse(c.Texts)
	slices.Reverse(c.IDs)
	other, second := g.prepared(1)
	detect(t, d, other, second, 1e-9)
	must.EqualSlices(t, detect(t, d, img, c, 1e-9), together, "in another order, after another image")
	// of equal texts the first gives the label
	same := Caption{[]string{"first", "second"}, [][]int32{c.IDs[0], c.IDs[0]}}
	for _, b := range detect(t, d, img, same, 1e-9) {
		must.Equal(t, b.Label, "first")
	}
}

// TestBatch: two images in one call give what each gives alone.
func TestBatch(t *testing.T) {
	g, backend := openGolden(t, "gelu-odd-patch"), testbackend.Any(t)
	side := g.cfg.Vision.ImageSize
	forward := func(n int, pixels []float32) [][]float32 {
		return g.run(backend, imagePart, func(s *model.Scope, in []*Node) []*Node {
			p := ForwardImage(s, g.cfg, in[0], dtypes.Float32)
			return []*Node{p.Classes, p.Shifts, p.Scales, p.Boxes}
		}, tensors.FromFlatDataAndDimensions(pixels, n, 3, side, side))
	}
	first, _ := g.prepared(0)
	second, _ := g.prepared(1)
	both := forward(2, slices.Concat(first.Pixels, second.Pixels))
	for i, img := range []*Image{first, second} {
		for k, alone := range forward(1, img.Pixels) {
			near.Check(t, "together", both[k][i*len(alone):][:len(alone)], alone, 1e-5, 1e-5)
		}
	}
}

// TestCache: the image's graph runs once for several texts, and a text's once for several images.
func TestCache(t *testing.T) {
	g := openGolden(t, "wide")
	d := g.detector(testbackend.Any(t), Options{})
	img, c := g.prepared(0)
	want := detect(t, d, img, c, 0.01)
	classes, vector := d.seen[0], &d.texts["[523 513 524]"][0]
	got := detect(t, d, img, c, 0.01)
	must.EqualSlices(t, got, want, "an image was computed again")
	must.Equal(t, d.seen[0], classes, "an image was computed again")
	again, _ := g.prepared(0)
	got = detect(t, d, again, c, 0.01)
	if !slices.Equal(got, want) || d.seen[0] == classes || &d.texts["[523 513 524]"][0] != vector {
		t.Error("an image prepared again was not computed, or a text was")
	}
}

// TestBFloat16: half precision gives nearly the same boxes.
func TestBFloat16(t *testing.T) {
	g := openGolden(t, "quick-gelu")
	backend := testbackend.QuickXLA(t)
	img, c := g.prepared(0)
	byPatch := func(o Options) []Box {
		list := detect(t, g.detector(backend, o), img, c, 1e-9)
		slices.SortFunc(list, func(a, b Box) int { return a.Query - b.Query })
		return list
	}
	want, differs := byPatch(Options{}), 0.0
	for i, b := range byPatch(Options{DType: dtypes.BFloat16}) {
		near.Check(t, "box", []float64{b.X0, b.Y0, b.X1, b.Y1, b.Score}, []float64{want[i].X0, want[i].Y0, want[i].X1,
			want[i].Y1, want[i].Score}, 0.02, 1.5)
		differs = max(differs, b.Score-want[i].Score, want[i].Score-b.Score)
	}
	if differs == 0 || differs > 0.05 {
		t.Errorf("scores differ by %v", differs)
	}
}

func TestDetectErrors(t *testing.T) {
	g := openGolden(t, "quick-gelu")
	_, err := g.Caption("cat", "a photo of a cat and a big red dog!")
	must.Fail(err)(t, `text "a photo of a cat and a big red dog!" has 17 tokens, the model takes 16`)
	must.Fail(g.Prepare(nil))(t, "no image")
	must.Fail(g.Prepare(modeltest.Image(0, 5)))(t, "the image has no pixels")
	must.Fail(NewDetector(nil, g.Model, Options{}))(t, "needs a backend and a model")
	must.Fail(NewDetector(testbackend.Go(t), g.Model, Options{DType: dtypes.Int32}))(t, "dtype Int32 is not")

	d := g.detector(testbackend.Go(t), Options{})
	img, c := g.prepared(2)
	refused := func(img *Image, c Caption, o DetectOptions, want string) {
		t.Helper()
		must.Fail(d.Detect(context.Background(), img, c, o))(t, want)
	}
	refused(nil, c, DetectOptions{}, "no image")
	refused(&Image{Width: 3, Height: 4}, c, DetectOptions{},
		"image of 3×4 pixels with 0 values, the model takes 3×48×48")
	refused(&Image{Pixels: img.Pixels}, c, DetectOptions{}, "image of 0×0 pixels")
	refused(img, Caption{}, DetectOptions{}, "caption of 0 texts and tokens of 0")
	refused(img, Caption{Texts: []string{"a"}}, DetectOptions{}, "caption of 1 texts and tokens of 0")
	refused(img, Caption{[]string{"a"}, [][]int32{{900}}}, DetectOptions{}, "text 1: ")
	refused(img, Caption{[]string{"a"}, [][]int32{make([]int32, 17)}}, DetectOptions{}, "text 1: ")
	refused(img, c, DetectOptions{1.5}, "box threshold 1.5 is not between 0 and 1")
	refused(img, c, DetectOptions{-1}, "box threshold -1 is not")
	must.Fail(d.Detect(modeltest.Canceled(), img, c, DetectOptions{}))(t, "context canceled")
	if err := d.Load(); err != nil || d.Bytes() < 1<<16 {
		t.Errorf("%d bytes loaded, %v", d.Bytes(), err)
	}
	d.Close()
	d.Close()
	refused(img, c, DetectOptions{}, "the detector is closed")
}
