package blip2

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

func newEncoder(t *testing.T, backend compute.Backend, m *Model, p Pooling, o Options) *Encoder {
	t.Helper()
	e := must.Get(NewEncoder(backend, m, p, o))(t)
	t.Cleanup(e.Close)
	return e
}

// images are the vectors of a golden's images.
func (g golden) images(backend compute.Backend, p Pooling) [][]float32 {
	g.T.Helper()
	e := newEncoder(g.T.(*testing.T), backend, g.Model, p, Options{Batch: 2})
	out := must.Get(e.EncodeImages(g.T.Context(), g.Rows("pixels")))(g.T)
	if e.Bytes() == 0 {
		g.T.Error("a loaded model takes no memory")
	}
	return out
}

// mean and first are made of the golden's projected queries as the poolings say.
func (g golden) reduced(img int, p Pooling) []float32 {
	shape := g.Shape("projected")
	all := g.Rows("projected")[img]
	if p == First {
		return all[:shape[2]]
	}
	out, square := make([]float32, shape[2]), 0.0
	for i, v := range all {
		out[i%shape[2]] += v
	}
	for _, v := range out {
		square += float64(v) * float64(v)
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(square))
	}
	return out
}

// TestImages compares the vectors of images with transformers' outputs and their means.
func TestImages(t *testing.T) {
	names := append(slices.Clone(writers), sharing)
	testbackend.Each(t, names, func(t *testing.T, backend compute.Backend, name string) {
		m := must.Get(Open(filepath.Join("testdata", name)))(t) // whatever the language model is
		g := golden{m, modeltest.Open(t, m.Dir)}
		takes := func(p Pooling) bool {
			return backend == testbackend.Go(t) || name == sharing && (p == Pooled || p == All)
		} // XLA compiles slowly
		for p, tensor := range map[Pooling]string{Pooled: "vision.pooled", Patches: "patches",
			Queries: "queries"} {
			if !takes(p) {
				continue
			}
			for i, got := range g.images(backend, p) {
				want := g.Rows(tensor)[i]
				near.Check(t, string(p), got, want, 1e-4, 1e-4*near.Scale(want))
			}
		}
		if name != sharing {
			must.Fail(NewEncoder(backend, m, Projected, Options{}))(t, "needs the projection")
			return
		}
		for _, p := range []Pooling{Projected, First, All} {
			if !takes(p) {
				continue
			}
			for i, got := range g.images(backend, p) {
				want := g.Rows("projected")[i]
				if p != All {
					want = g.reduced(i, p)
				}
				near.Check(t, string(p), got, want, 1e-4, 1e-5)
			}
		}
	})
}

// TestTexts compares the vectors of texts, from their words, with transformers', and the likeness of images and
// texts.
func TestTexts(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		g := openGolden(t, sharing)
		var lines []struct {
			Text string
			IDs  []int32
		}
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(g.Dir, "texts.json")))(t), &lines))
		if len(lines) != 4 {
			t.Fatal(len(lines))
		}
		var ids [][]int32
		for _, l := range lines {
			e, err := g.PrepareText(l.Text)
			if err != nil || !slices.Equal(e.IDs, l.IDs) {
				t.Fatalf("%q: %v, %v; transformers has %v", l.Text, e.IDs, err, l.IDs)
			}
			ids = append(ids, e.IDs)
		}
		e := newEncoder(t, backend, g.Model, All, Options{})
		got := must.Get(e.EncodeTexts(t.Context(), ids))(t)
		images := must.Get(e.EncodeImages(t.Context(), g.Rows("pixels")))(t)
		for i, v := range got {
			near.Check(t, lines[i].Text, v, g.Rows("text")[i], 1e-4, 1e-5)
			for k, all := range images {
				dot := 0.0
				for j, x := range Closest(all, v) {
					dot += float64(x) * float64(v[j])
				}
				must.Near(t, dot, float64(g.Rows("likeness")[i][k]), 1e-5, "likeness of image", k, "and", lines[i].Text)
			}
			alone := must.Get(e.EncodeTexts(t.Context(), ids[i:i+1]))(t)
			near.Check(t, "alone", alone[0], v, 1e-4, 1e-6)
		}
	})
}

// TestImage: the preparation of an image is the processor's.
func TestImage(t *testing.T) {
	g := openGolden(t, sharing)
	pixels := must.Get(g.Prepare(g.Image("picture")))(t)
	near.Check(t, "pixels", pixels, g.Values("processed"), 0, 1e-5)
	must.Fail(g.Prepare(nil))(t, "no image")
}

// TestClosest: negative cosines too, and the first of equals.
func TestClosest(t *testing.T) {
	for _, c := range []struct{ all, text, want []float32 }{
		{[]float32{1, 0, 0, 1, 0.6, 0.8}, []float32{0, 1}, []float32{0, 1}},
		{[]float32{-1, 0, -0.6, -0.8}, []float32{0.6, 0.8}, []float32{-1, 0}},
		{[]float32{0, 1, 1, 0}, []float32{0.5, 0.5}, []float32{0, 1}},
	} {
		must.EqualSlices(t, Closest(c.all, c.text), c.want, c.all, "closest to", c.text)
	}
}

// TestHalf: in bfloat16 a vector is that of float32, more coarsely.
func TestHalf(t *testing.T) {
	g := openGolden(t, sharing)
	fine := g.images(testbackend.QuickXLA(t), Queries)
	e := newEncoder(t, testbackend.QuickXLA(t), g.Model, Queries, Options{DType: dtypes.BFloat16})
	coarse := must.Get(e.EncodeImages(t.Context(), g.Rows("pixels")))(t)
	for i := range fine {
		d, _ := near.Worst(coarse[i], fine[i])
		if s := near.Scale(fine[i]); d == 0 || d > 0.2*s {
			t.Errorf("image %d: worst difference %v at scale %v", i, d, s)
		}
	}
}

// TestEncoderErrors: one line that names what is wrong.
func TestEncoderErrors(t *testing.T) {
	g, writer := openGolden(t, sharing), openGolden(t, "opt")
	e := newEncoder(t, testbackend.Go(t), g.Model, Projected, Options{})
	_, err := e.EncodeImages(t.Context(), [][]float32{g.Rows("pixels")[0], {1}})
	must.Fail(err)(t, "image 2: 1 pixel values, the model takes 2352")
	for _, ids := range [][]int32{{}, {3, 99}, make([]int32, 41)} {
		must.Fail(e.EncodeTexts(t.Context(), [][]int32{{3, 4}, ids}))(t, "text 2: ")
	}
	must.Fail(e.EncodeImages(modeltest.Canceled(), g.Rows("pixels")))(t, "context canceled")
	bad := slices.Clone(g.Rows("pixels")[0])
	bad[3] = float32(math.NaN())
	must.Fail(e.EncodeImages(t.Context(), [][]float32{bad}))(t, "out of range")
	e.Close()
	e.Close()
	must.Fail(e.EncodeImages(t.Context(), g.Rows("pixels")))(t, "blip2: the encoder is closed")
	must.Fail(e.EncodeTexts(t.Context(), [][]int32{{3}}))(t, "blip2: the encoder is closed")
	must.Equal(t, e.Bytes(), 0, "closed", "bytes")
	_, err = newEncoder(t, testbackend.Go(t), writer.Model, Queries, Options{}).EncodeTexts(t.Context(), [][]int32{{3}})
	must.Fail(err)(t, "which the folder is not")
	must.Fail(NewEncoder(nil, g.Model, Queries, Options{}))(t, "needs a backend")
	must.Fail(NewEncoder(testbackend.Go(t), g.Model, "middle", Options{}))(t, `pooling "middle"`)
	must.Fail(NewEncoder(testbackend.Go(t), g.Model, Queries, Options{Batch: -1}))(t,
		"batch -1 is not between 1 and 4096")
}
