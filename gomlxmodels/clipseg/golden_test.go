package clipseg

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

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// goldens are the folders internal/pyref/clipseg.py makes.
var goldens = []string{"refined", "simple-gelu", "odd-patch-fewer-positions", "bf16-shards", "old-hub"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	set *weights.Set
	t   testing.TB
}

func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openFolder(t, filepath.Join("testdata", name))
}

func openFolder(t testing.TB, dir string) golden {
	t.Helper()
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

func (g golden) shape(name string) []int {
	info, _ := g.set.Info(name)
	return info.Shape
}

func (g golden) tensor(name string) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(g.values(name), g.shape(name)...)
}

// rows gives a tensor's values cut along its first axis.
func (g golden) rows(name string) [][]float32 {
	v, n := g.values(name), g.shape(name)[0]
	out := make([][]float32, n)
	for i := range out {
		out[i] = v[i*len(v)/n : (i+1)*len(v)/n]
	}
	return out
}

// pictures are the golden's random pictures, each with its prompt.
func (g golden) pictures() (list []Picture) {
	ids := g.rows("ids")
	for i, pixels := range g.rows("pixels") {
		var prompt []int32
		for _, v := range ids[i] {
			prompt = append(prompt, int32(v))
		}
		list = append(list, Picture{pixels, [][]int32{prompt}})
	}
	return list
}

// run evaluates one part with its weights loaded.
func (g golden) run(backend compute.Backend, p part, fn func(*model.Scope, []*Node) []*Node, args ...any) [][]float32 {
	g.t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	if err := load(store, g.Model.set, g.cfg, p, dtypes.Float32); err != nil {
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

// TestEqualReference compares every stage with transformers, on both backends. Each part is given the reference's own inputs.
func TestEqualReference(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) { checkReference(openGolden(t, name), testbackend.XLA(t), within) })
		t.Run(name+", pure Go", func(t *testing.T) { checkReference(openGolden(t, name), testbackend.Go(t), within) })
	}
}

// within holds a stage to the reference's values.
func within(t testing.TB, stage string, got, want []float32) {
	t.Helper()
	near.Check(t, stage, got, want, 1e-4, 1e-4)
}

func checkReference(g golden, backend compute.Backend, compare func(t testing.TB, stage string, got, want []float32)) {
	worst := 0.0
	check := func(stage string, got []float32) {
		g.t.Helper()
		compare(g.t, stage, got, g.values(stage))
		d, _ := near.Worst(got, g.values(stage))
		worst = max(worst, d/near.Scale(g.values(stage)))
	}
	k := len(g.cfg.ExtractLayers)
	got := g.run(backend, visionPart, func(s *model.Scope, in []*Node) []*Node {
		v := ForwardVision(s, g.cfg, in[0], dtypes.Float32)
		return append(v.Blocks, v.Reduced...)
	}, g.tensor("pixels"))
	for i, layer := range g.cfg.ExtractLayers {
		check(fmt.Sprintf("vision.block_%d", layer), got[i])
		check(fmt.Sprintf("decoder.reduce_%d", i), got[k+i])
	}
	ids := []int32{}
	for _, v := range g.values("ids") {
		ids = append(ids, int32(v))
	}
	got = g.run(backend, textPart, func(s *model.Scope, in []*Node) []*Node {
		return []*Node{clip.ForwardText(s, &g.cfg.Config, in[0], clip.GraphOptions{}).Projected}
	}, tensors.FromFlatDataAndDimensions(ids, g.shape("ids")...))
	check("conditional", got[0])
	var args []any
	for i := range k {
		args = append(args, g.tensor(fmt.Sprintf("decoder.reduce_%d", i)))
	}
	got = g.run(backend, decoderPart, func(s *model.Scope, in []*Node) []*Node {
		d := ForwardDecoder(s, g.cfg, in[:k], in[k], dtypes.Float32)
		return append(d.Layers, d.Logits)
	}, append(args, g.tensor("conditional"))...)
	for i := range k {
		check(fmt.Sprintf("decoder.layer_%d", i), got[i])
	}
	check("logits", got[k])
	g.t.Logf("worst difference of any stage: %.2g of its scale", worst)
}

// TestEncoderEqualsReference goes through the Go door: logits, and a picture through preprocessing and back to its own size.
func TestEncoderEqualsReference(t *testing.T) {
	for _, name := range goldens {
		if name == "refined" || name == "odd-patch-fewer-positions" { // compiling the others too would cost time and show nothing new
			t.Run(name, func(t *testing.T) { checkEncoder(openGolden(t, name), testbackend.XLA(t), within) })
		}
		t.Run(name+", pure Go", func(t *testing.T) { checkEncoder(openGolden(t, name), testbackend.Go(t), within) })
	}
}

func checkEncoder(g golden, backend compute.Backend, compare func(t testing.TB, stage string, got, want []float32)) {
	t := g.t
	e, err := NewEncoder(backend, g.Model, Options{Batch: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	pictures := g.pictures()
	maps, err := e.Segment(context.Background(), pictures)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range g.rows("logits") {
		compare(t, "logits", maps[i][0].Logits, want)
	}
	if !g.set.Has("picture") {
		return
	}
	shape := g.shape("picture")
	picture := preprocess.NewRGB(shape[1], shape[0])
	for i, v := range g.values("picture") {
		picture.Pix[i] = uint8(v)
	}
	pixels, err := g.Prepare(picture)
	if err != nil {
		t.Fatal(err)
	}
	near.Check(t, "processed", pixels, g.values("processed"), 1e-5, 1e-5)
	maps, err = e.Segment(context.Background(), []Picture{{pixels, pictures[0].Prompts}})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "picture.logits", maps[0][0].Logits, g.values("picture.logits"))
	compare(t, "picture.large", resized(t, maps[0][0], picture.Width, picture.Height), g.values("picture.large"))
}
