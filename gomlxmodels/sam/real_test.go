//go:build checks

package sam

import (
	"fmt"
	"path/filepath"
	"testing"

	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// TestReal compares every stage with transformers at real size (sam-vit-base's shape) and for shapes drawn from
// ANTIPODE_TEST_SEED, all with random weights, from images to logits of the images' own size. ANTIPODE_PYTHON names
// the Python.
func TestReal(t *testing.T) {
	backend := testbackend.XLA(t)
	dir := t.TempDir()
	t.Logf("\n%s", testbackend.Python(t, []string{"torch", "torchvision", "transformers", "PIL"},
		"../../internal/pyref/sam_real.py", dir, fmt.Sprint(near.Seed(t))))
	folders, err := filepath.Glob(filepath.Join(dir, "*", "config.json"))
	if err != nil || len(folders) != 6 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	// A difference counts against the scale of its stage.
	scaled := func(t testing.TB, name string, got, want []float32) {
		t.Helper()
		near.Check(t, name, got, want, 1e-4, 2e-4*near.Scale(want))
	}
	for _, config := range folders {
		folder := filepath.Dir(config)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			g := openFolder(t, folder)
			checkReference(g, backend, scaled)
			checkEncoder(g, backend, scaled)
		})
	}
}
