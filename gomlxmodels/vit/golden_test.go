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

	"antipode/gomlxmodels/weights"
	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// goldens are the folders internal/pyref/vit.py makes.
var goldens = []string{"hf-pooler-odd", "hf-classifier-oblong", "hf5-memory", "hf-bf16-shards", "timm-plain", "timm-registers", "timm-clip-quickgelu"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	set *weights.Set
	t   testing.TB
}

func openGolden(t testing.TB, name string) golden {
	t.Helper()
	dir := filepath.Join("testdata", name)
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := weights.OpenFiles(filepath.Join(dir, "golden.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return golden{m, set, t}
}

func (g golden) values(name string) []float32 {
	g.t.Helper()
	v, err := g.set.Float32(name)
	if err != nil {
		g.t.Fatal(err)
	}
	return v
}

func (g golden) tensor(name string) *tensors.Tensor {
	info, _ := g.set.Info(name)
	return tensors.FromFlatDataAndDimensions(g.values(name), info.Shape...)
}

func (g golden) object() *tensors.Tensor {
	info, _ := g.set.Info("object")
	var flat []bool
	for _, v := range g.values("object") {
		flat = append(flat, v != 0)
	}
	return tensors.FromFlatDataAndDimensions(flat, info.Shape...)
}

// run evaluates a graph of the model with its weights loaded.
func (g golden) run(backend compute.Backend, h heads, fn func(*model.Scope, []*Node) []*Node, args ...any) [][]float32 {
	g.t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	if err := weights.Load(store.RootScope(), g.Model.set, table(g.cfg, g.layout, g.prefix, h), dtypes.Float32); err != nil {
		g.t.Fatal(err)
	}
	exec, err := model.NewExec(backend, store, fn)
	if err != nil {
		g.t.Fatal(err)
	}
	defer exec.Finalize()
	out, gr, err := exec.CallWithGraph(args...)
	if err != nil {
		g.t.Fatal(err)
	}
	if err := weights.Check(store, gr); err != nil {
		g.t.Fatal(err)
	}
	flat := make([][]float32, len(out))
	for i, o := range out {
		flat[i] = tensors.MustCopyFlatData[float32](o)
	}
	return flat
}

// TestEqualReference compares every stage and the masked embeddings with the reference libraries.
func TestEqualReference(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) { checkReference(t, testbackend.XLA(t), name) })
	}
	t.Run("pure Go", func(t *testing.T) { checkReference(t, testbackend.Go(t), "hf-pooler-odd") })
	t.Run("pure Go, registers", func(t *testing.T) { checkReference(t, testbackend.Go(t), "timm-registers") })
}

func checkReference(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	h := heads{pooler: g.set.Has("pooled")}
	if g.set.Has("logits") {
		h.classes = g.classes()
	}
	var names []string
	got := g.run(backend, h, func(s *model.Scope, in []*Node) []*Node {
		out := Forward(s, g.cfg, in[0], GraphOptions{Stages: true, Pooler: h.pooler, Classes: h.classes, Object: in[1]})
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
	}, g.tensor("pixels"), g.object())
	if len(names) != len(got) || len(got) < 5+g.cfg.Layers {
		t.Fatalf("%d stages, %d names", len(got), len(names))
	}
	worst := 0.0
	for i, n := range names {
		near.Check(t, n, got[i], g.values(n), 1e-4, 1e-5)
		d, _ := near.Worst(got[i], g.values(n))
		worst = max(worst, d)
	}
	near.Check(t, "neginf.object", got[3], g.values("neginf.object"), 1e-4, 1e-5)
	near.Check(t, "neginf.background", got[4], g.values("neginf.background"), 1e-4, 1e-5)
	t.Logf("worst difference of any stage: %.2g", worst)
}

// TestZeroProbEqualsReference does the same for the third reading, which is no other name for the first two.
func TestZeroProbEqualsReference(t *testing.T) {
	for _, c := range []struct {
		name    string
		backend func(testing.TB) compute.Backend
	}{{"hf-pooler-odd", testbackend.XLA}, {"timm-registers", testbackend.XLA}, {"hf5-memory", testbackend.Go}, {"timm-plain", testbackend.Go}} {
		t.Run(c.name, func(t *testing.T) {
			backend := c.backend(t)
			g := openGolden(t, c.name)
			got := g.run(backend, heads{}, func(s *model.Scope, in []*Node) []*Node {
				out := Forward(s, g.cfg, in[0], GraphOptions{Object: in[1], Masking: ZeroProb})
				return []*Node{out.Object, out.Background}
			}, g.tensor("pixels"), g.object())
			near.Check(t, "object only", got[0], g.values("zeroprob.object"), 1e-4, 1e-5)
			near.Check(t, "background only", got[1], g.values("zeroprob.background"), 1e-4, 1e-5)
			if near.Compare(got[0], g.values("drop.object"), 1e-3, 1e-3) == nil {
				t.Error("zeroprob gives what drop gives: it masks in the wrong place")
			}
		})
	}
}
