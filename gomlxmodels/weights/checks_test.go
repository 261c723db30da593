//go:build checks

package weights

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestRandomTorchFiles compares 200 state dicts of random views, saved by torch in all of its ways and drawn from
// ANTIPODE_TEST_SEED, with their safetensors copies.
func TestRandomTorchFiles(t *testing.T) {
	dir := t.TempDir()
	testbackend.Python(t, []string{"torch", "safetensors"},
		filepath.Join("..", "..", "tools", "pyref", "torchfiles.py"), dir, "--random", fmt.Sprint(near.Seed(t)))
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
		want := must.Get(OpenFiles(strings.TrimSuffix(path, ".bin") + ".safetensors"))(t)
		sameTensors(t, got, want)
	}
}

// TestTorchMemory loads an archive of 512 MiB as bfloat16: the process takes no more than these weights, one tensor as
// it is in the file, and 64 MiB.
func TestTorchMemory(t *testing.T) {
	const n, tensor = 32, 16 << 20
	parts, pickle := []part{}, "\x80\x02}("
	zeros := make([]byte, tensor)
	var rules []Rule
	for i := range n {
		name := fmt.Sprint("w", i)
		parts = append(parts, part{fmt.Sprint("a/data/", i), zeros, 0})
		pickle += unicode(name) + "ctorch._utils\n_rebuild_tensor_v2\n(" + storage(fmt.Sprint(i), tensor/4) + "K\x00" +
			long(2048) + long(2048) + "\x86" + long(1) + long(2048) + "\x86\x89NtR" // by columns
		rules = append(rules, Rule{Tensor: name, Variable: name, Shape: []int{2048, 2048}})
	}
	path := filepath.Join(t.TempDir(), "x.bin")
	must.Do(t, os.WriteFile(path, archive(t, append(parts, part{"a/data.pkl", []byte(pickle + "u."), 0})...), 0o600))
	debug.FreeOSMemory()
	base := inUse()
	bound := base + n*tensor/2 + tensor + 64<<20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(bound)))
	set := must.Get(OpenFiles(path))(t)
	store := model.NewStore()
	defer store.Finalize()
	peak := uint64(0)
	must.Do(t, Stream(store.RootScope(), set, rules, dtypes.BFloat16, Hooks{Place: func(string, *tensors.Tensor) error {
		peak = max(peak, inUse())
		return nil
	}}))
	t.Logf("%d MiB before, at most %d MiB while loading %d MiB", base>>20, peak>>20, n*tensor>>20)
	if peak > bound {
		t.Errorf("%d MiB, more than %d", peak>>20, bound>>20)
	}
}

// inUse is the memory that the process has of the system.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys - m.HeapReleased
}
