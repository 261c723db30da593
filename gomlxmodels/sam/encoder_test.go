package sam

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
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

// TestBoxesAreIndependent: boxes of several groups give what each gives alone, in any order; so do images.
func TestBoxesAreIndependent(t *testing.T) {
	g := openGolden(t, "other-shape")
	e, p := openEncoder(t, g, Options{}), g.prepared("0")
	r := near.Rand(t, 1)
	var boxes []Box
	for range 2*Boxes + 3 {
		x, y := 50*r.Float64()-10, 40*r.Float64()-10
		boxes = append(boxes, Box{x, y, x + 1 + 20*r.Float64(), y + 1 + 20*r.Float64()})
	}
	maps := segment(t, e, p, boxes)
	if len(maps) != len(boxes) {
		t.Fatalf("%d maps", len(maps))
	}
	segment(t, e, g.prepared("1"), boxes[:1])
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
	if near.Compare(maps[0].Logits, maps[1].Logits, 1e-2, 1e-2) == nil {
		t.Error("two boxes have the same map")
	}
}

// TestPaddingIsDropped: logits of the padding, further than a neighbor from the image, are in no mask.
func TestPaddingIsDropped(t *testing.T) {
	g := openGolden(t, "windows")
	m := segment(t, openEncoder(t, g, Options{}), g.prepared("1"), g.boxes("1"))[0] // 30×75: the right is padding
	if m.insideWidth != 19 || m.insideHeight != 48 || m.padded != 48 || m.Side != 32 {
		t.Fatalf("%+v", m)
	}
	before := must.Get(m.Mask())(t)
	inside := 14 // 19/48 of 32, and a neighbor
	m.Logits = slices.Clone(m.Logits)
	for i := range m.Logits {
		if i%m.Side >= inside {
			m.Logits[i] = 100
		}
	}
	if after, err := m.Mask(); err != nil || !slices.Equal(before.Pix, after.Pix) || before.Score != after.Score {
		t.Errorf("the padding is seen: %v", err)
	}
	for i := range m.Logits {
		if i%m.Side == inside-2 {
			m.Logits[i] = 100
		}
	}
	if after, _ := m.Mask(); slices.Equal(before.Pix, after.Pix) {
		t.Error("the image is not seen")
	}
}

// TestMask computes scores by hand.
func TestMask(t *testing.T) {
	m := Map{Side: 2, Logits: []float32{2, 0.5, -0.5, -2}, IoU: 1.25, padded: 2, insideWidth: 2, insideHeight: 2,
		width: 2, height: 2}
	got, err := m.Mask()
	score := (1/(1+math.Exp(-2)) + 1/(1+math.Exp(-0.5))) / 2
	if err != nil || !slices.Equal(got.Pix, []bool{true, true, false, false}) || got.IoU != 1.25 ||
		math.Abs(got.Score-score) > 1e-12 || math.Abs(got.Stability-1./3) > 1e-12 {
		t.Errorf("%+v, %v", got, err)
	}
	m.Logits = []float32{-2, -2, -2, -2}
	if got, err := m.Mask(); err != nil || got.Area() != 0 || got.Score != 0 || got.Stability != 0 {
		t.Errorf("nothing: %+v, %v", got, err)
	}
	if _, err := (Map{}).Mask(); err == nil {
		t.Error("no error for no map")
	}
}

// TestAttendWindow: heads and rows in groups give what all at once give.
func TestAttendWindow(t *testing.T) {
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, store.SetRNGStateFromSeed(3))
	const b, side, heads, d = 2, 3, 5, 4
	r := near.Rand(t, 2)
	x := make([]float32, b*side*side*heads*d)
	for i := range x {
		x[i] = float32(50 * r.NormFloat64()) // new weights are small
	}
	out := must.Get(model.CallOnceN(testbackend.Any(t), store, func(s *model.Scope, in []*Node) []*Node {
		all := attendWindow(s.At("a"), in[0], side, heads, true, scoresAtOnce)
		two := attendWindow(s.At("a"), in[0], side, heads, true, 2*b*81)
		rows := attendWindow(s.At("a"), in[0], side, heads, true, 2*b*27)
		one := attendWindow(s.At("a"), in[0], side, heads, true, 1)
		return []*Node{all, two, rows, one}
	}, tensors.FromFlatDataAndDimensions(x, b, side*side, heads*d)))(t)
	want := tensors.MustCopyFlatData[float32](out[0])
	for i, what := range []string{"two heads at once", "two rows at once", "one row at once"} {
		near.Check(t, what, tensors.MustCopyFlatData[float32](out[1+i]), want, 1e-5, 1e-6)
	}
	if near.Scale(want) < 0.1 {
		t.Errorf("values of scale %g", near.Scale(want))
	}
}

// TestBFloat16: half precision gives nearly the same masks.
func TestBFloat16(t *testing.T) {
	g := openGolden(t, "windows")
	e := openEncoder(t, g, Options{DType: dtypes.BFloat16})
	got := segment(t, e, g.prepared("0"), g.boxes("0"))
	for i, want := range g.Rows("0.logits") {
		equal := 0
		for k, v := range want {
			if (v > 0) == (got[i].Logits[k] > 0) {
				equal++
			}
		}
		if share := float64(equal) / float64(len(want)); share < 0.9 || share == 1 {
			t.Errorf("box %d: %.3f of the mask's pixels are the same", i, share)
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	g := openGolden(t, "bf16-shards")
	backend, p := testbackend.Any(t), g.prepared("0")
	for want, o := range map[string]Options{"dtype Int32": {DType: dtypes.Int32}, "epsilon -1": {Epsilon: -1},
		"epsilon NaN": {Epsilon: math.NaN()}} {
		_, err := NewEncoder(backend, g.Model, o)
		modeltest.CheckLine(t, err, want)
	}
	_, err := NewEncoder(nil, g.Model, Options{})
	modeltest.CheckLine(t, err, "needs a backend and a model")
	e := openEncoder(t, g, Options{})
	for want, p := range map[string]*Image{"was not prepared": nil, "not prepared by this model": {Pixels: p.Pixels},
		"prepared by this": {Width: 3, Height: 3, Pixels: p.Pixels[1:]}} {
		_, err := e.Segment(context.Background(), p, []Box{{1, 1, 2, 2}})
		modeltest.CheckLine(t, err, want)
	}
	inf := math.Inf(1)
	for _, bad := range []Box{{3, 3, 3, 4}, {3, 3, 4, 3}, {5, 5, 4, 4}, {0, 0, math.NaN(), 1}, {0, 0, 1, inf},
		{-inf, 0, 1, 1}, {0, 0, 1e30, 1}} {
		_, err := e.Segment(context.Background(), p, []Box{{1, 1, 2, 2}, bad})
		modeltest.CheckLine(t, err, "sam: box 2, ")
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
	if _, err := e.Segment(ctx, p, g.boxes("0")); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := g.Prepare(nil); err == nil {
		t.Error("no image is prepared")
	}
	_, err = g.Prepare(preprocess.NewRGB(1, 9000))
	modeltest.CheckLine(t, err, "too narrow")
	if err := e.Load(); err != nil || e.Bytes() == 0 {
		t.Errorf("%d bytes, %v", e.Bytes(), err)
	}
	e.Close()
	e.Close()
	_, err = e.Segment(context.Background(), p, g.boxes("0"))
	modeltest.CheckLine(t, err, "sam: the encoder is closed")
}
