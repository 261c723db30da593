package blip

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/captiontest"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// goldens are the folders tools/pyref/blip.py makes.
var goldens = []string{"base", "large", "own-head-bf16", "old-hub"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
}

// openGolden opens one below testdata.
func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openIn(t, filepath.Join("testdata", name))
}

// openIn opens a folder of a model and its golden.
func openIn(t testing.TB, dir string) golden {
	t.Helper()
	return golden{must.Get(Open(dir))(t), modeltest.Open(t, dir)}
}

// images are the golden's, prepared.
func (g golden) images() [][]float32 { return g.Rows("pixels") }

func newCaptioner(t testing.TB, backend compute.Backend, m *Model, o textgen.CaptionerOptions) *textgen.Captioner {
	t.Helper()
	c := must.Get(NewCaptioner(backend, m, o))(t)
	t.Cleanup(c.Close)
	return c
}

// TestStages compares every stage of tower and decoder with transformers, on both backends.
func TestStages(t *testing.T) {
	testbackend.Each(t, goldens, checkStages)
}

func checkStages(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	o := GraphOptions{AllLogits: true}
	var names []string
	pixels, shape := g.Values("pixels"), g.Shape("pixels")
	two := tensors.FromFlatDataAndDimensions(pixels[:2*len(pixels)/shape[0]], 2, 3, shape[2], shape[3])
	load := func(s *model.Store) error {
		return weights.Load(s.RootScope(), g.Model.Weights, table(g.cfg), dtypes.Float32)
	}
	got := modeltest.Run(t, backend, load, func(s *model.Scope, in []*Node) []*Node {
		names = nil
		var out []*Node
		add := func(name string, n *Node) { names, out = append(names, name), append(out, n) }
		image := ForwardImage(s, g.cfg, in[0], o)
		add("vision.embedded", image.Embedded)
		for i, b := range image.Blocks {
			add(fmt.Sprintf("vision.block_%d", i), b)
		}
		add("vision.tokens", image.Tokens)
		ids := in[1]
		text := ForwardText(s, g.cfg, textgen.Inputs{IDs: ids, Positions: Iota(ids.Graph(), ids.Shape(), 1),
			Context: image.Context, Cache: textgen.NewCache(32)}, o)
		add("text.embedded", text.Embedded)
		for i, b := range text.Blocks {
			add(fmt.Sprintf("text.block_%d", i), b)
		}
		add("text.logits", text.Logits)
		return out
	}, two, g.IntTensor("ids"))
	for i, name := range names {
		want := g.Values(name)
		near.Check(t, name, got[i], want, 1e-4, 1e-4*near.Scale(want))
	}
}

// TestCaptions compares greedy captions and those of beams, token for token, with transformers' generate, and the
// logits of every step. XLA, which takes its time to compile, gets some of the settings.
func TestCaptions(t *testing.T) {
	widths := map[string]int{"base": 3, "large": 1, "own-head-bf16": 2, "old-hub": 4}
	testbackend.Each(t, goldens, func(t *testing.T, backend compute.Backend, name string) {
		checkCaptions(t, backend, name, func(s textgen.Options) bool {
			return backend == testbackend.Go(t) || s.Width() == widths[name]
		})
	})
}

func checkCaptions(t *testing.T, backend compute.Backend, name string, takes func(textgen.Options) bool) {
	g := openGolden(t, name)
	captiontest.Check(t, backend, g.Network(),
		captiontest.Reference{Golden: g.Golden, Lines: captiontest.Read(t, g.Dir, 100),
			Start: []int32{int32(g.cfg.Text.StartToken)}}, takes)
}
