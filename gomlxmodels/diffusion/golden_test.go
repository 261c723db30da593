package diffusion

import (
	"fmt"
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

// goldens are the folders tools/pyref/diffusion.py makes.
var goldens = []string{"sd1", "sd2", "odd", "bare"}

// golden is one folder: a pipeline and what the reference library computes with it.
type golden struct {
	*Model
	want modeltest.Golden
	t    testing.TB
}

func openGolden(t testing.TB, dir string) golden {
	t.Helper()
	return golden{must.Get(Open(dir, OpenOptions{}))(t), modeltest.Open(t, dir), t}
}

// run evaluates one network with its weights loaded and compares what it gives with the tensors of these names.
func (g golden) run(backend compute.Backend, p part, names []string, fn func(*model.Scope, []*Node) []*Node,
	args ...any) (worst float64) {
	g.t.Helper()
	load := func(store *model.Store) error { return g.load(backend, store, p, dtypes.Float32) }
	out := modeltest.Run(g.t, backend, load, fn, args...)
	if len(out) != len(names) {
		g.t.Fatalf("%d outputs for %v", len(out), names)
	}
	for i, got := range out {
		want := g.want.Values(names[i])
		near.Check(g.t, names[i], got, want, 1e-4, 1e-4*max(1, near.Scale(want)))
		d, _ := near.Worst(got, want)
		worst = max(worst, d/near.Scale(want))
	}
	return worst
}

func numbered(format string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf(format, i))
	}
	return names
}

// TestEqualReference compares every stage of every network with diffusers and transformers. XLA, which compiles a
// network for seconds, does so with the tag xla.
func TestEqualReference(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			checkReference(openGolden(t, filepath.Join("testdata", name)),
				testbackend.Go(t))
		})
	}
}

// TestPieces has attention go through its rows in pieces, the last one shorter.
func TestPieces(t *testing.T) {
	defer func(most int) { scoresAtOnce = most }(scoresAtOnce)
	scoresAtOnce = 500 // of odd's UNet: 15 places, 3 heads, batch 2 → 5 rows or 1 at once
	checkReference(openGolden(t, filepath.Join("testdata", "odd")), testbackend.Go(t))
}

func checkReference(g golden, backend compute.Backend) {
	stages := GraphOptions{Stages: true}
	text := g.text.(tested).compare(g, backend)
	n := len(g.unet.Widths)
	names := append(append(append([]string{"unet.time", "unet.in"}, numbered("unet.down_%d", n)...), "unet.mid"),
		append(numbered("unet.up_%d", n), "unet.out")...)
	unet := g.run(backend, unetPart, names, func(s *model.Scope, in []*Node) []*Node {
		o := ForwardUNet(s, g.unet, in[0], in[1], in[2], stages)
		return append(append(append([]*Node{o.Time, o.In}, o.Down...), o.Mid), append(o.Up, o.Out)...)
	}, g.want.Tensor("sample"), g.want.Tensor("t"), g.want.Tensor("context"))
	n = len(g.vae.Widths)
	names = append(append([]string{"decoder.in", "decoder.mid"}, numbered("decoder.up_%d", n)...), "decoder.out")
	decoder := g.run(backend, decoderPart, names, func(s *model.Scope, in []*Node) []*Node {
		o := ForwardDecoder(s, g.vae, in[0], stages)
		return append(append([]*Node{o.In, o.Mid}, o.Up...), o.Image)
	}, g.want.Tensor("z"))
	names = append(append([]string{"encoder.in"}, numbered("encoder.down_%d", n)...), "encoder.mid", "encoder.mean",
		"encoder.logvar")
	encoder := g.run(backend, encoderPart, names, func(s *model.Scope, in []*Node) []*Node {
		o := ForwardEncoder(s, g.vae, in[0], stages)
		return append(append([]*Node{o.In}, o.Down...), o.Mid, o.Mean, o.LogVariance)
	}, g.want.Tensor("picture"))
	g.t.Logf("worst difference of any stage, of its scale: text %.2g, UNet %.2g, decoder %.2g, encoder %.2g", text,
		unet, decoder, encoder)
}

// tested is a text tower whose stages have goldens.
type tested interface {
	compare(g golden, backend compute.Backend) (worst float64)
}

func (c clipText) compare(g golden, backend compute.Backend) float64 {
	return g.run(backend, textPart, append(numbered("text.block_%d", c.Text.Layers), "text.hidden"),
		func(s *model.Scope, in []*Node) []*Node {
			o := ForwardText(s, c.Config, in[0], GraphOptions{Stages: true})
			return append(o.Blocks, o.Tokens)
		}, g.want.IntTensor("ids"))
}
