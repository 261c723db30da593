//go:build checks

package weights

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// TestRandomTorchFiles compares 200 state dicts of random views, saved by torch in all of its ways and drawn from
// ANTIPODE_TEST_SEED, with their safetensors copies.
func TestRandomTorchFiles(t *testing.T) {
	dir := t.TempDir()
	testbackend.Python(t, []string{"torch", "safetensors"},
		filepath.Join("..", "..", "internal", "pyref", "torchfiles.py"), dir, "--random", fmt.Sprint(near.Seed(t)))
	files, err := filepath.Glob(filepath.Join(dir, "*.bin"))
	if err != nil || len(files) != 200 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		got, err := OpenFiles(path)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := OpenFiles(strings.TrimSuffix(path, ".bin") + ".safetensors")
		if err != nil {
			t.Fatal(err)
		}
		sameTensors(t, got, want)
	}
}
