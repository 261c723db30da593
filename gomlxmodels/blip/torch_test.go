package blip

import (
	"reflect"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/textgen"
	"antipode/internal/testbackend"
)

// TestTorchWeights compares a folder with PyTorch's weights with the same one with safetensors, bit for bit. Files of
// torch.save name the head's weights as well, which are the words' own.
func TestTorchWeights(t *testing.T) {
	for _, name := range []string{"base", "own-head-bf16"} {
		g, dir := openGolden(t, name), modeltest.CopyOf(t, name)
		ties := map[string]string{}
		if !g.cfg.ownHead {
			ties = map[string]string{headWeights: wordWeights, decoderBias: headBias}
		}
		modeltest.Torch(t, dir, ties)
		m, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if m.cfg.ownHead != g.cfg.ownHead {
			t.Errorf("%s: a head of its own: %v", name, m.cfg.ownHead)
		}
		modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names())-1) // but positions, which are integers
		caption := func(m *Model) [][]textgen.Text {
			c := newCaptioner(t, testbackend.Go(t), m, textgen.CaptionerOptions{})
			texts, err := c.Caption(t.Context(), drawn(g, 2), textgen.Options{MaxTokens: 8, Sample: true, Number: 2})
			if err != nil {
				t.Fatal(err)
			}
			return texts
		}
		if got, want := caption(m), caption(g.Model); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
