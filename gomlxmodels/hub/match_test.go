package hub

import (
	"errors"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestMismatch: a further name of a tied tensor is not unknown, and a tensor of several layers has the shape of all.
func TestMismatch(t *testing.T) {
	dir := t.TempDir()
	modeltest.Save(t, dir, []weights.Tensor{{Name: "a", Shape: []int{2, 3}, Data: make([]float32, 6)},
		{Name: "layers", Shape: []int{2, 3}, Data: make([]float32, 6)}})
	modeltest.Torch(t, dir, map[string]string{"b": "a"})
	set := must.Get(weights.Open(dir))(t)
	rules := []weights.Rule{{Tensor: "a", Variable: "a", Shape: []int{2, 3}},
		{Tensor: "layers", Variable: "l", Shape: []int{3}, Layers: 2}, {Tensor: "c", Variable: "c", Shape: []int{1}}}
	var m *Mismatch
	errors.As(Network{Weights: set, Rules: rules}.Match(), &m)
	if m == nil || len(m.Unknown)+len(m.Shapes) > 0 || len(m.Missing) != 1 {
		t.Errorf("%+v", m)
	}
}
