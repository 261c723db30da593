//go:build checks

package blip

import (
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels/textgen"
	"antipode/test/captiontest"
	"antipode/test/testbackend"
)

// python runs tools/pyref/blip_real.py.
func python(t *testing.T, args ...string) string {
	return testbackend.Python(t, []string{"torch", "transformers", "safetensors"},
		filepath.Join("..", "..", "tools", "pyref", "blip_real.py"), args...)
}

// TestRealSize compares a captioner of the base shape, random weights, with transformers: logits of every step,
// greedy captions and those of beams token for token. Then captions are drawn alone and among others, which must not
// change a bit.
func TestRealSize(t *testing.T) {
	backend, dir := testbackend.XLA(t), t.TempDir()
	t.Log(strings.TrimSpace(python(t, dir)))
	g := openIn(t, dir)
	start := int32(g.cfg.Text.StartToken)
	captiontest.Check(t, backend, g.Network(),
		captiontest.Reference{Golden: g.Golden, Lines: captiontest.Read(t, dir, 9), Start: []int32{start}},
		func(textgen.Options) bool { return true })
	c, images := newCaptioner(t, backend, g.Model, textgen.CaptionerOptions{Batch: 4}), g.images()
	t.Logf("%d MiB of weights", c.Bytes()>>20)
	captiontest.Alone(t, c, images, start)
}
