package dallemini

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	gomlx "github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/vqgan"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/dallemini.py makes.
var goldens = []string{"mini", "mega", "odd"}

const scale = 10

// folder is a golden's folder with its weights.
func folder(t testing.TB, name string) string {
	t.Helper()
	return modeltest.Computed(t, filepath.Join("testdata", name), VQGANFolder)
}

func openGolden(t testing.TB, name string) (*Model, modeltest.Golden) {
	t.Helper()
	dir := folder(t, name)
	return must.Get(Open(dir))(t), modeltest.Open(t, dir)
}

// bools is a tensor of zeros and ones as a graph takes a mask.
func bools(g modeltest.Golden, name string) *gomlx.Tensor {
	var out []bool
	for _, v := range g.Values(name) {
		out = append(out, v != 0)
	}
	return gomlx.FromFlatDataAndDimensions(out, g.Shape(name)...)
}

// TestStages compares the encoder's states, and the logits of both branches in one pass without a cache, with
// min-dalle's.
func TestStages(t *testing.T) {
	testbackend.Each(t, goldens, checkStages)
}

func checkStages(t *testing.T, backend compute.Backend, name string) {
	m, g := openGolden(t, name)
	c := m.Config
	load := func(s *model.Store) error { return weights.Load(s.RootScope(), m.set, rules(c, m.set), dtypes.Float32) }
	tokens := append([]int32{int32(*c.Start)}, g.IntRows("tokens")[0][:c.ImageLength-1]...)
	got := modeltest.Run(t, backend, load, func(s *model.Scope, in []*Node) []*Node {
		ids, valid := in[0], in[1]
		p, n, length := ids.Shape().Dim(0), 2, c.TextLength
		states := ForwardText(s, c, Reshape(ids, p*n, length), Reshape(valid, p*n, length), GraphOptions{})
		contexts := ForwardContext(s, c, Slice(ids, AxisElem(0)), Slice(valid, AxisElem(0)), GraphOptions{})
		both := ForwardImage(s, c, textgen.Inputs{IDs: in[2], Positions: Iota(in[2].Graph(), in[2].Shape(), 1),
			Context: contexts, Cache: textgen.NewCache(32)}, scale, GraphOptions{AllLogits: true})
		return []*Node{states, both}
	}, g.IntTensor("ids"), bools(g, "valid"), gomlx.FromFlatDataAndDimensions(tokens, 1, c.ImageLength))
	valid, width := g.Values("valid"), c.Width
	states := g.Values("states")
	for i, v := range valid { // what is computed for padding does not matter
		if v == 0 {
			clear(got[0][i*width : (i+1)*width])
			clear(states[i*width : (i+1)*width])
		}
	}
	near.Check(t, "states", got[0], states, 1e-4, 1e-4)
	logits := g.Values("both.logits")
	near.Check(t, "both.logits", got[1], logits, 1e-4, 1e-4*near.Scale(logits))
}

// TestImages compares greedy tokens with min-dalle's, token for token, the logits of every step, and pixels.
func TestImages(t *testing.T) {
	testbackend.Each(t, goldens, func(t *testing.T, backend compute.Backend, name string) {
		for _, batch := range []int{1, 4} {
			checkImages(t, backend, name, batch)
		}
	})
}

func newSampler(t testing.TB, backend compute.Backend, m *Model, scale float64, batch int) *vqgan.Sampler {
	t.Helper()
	n := must.Get(m.Network(scale))(t)
	s := must.Get(vqgan.NewSampler(backend, n, m.VQGAN, vqgan.SamplerOptions{Batch: batch}))(t)
	t.Cleanup(s.Close)
	return s
}

func checkImages(t *testing.T, backend compute.Backend, name string, batch int) {
	m, g := openGolden(t, name)
	s := newSampler(t, backend, m, scale, batch)
	var requests []vqgan.Request
	for i, ids := range g.IntRows("ids") {
		length, text := m.Config.TextLength, ids[:m.Config.TextLength]
		valid := g.Rows("valid")[i][:length]
		n := slices.Index(append(slices.Clone(valid), 0), 0)
		requests = append(requests, vqgan.Request{Text: text[:n]})
	}
	steps, vocab := m.Config.ImageLength, m.Config.ImageVocab+1
	logits := make([][]float32, len(requests))
	row := 0 // of the batch's first request
	told := 0
	results, err := s.Generate(context.Background(), requests, textgen.Options{Trace: func(step int, all [][]float32) {
		for i := row; i < min(row+batch, len(requests)); i++ {
			logits[i] = append(logits[i], all[i-row]...)
		}
		if step == steps-1 {
			row += batch
		}
	}}, func(done, total int) {
		if told++; total != steps || done < 1 || done > steps {
			t.Errorf("progress %d of %d", done, total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	must.Equal(t, told, ((len(requests)+batch-1)/batch)*steps, "reports of progress")
	tokens, side := g.IntRows("tokens"), m.VQGAN.Config.Resolution
	for i, r := range results {
		must.EqualSlices(t, r.Tokens, tokens[i], "image", i, "tokens")
		want := g.Rows("logits")[i]
		near.Check(t, fmt.Sprint("logits ", i), logits[i], want[:steps*vocab], 1e-4, 2e-4*near.Scale(want))
		for k, v := range g.Rows("image")[i] {
			pixel := float64(r.Image.Pix[k/3*4+k%3])
			if d := pixel - float64(min(max(v, 0), 1)*255); d > 0.1 || d < -1.1 {
				t.Fatalf("image %d of side %d, value %d: %v, want %v rounded down", i, side, k, pixel, v*255)
			}
		}
	}
}

// TestTokens compares the tokens of prompts with those of the tokenizers library; what is longer keeps its end token.
func TestTokens(t *testing.T) {
	for _, name := range goldens {
		m, _ := openGolden(t, name)
		text := must.Get(os.ReadFile(filepath.Join("testdata", name, "texts.json")))(t)
		var list []struct {
			Text string
			IDs  []int32
		}
		if err := json.Unmarshal(text, &list); err != nil || len(list) == 0 {
			t.Fatal(err)
		}
		for _, c := range list {
			cut := len(c.IDs) > m.Config.TextLength
			if cut {
				c.IDs = append(c.IDs[:m.Config.TextLength-1], 2)
			}
			ids, truncated := must.Get2(m.Tokens(c.Text))(t)
			must.Equal(t, truncated, cut, c.Text)
			must.EqualSlices(t, ids, c.IDs, c.Text)
		}
		must.EqualSlices(t, m.empty, []int32{0, 2}, "the empty prompt")
	}
}
