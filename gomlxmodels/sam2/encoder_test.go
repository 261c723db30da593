package sam2

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/sam"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

func openEncoder(t *testing.T, g golden, o Options) *Encoder {
	t.Helper()
	backend := testbackend.Any(t)
	if o.DType == dtypes.BFloat16 { // which the pure Go backend lacks
		backend = testbackend.QuickXLA(t)
	}
	e := must.Get(NewEncoder(backend, g.Model, o))(t)
	t.Cleanup(e.Close)
	return e
}

func segment(t *testing.T, e *Encoder, p *Image, boxes []Box) []Map {
	t.Helper()
	maps := must.Get(e.Segment(context.Background(), p, boxes))(t)
	return maps
}

// TestBoxesAreIndependent: boxes of several groups give what each gives alone, in any order, and with one box more; so
// do images.
func TestBoxesAreIndependent(t *testing.T) {
	g := openGolden(t, "windows")
	e, p := openEncoder(t, g, Options{}), g.prepared(0)
	r := near.Rand(t, 1)
	var boxes []Box
	for range 2*sam.Boxes + 3 {
		x, y := 70*r.Float64()-10, 50*r.Float64()-10
		boxes = append(boxes, Box{x, y, x + 1 + 20*r.Float64(), y + 1 + 20*r.Float64()})
	}
	maps := segment(t, e, p, boxes)
	if len(maps) != len(boxes) {
		t.Fatalf("%d maps", len(maps))
	}
	segment(t, e, g.prepared(1), boxes[:1])
	check := func(what string, got, want Map) {
		t.Helper()
		near.Check(t, what, append(got.Logits, got.IoU), append(want.Logits, want.IoU), 1e-5, 1e-5)
	}
	for i, b := range boxes {
		check("alone", segment(t, e, p, []Box{b})[0], maps[i])
	}
	order := r.Perm(len(boxes))
	shuffled := make([]Box, len(boxes))
	for i, k := range order {
		shuffled[i] = boxes[k]
	}
	for i, m := range segment(t, e, p, shuffled) {
		check("in another order", m, maps[order[i]])
	}
	for i, m := range segment(t, e, p, append([]Box{{1, 2, 30, 20}}, boxes...))[1:] {
		check("after one more", m, maps[i])
	}
	if near.Compare(maps[0].Logits, maps[1].Logits, 1e-2, 1e-2) == nil {
		t.Error("two boxes have the same map")
	}
}

// TestChoose computes the fallback by hand: masks of two pixels, the first stable, on the threshold, not stable, and
// without a pixel.
func TestChoose(t *testing.T) {
	c := DecoderConfig{Delta: 0.5, Threshold: 0.5}
	masks := []float32{
		1, 2, 3, 3, 4, 4, // both above delta: 2 of 2
		1, 0, 3, 3, 4, 4, // 1 of 2
		0, 0, 3, 3, 4, 4, // 0 of 2
		-1, -0.5, 3, 3, 4, 4, // none above −delta
		0.5, -0.4, 3, 3, 4, 4, // 0 of 2
	}
	ious := []float32{0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.3, 0.3}
	out := must.Get(model.CallOnceN(testbackend.Any(t), model.NewStore(), func(_ *model.Scope, in []*Node) []*Node {
		best, iou := c.choose(in[0], in[1])
		return []*Node{best, iou}
	}, tensors.FromFlatDataAndDimensions(masks, 5, 3, 1, 2), tensors.FromFlatDataAndDimensions(ious, 5, 3)))(t)
	want := []float32{1, 2, 1, 0, 4, 4, -1, -0.5, 3, 3}
	near.Check(t, "logits", tensors.MustCopyFlatData[float32](out[0]), want, 0, 0)
	near.Check(t, "IoU", tensors.MustCopyFlatData[float32](out[1]), []float32{0.1, 0.1, 0.3, 0.1, 0.3}, 0, 0)
}

// TestInParts: attention in parts gives what all queries at once give.
func TestInParts(t *testing.T) {
	const b, h, q, s, d = 2, 3, 7, 5, 4
	r := near.Rand(t, 2)
	noise := func(dims ...int) *tensors.Tensor {
		n := 1
		for _, k := range dims {
			n *= k
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return tensors.FromFlatDataAndDimensions(x, dims...)
	}
	out, err := model.CallOnceN(testbackend.Any(t), model.NewStore(), func(_ *model.Scope, in []*Node) (out []*Node) {
		for _, atOnce := range []int{scoresAtOnce, 3 * b * h * s, 1} {
			out = append(out, inParts(in[0], in[1], in[2], atOnce))
		}
		return out
	}, noise(b, h, q, d), noise(b, h, s, d), noise(b, h, s, d))
	if err != nil {
		t.Fatal(err)
	}
	want := tensors.MustCopyFlatData[float32](out[0])
	for i, what := range []string{"three queries at once", "one query at once"} {
		near.Check(t, what, tensors.MustCopyFlatData[float32](out[1+i]), want, 1e-5, 1e-6)
	}
}

// TestBFloat16: half precision gives nearly the same masks.
func TestBFloat16(t *testing.T) {
	g := openGolden(t, "video")
	e := openEncoder(t, g, Options{DType: dtypes.BFloat16})
	got := segment(t, e, g.prepared(0), g.boxes(0))
	for i, want := range g.Rows("0.logits") {
		equal := 0
		for k, v := range want {
			if (v > 0) == (got[i].Logits[k] > 0) {
				equal++
			}
		}
		if share := float64(equal) / float64(len(want)); share < 0.9 {
			t.Errorf("box %d: %.3f of the mask's pixels are the same", i, share)
		}
		if near.Compare(got[i].Logits, want, 0, 1e-4) == nil {
			t.Errorf("box %d: as exact as float32", i)
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	g := openGolden(t, "other-shape")
	backend, p := testbackend.Any(t), g.prepared(0)
	_, err := NewEncoder(backend, g.Model, Options{DType: dtypes.Int32})
	modeltest.CheckLine(t, err, "dtype Int32")
	_, err = NewEncoder(nil, g.Model, Options{})
	modeltest.CheckLine(t, err, "sam2: an encoder needs a backend and a model")
	e := openEncoder(t, g, Options{})
	for want, p := range map[string]*Image{"was not prepared": nil, "not prepared by this model": {Pixels: p.Pixels},
		"prepared by this": {Width: 3, Height: 3, Pixels: p.Pixels[1:]}} {
		_, err := e.Segment(context.Background(), p, []Box{{1, 1, 2, 2}})
		modeltest.CheckLine(t, err, want)
	}
	for _, bad := range []Box{{3, 3, 3, 4}, {5, 5, 4, 4}, {0, 0, math.NaN(), 1}, {0, 0, 1, math.Inf(1)}} {
		_, err := e.Segment(context.Background(), p, []Box{{1, 1, 2, 2}, bad})
		modeltest.CheckLine(t, err, "sam2: box 2, ")
	}
	for _, far := range []Box{{-1e6, -1e6, 1e6, 1e6}, {0.25, 0.25, 0.5, 0.5}} {
		if _, err := e.Segment(context.Background(), p, []Box{far}); err != nil {
			t.Errorf("%v: %v", far, err)
		}
	}
	if maps, err := e.Segment(context.Background(), p, nil); len(maps) != 0 || err != nil {
		t.Errorf("no boxes: %v, %v", maps, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Segment(ctx, p, g.boxes(0)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := g.Prepare(nil); err == nil {
		t.Error("no image is prepared")
	}
	if p, err := g.Prepare(preprocess.NewRGB(1, 900)); err != nil || p.Width != 1 || p.Height != 900 {
		t.Errorf("a narrow image: %v", err)
	}
	if err := e.Load(); err != nil || e.Bytes() == 0 {
		t.Errorf("%d bytes, %v", e.Bytes(), err)
	}
	e.Close()
	e.Close()
	_, err = e.Segment(context.Background(), p, g.boxes(0))
	modeltest.CheckLine(t, err, "sam2: the encoder is closed")
}
