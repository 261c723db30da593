// Package testbackend gives tests a device: one a kind and process, or a skip that names what is missing. The
// environment variable REQUIRE, a comma-separated list (for example "xla"), turns such a skip into a failure.
package testbackend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/device"
)

var (
	mu   sync.Mutex
	open = map[string]*device.Device{}
)

// XLA gives XLA on the processor, or skips the test where no plugin lies.
func XLA(t testing.TB) compute.Backend {
	t.Helper()
	return get(t, device.XLACPU, "xla")
}

// QuickXLA is [XLA] told to optimize little, for tests that compile large graphs to run them a few times; a process has one of the two.
func QuickXLA(t testing.TB) compute.Backend {
	t.Helper()
	t.Setenv("XLA_FLAGS", strings.TrimSpace(os.Getenv("XLA_FLAGS")+" --xla_backend_optimization_level=0"))
	return XLA(t)
}

// CUDA gives XLA on an NVIDIA GPU, or skips the test where there is none.
func CUDA(t testing.TB) compute.Backend {
	t.Helper()
	if !device.SeesNVIDIA() {
		Missing(t, "cuda", "no NVIDIA GPU is seen")
	}
	return get(t, device.XLACUDA, "cuda")
}

// Go gives GoMLX's pure Go backend, which is always there.
func Go(t testing.TB) compute.Backend {
	t.Helper()
	return get(t, device.Go, "go")
}

func get(t testing.TB, kind, requirement string) compute.Backend {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if d := open[kind]; d != nil {
		return d.Backend
	}
	d, err := device.Open(kind, "")
	if err != nil {
		Missing(t, requirement, err.Error())
	}
	open[kind] = d // for the life of the process: PJRT clients are not made to be opened twice
	return d.Backend
}

// Python runs a script with the Python that ANTIPODE_PYTHON names, else python3, and gives what it printed; the test is skipped where
// one of the modules is missing. Hubs are not asked.
func Python(t testing.TB, modules []string, script string, args ...string) string {
	t.Helper()
	name := os.Getenv("ANTIPODE_PYTHON")
	if name == "" {
		name = "python3"
	}
	list := strings.Join(modules, ", ")
	if err := exec.Command(name, "-c", "import "+list).Run(); err != nil {
		Missing(t, "python", fmt.Sprintf("%s cannot import %s; name one that can in ANTIPODE_PYTHON", name, list))
	}
	cmd := exec.Command(name, append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1", "TQDM_DISABLE=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", filepath.Base(script), err, out, stderr.String())
	}
	return string(out)
}

// Missing skips a test for want of something, or fails it where REQUIRE asks for that.
func Missing(t testing.TB, requirement, what string) {
	t.Helper()
	if Required(requirement) {
		t.Fatalf("REQUIRE asks for %s: %s", requirement, what)
	}
	t.Skipf("%s missing: %s", requirement, what)
}

// Required says whether REQUIRE lists the requirement.
func Required(requirement string) bool {
	return slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), requirement)
}
