package vit

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/vit.py makes.
var goldens = []string{"hf-pooler-odd", "hf-classifier-oblong", "hf5-memory", "hf-bf16-shards", "timm-plain",
	"timm-registers", "timm-clip-quickgelu", "timm-dinov2-giant", "dinov2-down", "dinov2-giant-up",
	"dinov2-registers-down", "dinov2-registers-up", "siglip"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
}

func openGolden(t testing.TB, name string) golden {
	t.Helper()
	dir := filepath.Join("testdata", name)
	return golden{must.Get(Open(dir))(t), modeltest.Open(t, dir)}
}

func (g golden) object() *tensors.Tensor {
	info, _ := g.Set.Info("object")
	var flat []bool
	for _, v := range g.Values("object") {
		flat = append(flat, v != 0)
	}
	return tensors.FromFlatDataAndDimensions(flat, info.Shape...)
}

// run evaluates a graph of the model with its weights loaded.
func (g golden) run(backend compute.Backend, h heads, fn func(*model.Scope, []*Node) []*Node, args ...any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend, func(s *model.Store) error {
		rules := g.table()
		if g.layout != SigLIP {
			rules = table(g.cfg, g.layout, g.prefix, h)
		}
		return load(s.RootScope(), g.Weights, g.cfg, rules, dtypes.Float32)
	}, fn, args...)
}

// TestEqualReference compares every stage and the masked embeddings with the reference libraries.
func TestEqualReference(t *testing.T) {
	testbackend.Each(t, goldens, checkReference)
}

func checkReference(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	h := heads{pooler: g.Set.Has("pooled")}
	if g.Set.Has("logits") {
		h.classes = g.classes()
	}
	var names []string
	got := g.run(backend, h, func(s *model.Scope, in []*Node) []*Node {
		out := Forward(s, g.cfg, in[0], GraphOptions{Tokens: true, Pooler: h.pooler, Classes: h.classes, Object: in[1]})
		names = []string{"embedded", "norm", "cls", "drop.object", "drop.background"}
		list := []*Node{out.Embedded, out.Tokens, out.CLS, out.Object, out.Background}
		for i, b := range out.Blocks {
			names, list = append(names, fmt.Sprintf("block_%d", i)), append(list, b)
		}
		if h.pooler {
			names, list = append(names, "pooled"), append(list, out.Pooled)
		}
		if h.classes > 0 {
			names, list = append(names, "logits"), append(list, out.Logits)
		}
		return list
	}, g.Tensor("pixels"), g.object())
	if len(names) != len(got) || len(got) < 5+g.cfg.Layers {
		t.Fatalf("%d stages, %d names", len(got), len(names))
	}
	check := g.Stages(modeltest.Within(1e-4, 1e-5))
	for i, n := range names {
		check(n, got[i])
	}
	near.Check(t, "neginf.object", got[3], g.Values("neginf.object"), 1e-4, 1e-5)
	near.Check(t, "neginf.background", got[4], g.Values("neginf.background"), 1e-4, 1e-5)
}

// TestZeroProbEqualsReference does the same for the third reading, which is no other name for the first two.
func TestZeroProbEqualsReference(t *testing.T) {
	for _, c := range []struct {
		name    string
		backend func(testing.TB) compute.Backend
	}{{"hf-pooler-odd", testbackend.Any}, {"timm-registers", testbackend.Any}, {"hf5-memory", testbackend.Go},
		{"timm-plain", testbackend.Go}, {"dinov2-registers-down", testbackend.Go},
		{"siglip", testbackend.Go}} {
		t.Run(c.name, func(t *testing.T) {
			backend := c.backend(t)
			g := openGolden(t, c.name)
			got := g.run(backend, heads{}, func(s *model.Scope, in []*Node) []*Node {
				out := Forward(s, g.cfg, in[0], GraphOptions{Object: in[1], Masking: ZeroProb})
				return []*Node{out.Object, out.Background}
			}, g.Tensor("pixels"), g.object())
			near.Check(t, "object only", got[0], g.Values("zeroprob.object"), 1e-4, 1e-5)
			near.Check(t, "background only", got[1], g.Values("zeroprob.background"), 1e-4, 1e-5)
			if near.Compare(got[0], g.Values("drop.object"), 1e-3, 1e-3) == nil {
				t.Error("zeroprob gives what drop gives: it masks in the wrong place")
			}
		})
	}
}

// classes is the number of classes of the checkpoint's classification head, 0 where it has none.
func (m *Model) classes() int {
	for _, name := range []string{"classifier.weight", "head.weight"} {
		if t, ok := m.Weights.Info(name); ok && len(t.Shape) == 2 {
			return t.Shape[0]
		}
	}
	return 0
}
