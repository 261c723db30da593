package sam2

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
)

// goldens are the folders tools/pyref/sam2.py makes.
var goldens = []string{"windows", "other-shape", "video"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
	sizes [][2]int // width and height of the images
}

func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openFolder(t, modeltest.Computed(t, filepath.Join("testdata", name)))
}

func openFolder(t testing.TB, dir string) golden {
	t.Helper()
	m := must.Get(Open(dir))(t)
	g := golden{Model: m, Golden: modeltest.Open(t, dir)}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "cases.json")))(t), &g.sizes))
	return g
}

// run evaluates one part with its weights loaded.
func (g golden) run(backend compute.Backend, p part, fn func(*model.Scope, []*Node) []*Node,
	args ...any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend, func(s *model.Store) error {
		return load(s, g.Weights, g.cfg, true, p, dtypes.Float32)
	}, fn, args...)
}

// image is an image of the golden.
func (g golden) image(i int) *preprocess.RGB { return modeltest.Image(g.sizes[i][0], g.sizes[i][1]) }

// prepared is an image of the golden after the processor.
func (g golden) prepared(i int) *Image {
	g.T.Helper()
	return must.Get(g.Prepare(g.image(i)))(g.T)
}

// within holds a stage that is given the reference's own inputs, withinAll the result of all stages in a row.
var within, withinAll = modeltest.Within(1e-4, 1e-5), modeltest.Scaled(0, 1e-4, 1)

// checkGolden compares all stages with transformers, and what [Encoder] makes of images.
func checkGolden(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	checkReference(g, backend, within)
	checkEncoder(g, backend, withinAll)
}

// checkReference compares every stage, each given the reference's own inputs.
func checkReference(g golden, backend compute.Backend, compare modeltest.Stage) {
	check := g.Stages(compare)
	got := g.run(backend, imagePart, func(s *model.Scope, in []*Node) []*Node {
		v := ForwardVision(s, g.cfg, in[0], dtypes.Float32)
		return append(append(v.Stages, v.Levels...), v.Embedded, v.Embedding, v.Half, v.Full)
	}, g.Tensor("pixels"))
	for i := range stages {
		check(fmt.Sprintf("stage_%d", i), got[i])
	}
	for i := range levels {
		check(fmt.Sprintf("level_%d", i), got[stages+i])
	}
	for i, stage := range []string{"embedded", "image", "half", "full"} {
		check(stage, got[stages+levels+i])
	}
	rounds := g.cfg.Decoder.Layers
	got = g.run(backend, masksPart, func(s *model.Scope, in []*Node) []*Node {
		m := ForwardMasks(s, g.cfg, Features{in[0], in[1], in[2]}, in[3], true, dtypes.Float32)
		return append(append(m.Tokens, m.Keys...), m.Prompts, m.Logits, m.IoU)
	}, g.Tensor("image"), g.Tensor("half"), g.Tensor("full"), g.Tensor("scaled"))
	for i := range rounds {
		check(fmt.Sprintf("tokens_%d", i), got[i])
		check(fmt.Sprintf("keys_%d", i), got[rounds+1+i])
	}
	check("tokens", got[rounds])
	for i, stage := range []string{"prompts", "masks", "ious"} {
		check(stage, got[2*rounds+1+i])
	}
}

// checkEncoder compares logits and IoU with and without the fallback, logits at the images' own size, masks.
func checkEncoder(g golden, backend compute.Backend, compare modeltest.Stage) {
	t := g.T
	near.Check(t, "pixels", g.prepared(0).Pixels, g.Values("pixels"), 1e-5, 1e-5)
	for _, first := range []bool{false, true} {
		e := must.Get(NewEncoder(backend, g.Model, Options{NoFallback: first}))(t)
		defer e.Close()
		for i := range g.sizes {
			name := fmt.Sprint(i)
			maps := must.Get(e.Segment(context.Background(), g.prepared(i), boxesOf(g.Golden, i)))(t)
			logits := g.Rows(name + ".logits")
			if first {
				logits = g.Rows(name + ".first")
			}
			must.Equal(t, len(maps), len(logits), "image", name, "maps")
			for k, m := range maps {
				compare(t, name+".logits", m.Logits, logits[k])
				if !first {
					near.Check(t, name+".iou", []float32{m.IoU}, g.Values(name + ".iou")[k:k+1], 0, 1e-5)
					checkMask(t, m, g.Rows(name + ".large")[k], compare)
				}
			}
		}
	}
}

// checkMask compares a map at the image's size, and its mask, with the reference's logits there.
func checkMask(t testing.TB, m Map, want []float32, compare modeltest.Stage) {
	t.Helper()
	rows := must.Get(m.Rows())(t)
	var all []float32
	for _, row := range rows {
		all = append(all, row...)
	}
	compare(t, "large", all, want)
	got := must.Get(m.Mask())(t)
	for i, v := range want {
		if got.Pix[i] != (v > 0) && math.Abs(float64(v)) >= 1e-3 {
			t.Errorf("pixel %d is %t where the logit is %v", i, got.Pix[i], v)
		}
	}
}

// TestFallback: the golden has boxes on both sides of the threshold, so that the fallback and its absence differ.
func TestFallback(t *testing.T) {
	g := openGolden(t, "windows")
	same, other := 0, 0
	for i := range g.sizes {
		first := g.Rows(fmt.Sprintf("%d.first", i))
		for k, best := range g.Rows(fmt.Sprintf("%d.logits", i)) {
			if near.Compare(best, first[k], 0, 0) == nil {
				same++
			} else {
				other++
			}
		}
	}
	if same == 0 || other == 0 {
		t.Errorf("%d boxes have the first mask, %d another", same, other)
	}
}
