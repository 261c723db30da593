package clipseg

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/clipseg.py makes.
var goldens = []string{"refined", "simple-gelu", "odd-patch-fewer-positions", "bf16-shards", "old-hub"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
}

func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openFolder(t, filepath.Join("testdata", name))
}

func openFolder(t testing.TB, dir string) golden {
	t.Helper()
	return golden{must.Get(Open(dir))(t), modeltest.Open(t, dir)}
}

// images are the golden's random images, each with its prompt.
func (g golden) images() (list []Image) {
	ids := g.IntRows("ids")
	for i, pixels := range g.Rows("pixels") {
		list = append(list, Image{pixels, ids[i : i+1]})
	}
	return list
}

// run evaluates one part with its weights loaded.
func (g golden) run(backend compute.Backend, p part, fn func(*model.Scope, []*Node) []*Node,
	args ...any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend,
		func(s *model.Store) error { return load(s, g.Weights, g.cfg, p, dtypes.Float32) }, fn, args...)
}

// within holds a stage to the reference's values. withinAll compares the result of all stages in a row, whose rounding
// adds up: XLA's code for a processor without AVX-512 differs by up to 2.4e-4, where each stage by itself stays within.
var within, withinAll = modeltest.Within(1e-4, 1e-4), modeltest.Within(1e-4, 3e-4)

// checkGolden compares all stages with transformers, and what [Encoder] returns.
func checkGolden(t *testing.T, backend compute.Backend, name string) {
	g, all := openGolden(t, name), within
	if backend != testbackend.Go(t) {
		all = withinAll
	}
	checkReference(g, backend, within)
	checkEncoder(g, backend, all)
}

// checkReference compares every stage, each given the reference's own inputs.
func checkReference(g golden, backend compute.Backend, compare modeltest.Stage) {
	check := g.Stages(compare)
	k := len(g.cfg.ExtractLayers)
	got := g.run(backend, visionPart, func(s *model.Scope, in []*Node) []*Node {
		v := ForwardVision(s, g.cfg, in[0], dtypes.Float32)
		return append(v.Blocks, v.Reduced...)
	}, g.Tensor("pixels"))
	for i, layer := range g.cfg.ExtractLayers {
		check(fmt.Sprintf("vision.block_%d", layer), got[i])
		check(fmt.Sprintf("decoder.reduce_%d", i), got[k+i])
	}
	got = g.run(backend, textPart, func(s *model.Scope, in []*Node) []*Node {
		return []*Node{clip.ForwardText(s, &g.cfg.Config, in[0], clip.GraphOptions{}).Projected}
	}, g.IntTensor("ids"))
	check("conditional", got[0])
	var args []any
	for i := range k {
		args = append(args, g.Tensor(fmt.Sprintf("decoder.reduce_%d", i)))
	}
	got = g.run(backend, decoderPart, func(s *model.Scope, in []*Node) []*Node {
		d := ForwardDecoder(s, g.cfg, in[:k], in[k], dtypes.Float32)
		return append(d.Layers, d.Logits)
	}, append(args, g.Tensor("conditional"))...)
	for i := range k {
		check(fmt.Sprintf("decoder.layer_%d", i), got[i])
	}
	check("logits", got[k])
}

// checkEncoder compares logits, and an image through preprocessing and back to its own size.
func checkEncoder(g golden, backend compute.Backend, compare modeltest.Stage) {
	t := g.T
	e := must.Get(NewEncoder(backend, g.Model, Options{Batch: 3}))(t)
	defer e.Close()
	images := g.images()
	maps := must.Get(e.Segment(context.Background(), images))(t)
	for i, want := range g.Rows("logits") {
		compare(t, "logits", maps[i][0].Logits, want)
	}
	if !g.Set.Has("picture") {
		return
	}
	img := g.Image("picture")
	pixels := must.Get(g.Prepare(img))(t)
	near.Check(t, "processed", pixels, g.Values("processed"), 1e-5, 1e-5)
	maps = must.Get(e.Segment(context.Background(), []Image{{pixels, images[0].Prompts}}))(t)
	compare(t, "picture.logits", maps[0][0].Logits, g.Values("picture.logits"))
	compare(t, "picture.large", resized(t, maps[0][0], img.Width, img.Height), g.Values("picture.large"))
}
