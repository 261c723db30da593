package sam

import (
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

// TestTorchWeights opens a folder with PyTorch's weights, which hold the frequencies under two names.
func TestTorchWeights(t *testing.T) {
	want, err := Open(filepath.Join("testdata", "windows"))
	if err != nil {
		t.Fatal(err)
	}
	dir := modeltest.CopyOf(t, "windows")
	modeltest.Torch(t, dir, map[string]string{frequencies[1]: frequencies[0], frequencies[0]: frequencies[1]})
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Weights.Same(frequencies[0], frequencies[1]) {
		t.Error("one name only")
	}
	modeltest.SameTensors(t, want.Weights, m.Weights, len(want.Weights.Names()))
}
