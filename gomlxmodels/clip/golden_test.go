package clip

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// goldens are the folders internal/pyref/clip.py makes.
var goldens = []string{"quickgelu-legacy-end", "gelu-odd-patch", "inner-end", "bf16-shards", "old-hub"}

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

// rows gives a tensor's values cut along its first axis.
func (g golden) rows(name string) [][]float32 {
	v, info := g.values(name), g.info(name)
	n := len(v) / info[0]
	out := make([][]float32, info[0])
	for i := range out {
		out[i] = v[i*n : (i+1)*n]
	}
	return out
}

func (g golden) info(name string) []int {
	info, _ := g.set.Info(name)
	return info.Shape
}

func (g golden) texts() (texts [][]int32) {
	for _, row := range g.rows("ids") {
		ids := make([]int32, len(row))
		for i, v := range row {
			ids[i] = int32(v)
		}
		texts = append(texts, ids)
	}
	return texts
}

// run evaluates one tower with its weights loaded.
func (g golden) run(backend compute.Backend, t tower, fn func(*model.Scope, []*Node) []*Node, arg any) [][]float32 {
	g.t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	if err := weights.Load(store.RootScope(), g.Model.set, table(g.cfg, g.Model.set, t), dtypes.Float32); err != nil {
		g.t.Fatal(err)
	}
	exec, err := model.NewExec(backend, store, fn)
	if err != nil {
		g.t.Fatal(err)
	}
	defer exec.Finalize()
	out, gr, err := exec.CallWithGraph(arg)
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

// TestEqualReference compares every stage of both towers with transformers, on both backends.
func TestEqualReference(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) { checkReference(t, testbackend.XLA(t), name) })
		t.Run(name+", pure Go", func(t *testing.T) { checkReference(t, testbackend.Go(t), name) })
	}
}

func checkReference(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	worst := 0.0
	check := func(stage string, got []float32) {
		near.Check(t, stage, got, g.values(stage), 1e-4, 1e-5)
		d, _ := near.Worst(got, g.values(stage))
		worst = max(worst, d)
	}
	stages := func(prefix string, out Outputs, tokens bool) (names []string, list []*Node) {
		names = []string{prefix + "embedded", prefix + "pooled", prefix + "projected"}
		list = []*Node{out.Embedded, out.Pooled, out.Projected}
		for i, b := range out.Blocks {
			names, list = append(names, fmt.Sprintf("%sblock_%d", prefix, i)), append(list, b)
		}
		if tokens {
			names, list = append(names, prefix+"norm"), append(list, out.Tokens)
		}
		return names, list
	}
	var names []string
	got := g.run(backend, imageTower, func(s *model.Scope, in []*Node) (list []*Node) {
		names, list = stages("image.", ForwardImage(s, g.cfg, in[0], GraphOptions{Stages: true}), false)
		return list
	}, tensors.FromFlatDataAndDimensions(g.values("pixels"), g.info("pixels")...))
	if len(got) != 3+g.cfg.Vision.Layers {
		t.Fatalf("%d stages of the image tower", len(got))
	}
	for i, n := range names {
		check(n, got[i])
	}
	flat := []int32{}
	for _, v := range g.values("ids") {
		flat = append(flat, int32(v))
	}
	got = g.run(backend, textTower, func(s *model.Scope, in []*Node) (list []*Node) {
		names, list = stages("text.", ForwardText(s, g.cfg, in[0], GraphOptions{Stages: true}), true)
		return list
	}, tensors.FromFlatDataAndDimensions(flat, g.info("ids")...))
	if len(got) != 4+g.cfg.Text.Layers {
		t.Fatalf("%d stages of the text tower", len(got))
	}
	for i, n := range names {
		check(n, got[i])
	}
	t.Logf("worst difference of any stage: %.2g", worst)
}

// TestEncoderEqualsReference goes through the Go door: embeddings and logits, and a picture through the preprocessing too.
func TestEncoderEqualsReference(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) { checkEncoder(t, testbackend.XLA(t), name) })
		t.Run(name+", pure Go", func(t *testing.T) { checkEncoder(t, testbackend.Go(t), name) })
	}
}

func checkEncoder(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	e, err := NewEncoder(backend, g.Model, Options{Batch: 3, Tokens: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	images, err := e.EncodeImages(context.Background(), g.rows("pixels"))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := e.EncodeTokens(context.Background(), g.texts())
	if err != nil {
		t.Fatal(err)
	}
	for prefix, list := range map[string][]Embedding{"image.": images, "text.": texts} {
		for i, em := range list {
			near.Check(t, prefix+"pooled", em.Pooled, g.rows(prefix + "pooled")[i], 1e-4, 1e-5)
			near.Check(t, prefix+"projected", em.Projected, g.rows(prefix + "projected")[i], 1e-4, 1e-5)
		}
	}
	logits, err := g.Logits(images, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range logits {
		want := make([]float64, len(row))
		for j, v := range g.rows("logits")[i] {
			want[j] = float64(v)
		}
		near.Check(t, "logits", row, want, 1e-4, 1e-5)
	}
	if !g.set.Has("picture") {
		return
	}
	shape, values := g.info("picture"), g.values("picture")
	picture := preprocess.NewRGB(shape[1], shape[0])
	for i, v := range values {
		picture.Pix[i] = uint8(v)
	}
	pixels, err := g.Prepare(picture)
	if err != nil {
		t.Fatal(err)
	}
	near.Check(t, "processed", pixels, g.values("processed"), 1e-5, 1e-5)
	one, err := e.EncodeImages(context.Background(), [][]float32{pixels})
	if err != nil {
		t.Fatal(err)
	}
	near.Check(t, "picture.projected", one[0].Projected, g.values("picture.projected"), 1e-4, 1e-4)
}
