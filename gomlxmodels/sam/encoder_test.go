package sam

import (
	"context"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestPaddingIsDropped: logits of the padding, further than a neighbor from the image, are in no mask.
func TestPaddingIsDropped(t *testing.T) {
	g := openGolden(t, "windows")
	e := must.Get(NewEncoder(testbackend.Any(t), g.Model, Options{}))(t)
	defer e.Close()
	maps := must.Get(e.Segment(context.Background(), g.prepared("1"), g.boxes("1")))(t)
	m := maps[0] // 30×75: the right is padding
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
	must.Fail((Map{}).Mask())(t) // no map
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

// TestEpsilon: an epsilon that is none is refused; what else encoders refuse is tested for SAM and SAM 2 in sam2.
func TestEpsilon(t *testing.T) {
	for want, epsilon := range map[string]float64{"epsilon -1": -1, "epsilon NaN": math.NaN()} {
		must.Fail(NewEncoder(testbackend.Any(t), openGolden(t, "windows").Model, Options{Epsilon: epsilon}))(t, want)
	}
}
