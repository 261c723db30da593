package sam

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/sam.py makes.
var goldens = []string{"windows", "other-shape", "bf16-shards"}

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

// run evaluates one part with its weights loaded.
func (g golden) run(backend compute.Backend, p part, fn func(*model.Scope, []*Node) []*Node,
	args ...any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend,
		func(s *model.Store) error { return load(s, g.Weights, g.cfg, p, dtypes.Float32) }, fn, args...)
}

// boxes are the boxes of an image, in its own pixels.
func (g golden) boxes(name string) (list []Box) {
	for _, b := range g.Rows(name + ".boxes") {
		list = append(list, Box{float64(b[0]), float64(b[1]), float64(b[2]), float64(b[3])})
	}
	return list
}

// prepared is an image of the golden after the processor.
func (g golden) prepared(name string) *Image {
	g.T.Helper()
	return must.Get(g.Prepare(g.Image(name + ".picture")))(g.T)
}

// within holds a stage that is given the reference's own inputs, withinAll the result of all stages in a row.
var within, withinAll = modeltest.Within(1e-4, 1e-5), modeltest.Within(0, 1e-4)

// checkGolden compares all stages with transformers, and what [Encoder] makes of images.
func checkGolden(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	checkReference(g, backend, within)
	checkEncoder(g, backend, withinAll)
}

// checkReference compares every stage, each given the reference's own inputs.
func checkReference(g golden, backend compute.Backend, compare modeltest.Stage) {
	check := g.Stages(compare)
	layers, rounds := g.cfg.Vision.Layers, g.cfg.Decoder.Layers
	got := g.run(backend, imagePart, func(s *model.Scope, in []*Node) []*Node {
		v := ForwardVision(s, g.cfg, in[0], dtypes.Float32)
		return append(v.Blocks, v.Embedded, v.Embedding)
	}, g.Tensor("0.pixels"))
	for i := range layers {
		check(fmt.Sprintf("block_%d", i), got[i])
	}
	check("embedded", got[layers])
	check("image", got[layers+1])

	got = g.run(backend, masksPart, func(s *model.Scope, in []*Node) []*Node {
		m := ForwardMasks(s, g.cfg, in[0], in[1], g.cfg.Decoder.LayerNormEps, dtypes.Float32)
		return append(append(m.Tokens, m.Keys...), m.Positions, m.Corners, m.Upscaled, m.Logits, m.IoU)
	}, g.Tensor("image"), g.Tensor("0.scaled"))
	for i := range rounds {
		check(fmt.Sprintf("tokens_%d", i), got[i])
		check(fmt.Sprintf("keys_%d", i), got[rounds+1+i])
	}
	check("tokens", got[rounds])
	for i, stage := range []string{"positions", "corners", "upscaled", "0.logits", "0.iou"} {
		check(stage, got[2*rounds+1+i])
	}
}

// checkEncoder compares prepared pixels, logits, IoU, logits at the images' own size, masks.
func checkEncoder(g golden, backend compute.Backend, compare modeltest.Stage) {
	t := g.T
	e := must.Get(NewEncoder(backend, g.Model, Options{}))(t)
	defer e.Close()
	for i := 0; g.Set.Has(fmt.Sprintf("%d.picture", i)); i++ {
		name := fmt.Sprint(i)
		p := g.prepared(name)
		near.Check(t, name+".pixels", p.Pixels, g.Values(name+".pixels"), 1e-5, 1e-5)
		maps := must.Get(e.Segment(context.Background(), p, g.boxes(name)))(t)
		iou, logits, large := g.Values(name+".iou"), g.Rows(name+".logits"), g.Rows(name+".large")
		must.Equal(t, len(maps), len(logits), "image", name, "maps")
		for k, m := range maps {
			near.Check(t, name+".iou", []float32{m.IoU}, iou[k:k+1], 0, 1e-5)
			compare(t, name+".logits", m.Logits, logits[k])
			rows := must.Get(m.Rows())(t)
			var all []float32
			for _, row := range rows {
				all = append(all, row...)
			}
			compare(t, name+".large", all, large[k])
			checkMask(t, m, large[k])
		}
	}
}

// checkMask compares a mask and its scores with those of the reference's logits at the image's size.
func checkMask(t testing.TB, m Map, logits []float32) {
	t.Helper()
	got := must.Get(m.Mask())(t)
	var area, inner, outer, sum, unsure float64
	for i, v := range logits {
		if got.Pix[i] != (v > 0) && math.Abs(float64(v)) >= 1e-3 {
			t.Errorf("pixel %d is %t where the logit is %v", i, got.Pix[i], v)
		}
		for _, border := range []float64{-1, 0, 1} {
			if math.Abs(float64(v)-border) < 1e-3 {
				unsure++
			}
		}
		if v > -1 {
			outer++
		}
		if v > 1 {
			inner++
		}
		if v > 0 {
			area++
			sum += 1 / (1 + math.Exp(-float64(v)))
		}
	}
	// pixels near a border may be on its other side
	must.Near(t, got.Score, sum/max(1, area), 1e-4+unsure/max(1, area), "score")
	must.Equal(t, got.IoU, float64(m.IoU))
	must.Near(t, got.Stability, inner/max(1, outer), 1e-9+unsure/max(1, outer))
}

// TestOriginal: Pillow's resizing, and another epsilon in the norms of the decoder's layers and in no other.
func TestOriginal(t *testing.T) {
	g := openGolden(t, "windows")
	g.UsePillow()
	p := g.prepared("0")
	near.Check(t, "pixels", p.Pixels, g.Values("original.pixels"), 1e-5, 1e-5)
	if near.Compare(g.Values("0.logits"), g.Values("original.logits"), 0, 1e-3) == nil {
		t.Fatal("the golden is the same with each epsilon")
	}
	e := must.Get(NewEncoder(testbackend.Any(t), g.Model, Options{Epsilon: 1e-2}))(t)
	defer e.Close()
	maps := must.Get(e.Segment(context.Background(), p, g.boxes("0")))(t)
	for k, want := range g.Rows("original.logits") {
		withinAll(t, "logits", maps[k].Logits, want)
	}
}
