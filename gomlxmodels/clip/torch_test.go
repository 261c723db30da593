package clip

import (
	"slices"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/internal/testbackend"
)

// TestTorchWeights compares a folder with PyTorch's weights with the same one with safetensors, bit for bit.
func TestTorchWeights(t *testing.T) {
	for _, name := range []string{"bf16-shards", "old-hub"} {
		g, dir := openGolden(t, name), modeltest.CopyOf(t, name)
		modeltest.Torch(t, dir, nil)
		m := open(t, dir)
		modeltest.SameTensors(t, m.Weights, g.Weights, len(g.Weights.Names())-2) // but positions, which are integers
		a, b := newEncoder(t, testbackend.Go(t), m, Options{}), newEncoder(t, testbackend.Go(t), g.Model, Options{})
		if !slices.EqualFunc(encodeImages(t, a, g.Rows("pixels")...), encodeImages(t, b, g.Rows("pixels")...), equal) {
			t.Errorf("%s: other vectors of images", name)
		}
		if !slices.EqualFunc(encodeTokens(t, a, g.IntRows("ids")...), encodeTokens(t, b, g.IntRows("ids")...), equal) {
			t.Errorf("%s: other vectors of texts", name)
		}
	}
}
