package clip

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// tiny is a small configuration: 16 patches, 2 blocks a tower, the usual context of 77 tokens, of which 90 is the
// end.
func tiny() Config {
	c := DefaultConfig()
	c.Text.VocabSize, c.Text.HiddenSize, c.Text.Layers, c.Text.Heads, c.Text.IntermediateSize, c.Text.EndToken = 100,
		16, 2, 2, 24, 90
	c.Vision.HiddenSize, c.Vision.Layers, c.Vision.Heads = 32, 2, 4
	c.Vision.IntermediateSize, c.Vision.ImageSize, c.Vision.PatchSize = 48, 32, 8
	c.ProjectionDim = 12
	return c
}

// randomFolder writes a model folder with random weights.
func randomFolder(t *testing.T, cfg Config) string {
	t.Helper()
	rng := near.Rand(t, 3)
	var list []weights.Tensor
	for _, r := range table(&cfg, nil, imageTower, textTower) {
		if r.Shape == nil {
			continue
		}
		n := 1
		for _, d := range r.Shape {
			n *= d
		}
		data := make([]float32, n)
		for i := range data {
			data[i] = 0.3 * float32(rng.NormFloat64())
		}
		list = append(list, weights.Tensor{Name: r.Tensor, Shape: r.Shape, Data: data})
	}
	text := must.Get(json.Marshal(struct {
		Type string `json:"model_type"`
		Config
	}{"clip", cfg}))(t)
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o600))
	must.Do(t, weights.Save(filepath.Join(dir, weights.SingleFile), list, nil, weights.F32))
	return dir
}

func open(t *testing.T, dir string) *Model {
	t.Helper()
	return must.Get(Open(dir))(t)
}

func newEncoder(t *testing.T, backend compute.Backend, m *Model, o Options) *Encoder {
	t.Helper()
	e := must.Get(NewEncoder(backend, m, o))(t)
	t.Cleanup(e.Close)
	return e
}

func encodeImages(t *testing.T, e *Encoder, images ...[]float32) []Embedding {
	t.Helper()
	return must.Get(e.EncodeImages(context.Background(), images))(t)
}

func encodeTokens(t *testing.T, e *Encoder, texts ...[]int32) []Embedding {
	t.Helper()
	return must.Get(e.EncodeTokens(context.Background(), texts))(t)
}

func randomImages(rng *rand.Rand, c *Config, n int) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, 3*c.Vision.ImageSize*c.Vision.ImageSize)
		for j := range out[i] {
			out[i][j] = float32(rng.NormFloat64())
		}
	}
	return out
}

// randomText is start, words, end: n tokens in all.
func randomText(rng *rand.Rand, c *Config, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = 1 + rng.Int32N(int32(c.Text.EndToken)-1)
	}
	ids[n-1] = int32(c.Text.EndToken)
	return ids
}

func equal(a, b Embedding) bool {
	return slices.Equal(a.Pooled, b.Pooled) && slices.Equal(a.Projected, b.Projected)
}

// TestProperties holds what holds for every model: neighbors, place, batch and padding do not matter; the input does.
func TestProperties(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		m, rng := open(t, randomFolder(t, tiny())), near.Rand(t, 5)
		c := m.Config()
		e := newEncoder(t, backend, m, Options{Batch: 3, Tokens: 200})
		images := randomImages(rng, c, 4)
		texts := [][]int32{randomText(rng, c, 77), randomText(rng, c, 3), randomText(rng, c, 16),
			randomText(rng, c, 17), randomText(rng, c, 40), randomText(rng, c, 5), randomText(rng, c, 64),
			randomText(rng, c, 1)}
		vectors, words := encodeImages(t, e, images...), encodeTokens(t, e, texts...)
		if len(vectors) != len(images) || len(words) != len(texts) || len(vectors[0].Pooled) != 32 ||
			len(words[0].Pooled) != 16 || len(words[0].Projected) != 12 {
			t.Fatalf("%d of %d images, %d of %d texts, widths %d, %d, %d", len(vectors), len(images), len(words),
				len(texts), len(vectors[0].Pooled), len(words[0].Pooled), len(words[0].Projected))
		}
		other := newEncoder(t, backend, m, Options{Batch: 1, Tokens: 900})
		for i, p := range images {
			if !equal(encodeImages(t, e, p)[0], vectors[i]) {
				t.Errorf("image %d alone differs from among others", i)
			}
			one := encodeImages(t, other, p)[0]
			near.Check(t, "image, batch of 1", one.Pooled, vectors[i].Pooled, 1e-5, 1e-6)
			near.Check(t, "image, batch of 1", one.Projected, vectors[i].Projected, 1e-5, 1e-5)
		}
		apart := encodeTokens(t, other, texts...)
		for i, ids := range texts {
			alone := encodeTokens(t, e, ids)[0]
			near.Check(t, "text alone", alone.Projected, words[i].Projected, 1e-5, 1e-5)
			near.Check(t, "text, other rows", apart[i].Projected, words[i].Projected, 1e-5, 1e-5)
			// docs/scale.md states this bound for texts that share a row with others.
			for _, v := range [][]float32{alone.Projected, apart[i].Projected} {
				if d, at := near.Worst(v, words[i].Projected); d > 1e-6*largest(v) {
					t.Errorf("text %d, value %d: %g apart from among others, largest value %g", i, at, d, largest(v))
				}
			}
			if n := len(ids); n < c.Text.Context {
				padded := slices.Concat(ids, randomText(rng, c, c.Text.Context-n)) // with a second end
				if !equal(encodeTokens(t, e, padded)[0], alone) {
					t.Errorf("text %d: what follows its end matters", i)
				}
			}
			if len(ids) > 1 {
				changed := slices.Clone(ids)
				changed[0] = 1 + changed[0]%80
				if near.Compare(encodeTokens(t, e, changed)[0].Projected, words[i].Projected, 1e-3, 1e-3) == nil {
					t.Errorf("text %d: its first token does not matter", i)
				}
			}
		}
		if again := encodeTokens(t, newEncoder(t, backend, m, Options{Batch: 3, Tokens: 200}),
			texts...); !slices.EqualFunc(again, words, equal) {
			t.Error("a second encoder gives other numbers")
		}
		if near.Compare(vectors[0].Projected, vectors[1].Projected, 1e-2, 1e-2) == nil {
			t.Error("two images, one embedding")
		}
		must.Equal(t, len(encodeImages(t, e))+len(encodeTokens(t, e)), 0, "embeddings of nothing")
	})
}

// TestLengths compares texts in rows with the graph of one text at its own length, on the pure Go backend, which
// compiles in no time.
func TestLengths(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		m, rng := open(t, randomFolder(t, tiny())), near.Rand(t, 6)
		e := newEncoder(t, backend, m, Options{Tokens: 200})
		for _, n := range []int{1, 4, 16, 21, 76} {
			ids := randomText(rng, m.Config(), n)
			want := golden{m, modeltest.Golden{T: t}}.run(testbackend.Go(t), textTower,
				func(s *model.Scope, in []*Node) []*Node {
					out := ForwardText(s, m.cfg, in[0], GraphOptions{})
					return []*Node{out.Pooled, out.Projected}
				}, tensors.FromFlatDataAndDimensions(slices.Clone(ids), 1, n))
			got := encodeTokens(t, e, ids)[0]
			near.Check(t, strconv.Itoa(n)+" tokens, pooled", got.Pooled, want[0], 1e-5, 1e-5)
			near.Check(t, strconv.Itoa(n)+" tokens, projected", got.Projected, want[1], 1e-5, 1e-5)
		}
	})
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		end  int
		ids  []int32
		want int
	}{
		{7, []int32{1, 7, 9, 7}, 1}, {7, []int32{1, 2}, -1}, {7, nil, -1},
		{2, []int32{1, 9, 2, 9}, 1}, {2, []int32{0, 0}, 0}, {2, nil, -1},
	} {
		must.Equal(t, (&TextConfig{EndToken: c.end}).End(c.ids), c.want, "the end", c.end, "of", c.ids, "is at")
	}
}

func TestEncodeRefuses(t *testing.T) {
	m := open(t, randomFolder(t, tiny()))
	rng, c := near.Rand(t, 7), m.Config()
	e := newEncoder(t, testbackend.Go(t), m, Options{})
	good, img := randomText(rng, c, 4), randomImages(rng, c, 1)[0]
	for want, ids := range map[string][]int32{
		"text 2: 78 tokens, the model takes at most 77":           randomText(rng, c, 78),
		"text 2: token 1 has id 100, the model's ids are 0 to 99": {100, 90},
		"text 2: token 3 has id -1":                               {1, 90, -1},
		"text 2: no end-of-text token (id 90)":                    {1, 2, 3},
		"text 2: it has no tokens":                                {},
	} {
		must.Fail(e.EncodeTokens(context.Background(), [][]int32{good, ids}))(t, want)
	}
	for want, p := range map[string][]float32{"image 2: 5 pixel values, the model takes 3072": make([]float32, 5),
		"image 2: 0 pixel": nil} {
		must.Fail(e.EncodeImages(context.Background(), [][]float32{img, p}))(t, want)
	}
	nan := slices.Clone(img)
	nan[3] = float32(math.NaN())
	must.Fail(e.EncodeImages(context.Background(), [][]float32{img, nan}))(t, "image 2: the network gave NaN")
	must.Fail(e.EncodeImages(modeltest.Canceled(), [][]float32{img}))(t, "context canceled")
	must.Fail(e.EncodeTokens(modeltest.Canceled(), [][]int32{good}))(t, "context canceled")
	for want, o := range map[string]Options{"batch -1": {Batch: -1}, "tokens 2097152": {Tokens: 1 << 21},
		"dtype Int32": {DType: dtypes.Int32}} {
		must.Fail(NewEncoder(testbackend.Go(t), m, o))(t, want)
	}
	must.Fail(NewEncoder(nil, m, Options{}))(t, "needs a backend and a model")
	must.Fail(m.Prepare(nil))(t, "no image")
	var none *Encoder
	must.Fail(none.EncodeTokens(context.Background(), nil))(t, "clip: ")
	e.Close()
	e.Close()
	must.Fail(e.EncodeImages(context.Background(), [][]float32{img}))(t, "the encoder is closed")
	must.Fail(e.EncodeTokens(context.Background(), [][]int32{good}))(t, "the encoder is closed")
}

func TestLogitsRefuse(t *testing.T) {
	m := open(t, filepath.Join("testdata", "inner-end"))
	good := Embedding{Projected: make([]float32, 24)}
	must.Fail(m.Logits([]Embedding{good, {}}, nil))(t, "image 2: a vector of 0 numbers, the model's have 24")
	must.Equal(t, must.Get(m.Logits([]Embedding{good}, []Embedding{good}))(t)[0][0], 0, "zeros")
	must.Near(t, m.LogitScale(), math.Exp(1.7), 1e-6, "logit scale")
}

// TestBFloat16 runs the same weights in bfloat16, which keeps 8 bits.
func TestBFloat16(t *testing.T) {
	g := openGolden(t, "gelu-odd-patch")
	e := newEncoder(t, testbackend.QuickXLA(t), g.Model, Options{DType: dtypes.BFloat16, Tokens: 100})
	for name, list := range map[string][]Embedding{"image.pooled": encodeImages(t, e, g.Rows("pixels")...),
		"text.pooled": encodeTokens(t, e, g.IntRows("ids")...)} {
		for i, em := range list {
			want := g.Rows(name)[i]
			if d, _ := near.Worst(em.Pooled, want); d > 0.15*near.Scale(want) || d == 0 {
				t.Errorf("%s %d: worst difference %v at scale %v", name, i, d, near.Scale(want))
			}
		}
	}
}

// TestMemory opens and closes encoders of some size: their memory must come back; and one of vectors holds no words.
func TestMemory(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		c := tiny()
		c.Text.VocabSize, c.Text.EndToken = 1<<18, 90 // 16 MiB of words
		c.Text.Layers, c.Vision.Layers = 1, 1
		m, rng := open(t, randomFolder(t, c)), near.Rand(t, 8)
		img, text := randomImages(rng, &c, 1)[0], randomText(rng, &c, 4)
		e := newEncoder(t, backend, m, Options{Batch: 1, Tokens: 1})
		encodeImages(t, e, img)
		if n := e.Bytes(); n < 1000 || n > 1<<20 {
			t.Errorf("an encoder of images holds %d bytes", n)
		}
		e.Close()
		round := func() {
			e := newEncoder(t, backend, m, Options{Batch: 1, Tokens: 1})
			encodeTokens(t, e, text)
			if n := e.Bytes(); n < 16<<20 {
				t.Fatalf("an encoder of words holds %d bytes", n)
			}
			e.Close()
			must.Equal(t, e.Bytes(), 0, "bytes of a closed encoder")
		}
		modeltest.ComesBack(t, 3, round)
	})
}

// largest returns the largest magnitude of a vector's values.
func largest(v []float32) (l float64) {
	for _, x := range v {
		l = max(l, math.Abs(float64(x)))
	}
	return l
}
