package clipseg

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// scene gives n random images of a model, each with one to three random prompts.
func scene(t testing.TB, m *Model, n int) []Image {
	r := near.Rand(t, 1)
	cfg := m.Config()
	list := make([]Image, n)
	for i := range list {
		p := make([]float32, 3*cfg.Side*cfg.Side)
		for k := range p {
			p[k] = float32(r.NormFloat64())
		}
		list[i].Pixels = p
		for range 1 + r.IntN(3) {
			ids := make([]int32, 2+r.IntN(cfg.Text.Context-2))
			for k := range ids {
				ids[k] = 3 + r.Int32N(30)
			}
			ids[len(ids)-1] = int32(cfg.Text.EndToken)
			if cfg.Text.EndToken == 2 {
				ids[len(ids)-1] = int32(cfg.Text.VocabSize - 1)
			}
			list[i].Prompts = append(list[i].Prompts, ids)
		}
	}
	return list
}

func segment(t *testing.T, e *Encoder, list []Image) [][]Map {
	t.Helper()
	return must.Get(e.Segment(context.Background(), list))(t)
}

// TestAlone: a map is the same alone, in another order, with other prompts next to it, and whatever stands after its
// prompt's end.
func TestAlone(t *testing.T) {
	for name, backend := range map[string]compute.Backend{"refined": testbackend.Any(t),
		"simple-gelu": testbackend.Go(t)} {
		g := openGolden(t, name)
		e := must.Get(NewEncoder(backend, g.Model, Options{Batch: 3}))(t)
		defer e.Close()
		list := scene(t, g.Model, 7)
		all := segment(t, e, list)
		backwards := slices.Clone(list)
		slices.Reverse(backwards)
		reversed := segment(t, e, backwards)
		for i, p := range list {
			if len(all[i]) != len(p.Prompts) {
				t.Fatalf("%s, image %d: %d maps for %d prompts", name, i, len(all[i]), len(p.Prompts))
			}
			for k, ids := range p.Prompts {
				padded := append(slices.Clone(ids), 0, 1)
				one := segment(t, e, []Image{{p.Pixels, [][]int32{padded[:min(len(padded), g.cfg.Text.Context)]}}})
				if !slices.Equal(one[0][0].Logits, all[i][k].Logits) || !slices.Equal(reversed[len(list)-1-i][k].Logits,
					all[i][k].Logits) {
					t.Errorf("%s: image %d, prompt %d: its map depends on what else is in the batch", name, i, k)
				}
			}
		}
		if slices.Equal(all[0][0].Logits, all[1][0].Logits) {
			t.Errorf("%s: two images have one map", name)
		}
	}
}

// TestPromptsMatter: another prompt gives another map, and a prompt is computed once.
func TestPromptsMatter(t *testing.T) {
	g := openGolden(t, "refined")
	e := must.Get(NewEncoder(testbackend.Any(t), g.Model, Options{}))(t)
	defer e.Close()
	p := scene(t, g.Model, 1)[0]
	a, b := []int32{512, 5, 513}, []int32{512, 6, 7, 513}
	p.Prompts = [][]int32{a, b, a}
	maps := segment(t, e, []Image{p, p})
	if slices.Equal(maps[0][0].Logits, maps[0][1].Logits) {
		t.Error("two prompts give one map")
	}
	must.EqualSlices(t, maps[0][0].Logits, maps[1][2].Logits, "one prompt gives two maps")
	must.Equal(t, len(e.prompts), 2, "prompts kept, want 2")
	if none := segment(t, e, []Image{{Pixels: p.Pixels}}); len(none) != 1 || len(none[0]) != 0 {
		t.Errorf("an image without prompts gives %v", none)
	}
}

// TestHalfPrecision: bfloat16, which a request may name, stays near float32, root mean squares taken.
func TestHalfPrecision(t *testing.T) { checkHalf(t, dtypes.BFloat16, 0.1) }

func checkHalf(t *testing.T, dtype dtypes.DType, bound float64) {
	g := openGolden(t, "refined")
	want := g.Rows("logits")
	e := must.Get(NewEncoder(testbackend.QuickXLA(t), g.Model, Options{DType: dtype}))(t)
	defer e.Close()
	for i, maps := range segment(t, e, g.images()) {
		difference := make([]float32, len(want[i]))
		for k, v := range maps[0].Logits {
			difference[k] = v - want[i][k]
		}
		got, scale := near.Scale(difference), near.Scale(want[i])
		t.Logf("difference %.2g of the scale", got/scale)
		if got > bound*scale {
			t.Errorf("difference %.3g at scale %.3g", got, scale)
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	g := openGolden(t, "refined")
	backend := testbackend.Go(t)
	for _, o := range []Options{{Batch: -1}, {Batch: 5000}, {DType: dtypes.Int32}} {
		must.Fail(NewEncoder(backend, g.Model, o))(t)
	}
	must.Fail(NewEncoder(nil, g.Model, Options{}))(t) // no backend
	e := must.Get(NewEncoder(backend, g.Model, Options{}))(t)
	good := g.images()[0]
	long := make([]int32, 41)
	long[40] = 513
	for _, c := range []struct {
		p    Image
		want string
	}{
		{Image{good.Pixels[1:], good.Prompts}, "image 2: 6911 pixel values, the model takes 6912"},
		{Image{good.Pixels, [][]int32{good.Prompts[0], {}}},
			"image 2, prompt 2: it has no tokens, not even start and end"},
		{Image{good.Pixels, [][]int32{long}},
			"image 2, prompt 1: 41 tokens, the model takes at most 40: truncate it, keeping the end token"},
		{Image{good.Pixels, [][]int32{{512, 514}}},
			"image 2, prompt 1: token 2 has id 514, the model's ids are 0 to 513"},
		{Image{good.Pixels, [][]int32{{-1, 513}}},
			"image 2, prompt 1: token 1 has id -1, the model's ids are 0 to 513"},
	} {
		if _, err := e.Segment(context.Background(), []Image{good, c.p}); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	bad := Image{slices.Clone(good.Pixels), good.Prompts}
	bad.Pixels[3] = float32(math.NaN())
	must.Fail(e.Segment(context.Background(), []Image{bad}))(t, "out of range") // NaN pixels
	must.Fail(e.Segment(modeltest.Canceled(), []Image{good}))(t, "context canceled")
	if e.Bytes() == 0 {
		t.Error("loaded weights take no memory")
	}
	e.Close()
	e.Close()
	must.Fail(e.Segment(context.Background(), []Image{good}))(t) // a closed encoder
}

// resized is a whole map at another size.
func resized(t testing.TB, m Map, width, height int) (out []float32) {
	t.Helper()
	rows := must.Get(m.Resize(width, height))(t)
	for y, row := range rows {
		if len(out) != y*width || len(row) != width {
			t.Fatalf("row %d of %d values after %d", y, len(row), len(out))
		}
		out = append(out, row...)
	}
	return out
}

func TestResize(t *testing.T) {
	m := Map{2, []float32{0, 1, 2, 3}}
	must.EqualSlices(t, resized(t, m, 2, 2), m.Logits, "same size")
	// the middle of two rows, each at −1/4, 1/4, 3/4, 5/4
	near.Check(t, "4×1", resized(t, m, 4, 1), []float32{1, 1.25, 1.75, 2}, 1e-6, 1e-6)
	rows := must.Get(m.Resize(3, 3))(t)
	for y := range rows {
		if y == 1 {
			break // stopping early is fine
		}
	}
	for _, size := range [][2]int{{0, 3}, {3, -1}} {
		must.Fail(m.Resize(size[0], size[1]))(t)
	}
	must.Fail((Map{3, m.Logits}).Resize(4, 4))(t) // a map of the wrong side
}
