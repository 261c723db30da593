package vit

import (
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/internal/testbackend"
)

// TestTorchWeights compares a folder with PyTorch's weights with the same one with safetensors, bit for bit.
func TestTorchWeights(t *testing.T) {
	for _, name := range []string{"hf-bf16-shards", "timm-registers"} {
		g, dir := openGolden(t, name), modeltest.CopyOf(t, name)
		modeltest.Torch(t, dir, nil)
		m, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.SameTensors(t, m.Weights, g.Weights, len(g.Weights.Names()))
		run := func(m *Model) []float32 {
			return golden{m, g.Golden}.run(testbackend.Go(t), heads{}, func(s *model.Scope, in []*Node) []*Node {
				return []*Node{Forward(s, m.cfg, in[0], GraphOptions{Tokens: true}).Tokens}
			}, g.Tensor("pixels"))[0]
		}
		if !slices.Equal(run(m), run(g.Model)) {
			t.Errorf("%s: other vectors", name)
		}
	}
}
