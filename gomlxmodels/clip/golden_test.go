package clip

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
)

// goldens are the folders tools/pyref/clip.py makes.
var goldens = []string{"quickgelu-legacy-end", "gelu-odd-patch", "inner-end", "bf16-shards", "old-hub", "siglip",
	"open-clip"}

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

// run evaluates one tower with its weights loaded.
func (g golden) run(backend compute.Backend, t tower, fn func(*model.Scope, []*Node) []*Node, arg any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend, func(s *model.Store) error {
		return weights.Load(s.RootScope(), g.Weights, table(g.cfg, g.Weights, t), dtypes.Float32)
	}, fn, arg)
}

// checkGolden compares every stage of both towers with transformers, and what [Encoder] returns.
func checkGolden(t *testing.T, backend compute.Backend, name string) {
	checkReference(t, backend, name)
	checkEncoder(t, backend, name)
}

func checkReference(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	check := g.Stages(modeltest.Within(1e-4, 1e-5))
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
		names, list = stages("image.", ForwardImage(s, g.cfg, in[0], GraphOptions{Tokens: true}), false)
		return list
	}, g.Tensor("pixels"))
	if len(got) != 3+g.cfg.Vision.Layers {
		t.Fatalf("%d stages of the image tower", len(got))
	}
	for i, n := range names {
		check(n, got[i])
	}
	got = g.run(backend, textTower, func(s *model.Scope, in []*Node) (list []*Node) {
		names, list = stages("text.", ForwardText(s, g.cfg, in[0], GraphOptions{Tokens: true}), true)
		return list
	}, g.IntTensor("ids"))
	if len(got) != 4+g.cfg.Text.Layers {
		t.Fatalf("%d stages of the text tower", len(got))
	}
	for i, n := range names {
		check(n, got[i])
	}
}

// checkEncoder compares embeddings and logits, and an image through the preprocessing too.
func checkEncoder(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	e := must.Get(NewEncoder(backend, g.Model, Options{Batch: 3, Tokens: 200}))(t)
	defer e.Close()
	images := must.Get(e.EncodeImages(context.Background(), g.Rows("pixels")))(t)
	ids := g.IntRows("ids")
	if g.cfg.SigLIP { // whose texts come without padding
		tok, c := must.Get(g.Texts())(t), &g.cfg.Text
		for i, text := range []string{"a cat", "", "cats on the sea on the sea on the sea by night", "Ŝ"} {
			own := must.Get(tok.Encode(text, c.Context))(t).IDs
			must.EqualSlices(t, c.own(own), ids[i], text, "tokens", own, "padded")
			ids[i] = own
		}
		c.PadLeft = true
		if got := c.own([]int32{5}); got[11] != 5 || got[0] != c.Pad || len(got) != 12 {
			t.Errorf("padded on the left: %v", got)
		}
		c.PadLeft = false
	}
	texts := must.Get(e.EncodeTokens(context.Background(), ids))(t)
	for prefix, list := range map[string][]Embedding{"image.": images, "text.": texts} {
		for i, em := range list {
			near.Check(t, prefix+"pooled", em.Pooled, g.Rows(prefix + "pooled")[i], 1e-4, 1e-5)
			near.Check(t, prefix+"projected", em.Projected, g.Rows(prefix + "projected")[i], 1e-4, 1e-5)
		}
	}
	logits := must.Get(g.Logits(images, texts))(t)
	for i, row := range logits {
		want := make([]float64, len(row))
		for j, v := range g.Rows("logits")[i] {
			want[j] = float64(v)
		}
		near.Check(t, "logits", row, want, 1e-4, 1e-5)
	}
	if !g.Set.Has("picture") {
		return
	}
	pixels := must.Get(g.Prepare(g.Image("picture")))(t)
	near.Check(t, "processed", pixels, g.Values("processed"), 1e-5, 1e-5)
	if g.Set.Has("cmmd") {
		side := g.cfg.Vision.ImageSize
		cmmd := preprocess.CMMD(side)
		must.Do(t, cmmd.Validate(side, side))
		got := must.Get(cmmd.Apply(g.Image("picture"), side, side))(t)
		near.Check(t, "cmmd", got, g.Values("cmmd"), 1e-5, 1e-5)
	}
	one := must.Get(e.EncodeImages(context.Background(), [][]float32{pixels}))(t)
	near.Check(t, "picture.projected", one[0].Projected, g.Values("picture.projected"), 1e-4, 1e-4)
}
