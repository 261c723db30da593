//go:build checks

package blip2

import (
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/captiontest"
	"antipode/test/testbackend"
)

// TestRealWidth compares a BLIP-2 of the published widths and few layers, random weights in float16 shards, with
// transformers: the vectors of images, the logits of every step, greedy captions and those of beams token for
// token. Then captions are drawn alone and among others, which must not change a bit.
func TestRealWidth(t *testing.T) {
	backend, dir := testbackend.XLA(t), t.TempDir()
	script := filepath.Join("..", "..", "tools", "pyref", "blip2_real.py")
	t.Log(strings.TrimSpace(testbackend.Python(t, []string{"torch", "transformers", "safetensors", "tokenizers", "PIL"},
		script, dir)))
	g := openIn(t, dir)
	for p, tensor := range map[Pooling]string{Pooled: "vision.pooled", Queries: "queries"} {
		for i, got := range g.images(backend, p) {
			want := g.Rows(tensor)[i]
			d, _ := near.Worst(got, want)
			t.Logf("%s of image %d: worst difference %.2g of its scale", p, i, d/near.Scale(want))
			near.Check(t, string(p), got, want, 1e-4, 1e-4*near.Scale(want))
		}
	}
	captiontest.Check(t, backend, g.Network(), g.reference(6), func(textgen.Options) bool { return true })

	c := must.Get(textgen.NewCaptioner(backend, g.Network(), textgen.CaptionerOptions{Batch: 3}))(t)
	defer c.Close()
	t.Logf("%d MiB of weights", c.Bytes()>>20)
	captiontest.Alone(t, c, g.Rows("pixels"), 2)
}
