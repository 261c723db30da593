package textenc

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
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

// goldens are the folders tools/pyref/textenc.py makes, with the pooling they are opened with and the number of
// modules.
var goldens = []struct {
	name    string
	pooling Mode
	modules int
}{
	{"bert-mean", "", 2}, {"bert-joined-dense", "", 5}, {"bert-first-hub", ModePooler, 2},
	{"mpnet-far", ModePooler, 2}, {"mpnet-joined", "", 2}, {"mpnet-bf16-shards", "", 2},
	{"xlmr-inner-pad", "", 1}, {"roberta-left", "", 2}, {"xlmr-masked-lm", ModeMean, 1},
	{"camembert-pooler", ModePooler, 2},
	{"distilbert-mean", "", 2}, {"distilbert-masked-lm", "", 1}, {"distilbert-deep", "", 1},
	{"altclip", "", 4}, {"altclip-left", "", 4}, {"altclip-deep", "", 4}, {"altclip-text-alone", "", 3},
	{"mclip", "", 2}, {"mclip-deep", "", 2}, {"mclip-relu", "", 2},
}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
}

func openGolden(t testing.TB, name string, pooling Mode) golden {
	t.Helper()
	dir := filepath.Join("testdata", name)
	return golden{must.Get(Open(dir, OpenOptions{Pooling: pooling}))(t), modeltest.Open(t, dir)}
}

// shape is [texts, length].
func (g golden) shape() (int, int) {
	info, _ := g.Set.Info("ids")
	return info.Shape[0], info.Shape[1]
}

// texts are the ids without padding.
func (g golden) texts() (texts [][]int32) {
	n, l := g.shape()
	ids, mask := g.Ints("ids"), g.Ints("mask")
	for i := range n {
		var text []int32
		for j := range l {
			if mask[i*l+j] != 0 {
				text = append(text, ids[i*l+j])
			}
		}
		texts = append(texts, text)
	}
	return texts
}

// row is one text's part of a tensor.
func (g golden) row(name string, i int) []float32 {
	v := g.Values(name)
	n, _ := g.shape()
	d := len(v) / n
	return v[i*d : (i+1)*d]
}

// run evaluates the whole graph with its weights loaded.
func (m *Model) run(t testing.TB, backend compute.Backend, dtype dtypes.DType, fn func(*model.Scope, []*Node) []*Node,
	args ...any) [][]float32 {
	t.Helper()
	return modeltest.Run(t, backend, func(s *model.Store) error { return m.load(s.RootScope(), dtype) }, fn, args...)
}

// TestEqualReference compares every stage with the reference libraries, on both backends.
func TestEqualReference(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			g := openGolden(t, c.name, c.pooling)
			must.Equal(t, len(g.modules), c.modules, "modules")
			testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) { checkStages(t, backend, g) })
		})
	}
}

func checkStages(t *testing.T, backend compute.Backend, g golden) {
	n, l := g.shape()
	input := func(name string) any { return tensors.FromFlatDataAndDimensions(g.Ints(name), n, l) }
	var names []string
	got := g.run(t, backend, dtypes.Float32, func(s *model.Scope, in []*Node) []*Node {
		out := Forward(s, g.cfg, g.modules, Inputs{IDs: in[0], Positions: in[1], Segments: in[2]}, GraphOptions{})
		names = []string{"embedded"}
		list := []*Node{out.Embedded}
		for i, b := range out.Blocks {
			names, list = append(names, fmt.Sprintf("block_%d", i)), append(list, b)
		}
		for i, m := range out.Modules {
			names, list = append(names, fmt.Sprintf("module_%d", i)), append(list, m)
		}
		return list
	}, input("ids"), input("positions"), input("mask"))
	if len(got) != 1+g.cfg.Layers+len(g.modules) {
		t.Fatalf("%d stages", len(got))
	}
	mask, worst := g.Values("mask"), 0.0
	for i, name := range names {
		want := g.Values(name)
		if d := len(want) / len(mask); name[0] != 'm' { // of padding nothing is promised
			for j, m := range mask {
				if m == 0 {
					clear(got[i][j*d : (j+1)*d])
					clear(want[j*d : (j+1)*d])
				}
			}
		}
		near.Check(t, name, got[i], want, 1e-4, 1e-5)
		d, _ := near.Worst(got[i], want)
		worst = max(worst, d)
	}
	t.Logf("worst difference of any stage: %.2g", worst)
}

// leftMatters are the goldens whose padding stands left and moves positions, as transformers has it for BERT and
// DistilBERT: texts without padding give other numbers.
var leftMatters = map[string]bool{"bert-joined-dense": true, "distilbert-deep": true}

// TestEncoderEqualsReference uses [Encoder], which packs the three texts into one row.
func TestEncoderEqualsReference(t *testing.T) {
	for _, c := range goldens {
		t.Run(c.name, func(t *testing.T) {
			testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
				checkEncoder(t, backend, openGolden(t, c.name, c.pooling), leftMatters[c.name])
			})
		})
	}
}

func checkEncoder(t *testing.T, backend compute.Backend, g golden, left bool) {
	g.maxTokens = g.cfg.MaxTokens()
	e := newEncoder(t, backend, g.Model, Options{})
	got := encode(t, e, g.texts()...)
	for i, em := range got {
		must.Equal(t, len(em.Vector), g.Width(), "a vector of")
		if left && len(g.texts()[i]) < 12 {
			if near.Compare(em.Vector, g.row("vector", i), 1e-2, 1e-2) == nil {
				t.Errorf("text %d: padding on the left moves positions, yet the vector is the same", i)
			}
			continue
		}
		near.Check(t, "vector", em.Vector, g.row("vector", i), 1e-4, 1e-5)
		near.Check(t, "pooled", em.Pooled, g.row(fmt.Sprintf("module_%d", g.pooled), i), 1e-4, 1e-5)
	}
}

// TestPositions compares the positions of texts with those transformers gives.
func TestPositions(t *testing.T) {
	for _, c := range goldens {
		g := openGolden(t, c.name, c.pooling)
		if leftMatters[c.name] {
			continue
		}
		n, l := g.shape()
		want, mask := g.Ints("positions"), g.Ints("mask")
		for i, ids := range g.texts() {
			got := make([]int32, len(ids))
			g.cfg.positions(ids, got)
			for j := range l {
				if mask[i*l+j] == 0 {
					continue
				}
				must.Equal(t, got[0], want[i*l+j], c.name, "text", i, "of", n, "token", j, "position")
				got = got[1:]
			}
		}
	}
}

// TestDistanceBuckets compares every distance's bucket, edges of buckets included.
func TestDistanceBuckets(t *testing.T) {
	set := must.Get(weights.OpenFiles(filepath.Join("testdata", "distances.safetensors")))(t)
	distances := must.Get(set.Float32("distances"))(t)
	buckets, err := set.Float32("buckets")
	if err != nil || len(distances) < 1000 {
		t.Fatalf("%d distances, %v", len(distances), err)
	}
	for i, d := range distances {
		must.Equal(t, distanceBucket(0, int(d)), int(buckets[i]), "distance", d, "is in bucket")
	}
}

// TestBFloat16 runs the same weights in bfloat16, which keeps 8 bits.
func TestBFloat16(t *testing.T) {
	g := openGolden(t, "mpnet-far", ModePooler)
	e := newEncoder(t, testbackend.QuickXLA(t), g.Model, Options{DType: dtypes.BFloat16})
	for i, em := range encode(t, e, g.texts()...) {
		want := g.row("vector", i)
		if d, _ := near.Worst(em.Vector, want); d > 0.15*math.Max(near.Scale(want), 0.5) || d == 0 {
			t.Errorf("%d: worst difference %v at scale %v", i, d, near.Scale(want))
		}
	}
}

func newEncoder(t testing.TB, backend compute.Backend, m *Model, o Options) *Encoder {
	t.Helper()
	e := must.Get(NewEncoder(backend, m, o))(t)
	t.Cleanup(e.Close)
	return e
}

func encode(t testing.TB, e *Encoder, texts ...[]int32) []Embedding {
	t.Helper()
	return must.Get(e.EncodeIDs(context.Background(), texts))(t)
}
