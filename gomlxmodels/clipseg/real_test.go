//go:build checks

package clipseg

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestReal compares every stage with transformers at real size (rd64-refined's shape) and for shapes drawn from
// ANTIPODE_TEST_SEED, all with random weights, from images to maps of the images' own size. ANTIPODE_PYTHON names
// the Python.
func TestReal(t *testing.T) {
	backend := testbackend.XLA(t)
	python := cmp.Or(os.Getenv("ANTIPODE_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import torch, transformers, PIL").Run(); err != nil {
		testbackend.Missing(t, "python",
			fmt.Sprintf("%s cannot import torch, transformers, PIL; name one that can in ANTIPODE_PYTHON", python))
	}
	dir := t.TempDir()
	out, err := exec.Command(python, "../../tools/pyref/clipseg_real.py", dir,
		fmt.Sprint(near.Seed(t))).CombinedOutput()
	if err != nil {
		t.Fatalf("clipseg_real.py: %v\n%s", err, out)
	}
	t.Logf("\n%s", out)
	folders, err := filepath.Glob(filepath.Join(dir, "*", "config.json"))
	if err != nil || len(folders) != 6 {
		t.Fatalf("%d folders, %v", len(folders), err)
	}
	// A difference counts against the scale of its stage: values run up to some twenty times that.
	scaled := func(t testing.TB, stage string, got, want []float32) {
		t.Helper()
		near.Check(t, stage, got, want, 1e-4, 1e-4*max(1, near.Scale(want)))
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
