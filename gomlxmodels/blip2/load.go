package blip2

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// load fills a store with the variables of a table, each of which goes to the device before the next is read: the
// host never holds a whole network besides. Where the processor computes and its memory cannot hold them, nothing is
// read.
func load(backend compute.Backend, store *model.Store, set *weights.Set, table []weights.Rule,
	dtype dtypes.DType) error {
	total, most := memory(table, int64(dtype.Size()))
	asked := fmt.Sprintf("%s: the weights take %s in %s", set.Dir(), gib(total), strings.ToLower(dtype.String()))
	if have, known := available(); known && onHost(backend) && total+most > have {
		half := ""
		if dtype == dtypes.Float32 {
			half = "--precision bfloat16 halves them, "
		}
		return fmt.Errorf("%s and reading them %s more, but %s of memory are free: take a smaller model or a machine "+
			"with more (%s`antipode backend stop` frees what other models hold)", asked, gib(most), gib(have), half)
	}
	var done int64
	return weights.Stream(store.RootScope(), set, table, dtype,
		weights.Hooks{Place: func(_ string, value *tensors.Tensor) error {
			if err := value.ToDevice(backend, 0); err != nil {
				return fmt.Errorf("%s, and after %s of them the device takes no more: %w", asked, gib(done), err)
			}
			done += value.Shape().ByteSize()
			return nil
		}})
}

// memory is the bytes that a table's variables take with elements of so many, and those that reading the largest
// takes besides: its file's bytes, and its values in float32 twice.
func memory(table []weights.Rule, element int64) (total, most int64) {
	parts := map[string]int64{}
	for _, r := range table {
		if r.Variable == "" {
			continue
		}
		n := int64(1)
		for _, d := range r.Shape {
			n *= int64(d)
		}
		total += n * element
		parts[r.Variable] += n
		most = max(most, parts[r.Variable]*12)
	}
	return total, most
}

func gib(bytes int64) string { return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30)) }

// onHost says that a backend computes in the host's memory.
func onHost(backend compute.Backend) bool {
	return !strings.Contains(strings.ToLower(backend.Description()), "cuda")
}

// available is the memory that can be had without pushing anything out, false where it cannot be told: what the
// machine says is free, and no more than a container may have. A test sets another.
var available = func() (bytes int64, known bool) {
	bytes = math.MaxInt64
	if f, err := os.Open("/proc/meminfo"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var kib int64
			if _, err := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); err == nil {
				bytes = kib << 10
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil { // else "max": none
			bytes = min(bytes, most)
		}
	}
	return bytes, bytes < math.MaxInt64
}
