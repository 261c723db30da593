package blip2

import (
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

// TestTorchWeights opens a folder with PyTorch's weights, which name the words a second time as the head's weights.
func TestTorchWeights(t *testing.T) {
	g, dir := openGolden(t, "opt"), modeltest.CopyOf(t, "opt")
	if g.cfg.ownHead {
		t.Fatal("a head of its own")
	}
	modeltest.Torch(t, dir, map[string]string{headWeights: wordWeights})
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.cfg.ownHead || !m.Weights.Has(headWeights) {
		t.Error("the head is read as one of its own")
	}
	modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names()))
}
