package textenc

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// randomText is n tokens of the model's.
func randomText(rng *rand.Rand, m *Model, n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(4 + rng.IntN(m.cfg.VocabSize-4))
	}
	return ids
}

// TestProperties holds what holds for every model: neighbors, order, rows of a call and padding do not matter beyond
// rounding; each token does. mpnet-far takes texts of up to 152 tokens, so that rows of 64, 96, 128 and 192 are used.
func TestProperties(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		g := openGolden(t, "mpnet-far", ModePooler)
		rng := near.Rand(t, 5)
		var texts [][]int32
		for _, n := range []int{1, 64, 3, 8, 9, 16, 5, 65, 40, 152, 33, 2, 120, 7, 7, 7} {
			texts = append(texts, randomText(rng, g.Model, n))
		}
		e := newEncoder(t, backend, g.Model, Options{Tokens: 128}) // two rows of 64
		together := encode(t, e, texts...)
		same := func(what string, a, b Embedding) {
			t.Helper()
			near.Check(t, what, a.Vector, b.Vector, 1e-5, 2e-6)
			largest := 0.0
			for _, x := range a.Vector {
				largest = max(largest, math.Abs(float64(x)))
			}
			if d, at := near.Worst(a.Vector, b.Vector); d > 1e-6*largest { // the bound that docs/scale.md states
				t.Errorf("%s, value %d: %g apart, largest value %g", what, at, d, largest)
			}
			near.Check(t, what+", pooled", a.Pooled, b.Pooled, 1e-5, 2e-6)
		}
		order := rng.Perm(len(texts))
		var shuffled [][]int32
		for _, i := range order {
			shuffled = append(shuffled, texts[i])
		}
		for k, em := range encode(t, e, shuffled...) {
			same("in another order", em, together[order[k]])
		}
		other := newEncoder(t, backend, g.Model, Options{Tokens: 1000})
		for i, em := range encode(t, other, texts...) {
			same("in a call of other size", em, together[i])
		}
		for i, text := range texts {
			same("alone", encode(t, e, text)[0], together[i])
			if len(text) > 40 {
				continue
			}
			changed := slices.Clone(text)
			at := rng.IntN(len(text))
			changed[at] = 4 + (changed[at]-3)%int32(g.cfg.VocabSize-4)
			if near.Compare(encode(t, e, changed)[0].Vector, together[i].Vector, 1e-4, 1e-4) == nil {
				t.Errorf("text %d: token %d does not matter", i, at)
			}
		}
		near.Check(t, "the same text twice", encode(t, e, texts[4], texts[4])[1].Vector, together[4].Vector, 1e-5, 2e-6)
		if again := encode(t, e, texts...); !slices.EqualFunc(again, together,
			func(a, b Embedding) bool { return slices.Equal(a.Vector, b.Vector) }) {
			t.Error("a second call gives other numbers")
		}
		must.Equal(t, len(encode(t, e)), 0, "embeddings of nothing")
	})
}

func TestEncodeRefuses(t *testing.T) {
	g := openGolden(t, "bert-mean", "")
	rng := near.Rand(t, 7)
	e := newEncoder(t, testbackend.Go(t), g.Model, Options{})
	good := randomText(rng, g.Model, 4)
	for want, ids := range map[string][]int32{
		"text 2: 17 tokens, the model takes at most 16":          randomText(rng, g.Model, 17),
		"text 2: token 1 has id 50, the model's ids are 0 to 49": {50},
		"text 2: token 3 has id -1":                              {1, 9, -1},
		"text 2: it has no tokens":                               {},
	} {
		must.Fail(e.EncodeIDs(context.Background(), [][]int32{good, ids}))(t, want)
	}
	must.Fail(e.EncodeIDs(modeltest.Canceled(), [][]int32{good}))(t, "context canceled")
	for want, o := range map[string]Options{"tokens -1": {Tokens: -1}, "dtype Int32": {DType: dtypes.Int32}} {
		must.Fail(NewEncoder(testbackend.Go(t), g.Model, o))(t, want)
	}
	must.Fail(NewEncoder(nil, g.Model, Options{}))(t, "needs a backend and a model")
	must.Fail(e.Encode(context.Background(), []*Prepared{nil}))(t, "text 1: not prepared")
	var none *Encoder
	must.Fail(none.EncodeIDs(context.Background(), nil))(t, "textenc: ")
	must.Fail(none.Encode(context.Background(), nil))(t, "textenc: ")
	e.Close()
	e.Close()
	must.Fail(e.EncodeIDs(context.Background(), [][]int32{good}))(t, "the encoder is closed")
}

// TestMemory opens and closes encoders of some size: their memory must come back.
func TestMemory(t *testing.T) {
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		const words = 1 << 18 // 16 MiB of them
		dir := modeltest.CopyOf(t, "distilbert-mean")
		modeltest.Edit(t, dir+"/config.json", object{"vocab_size": words, "n_layers": 1})
		var list []weights.Tensor
		for _, w := range modeltest.Tensors(t, dir) {
			if w.Name == "embeddings.word_embeddings.weight" {
				w.Shape, w.Data = []int{words, w.Shape[1]}, make([]float32, words*w.Shape[1])
			}
			if !strings.Contains(w.Name, ".layer.1.") { // one block compiles faster
				list = append(list, w)
			}
		}
		modeltest.Save(t, dir, list)
		m := must.Get(Open(dir, OpenOptions{}))(t)
		round := func() {
			e := newEncoder(t, backend, m, Options{Tokens: 64})
			must.Equal(t, e.Bytes(), 0, "bytes of weights before they are needed")
			encode(t, e, []int32{5, 6})
			if n := e.Bytes(); n < 16<<20 || n > 17<<20 {
				t.Fatalf("an encoder holds %d bytes", n)
			}
			e.Close()
			must.Equal(t, e.Bytes(), 0, "bytes of a closed encoder")
		}
		modeltest.ComesBack(t, 3, round)
	})
}
