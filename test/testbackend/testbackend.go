// Package testbackend gives tests a device: one a kind and process, or a skip that names what is missing. The
// environment variable REQUIRE, a comma-separated list (for example "xla"), turns such a skip into a failure.
package testbackend

import (
	"cmp"
	"errors"
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
	"antipode/internal/must"
)

var (
	mu    sync.Mutex
	open  = map[string]*device.Device{}
	quick bool // the XLA of this process compiles quickly
)

// noXLA is why a test program without XLA skips a test.
const noXLA = "missing: the build tag xla"

// optimizedOnly is set in the processes that [Optimized] starts.
const optimizedOnly = "ANTIPODE_TEST_OPTIMIZED"

// XLA returns XLA on the processor, or on an NVIDIA GPU where GOMLX_BACKEND is xla:cuda, or skips the test where no
// plugin is installed. Benchmarks take this, tests [QuickXLA]. A process has the one that it opened first; a benchmark
// that would run on the other fails.
func XLA(t testing.TB) compute.Backend {
	t.Helper()
	b := get(t, xlaKind(), "xla")
	if _, timed := t.(*testing.B); timed && quick {
		t.Fatal("this process already compiles quickly (QuickXLA): run benchmarks alone, with -run '^$'")
	}
	return b
}

// QuickXLA is [XLA] that optimizes little: a graph compiles in less than half the time and runs slower. Below
// [Optimized] it is XLA as users have it. In a test program without XLA it skips the test, as XLA does: the build tag
// xla links it.
func QuickXLA(t testing.TB) compute.Backend {
	t.Helper()
	mu.Lock()
	if open[xlaKind()] == nil && os.Getenv(optimizedOnly) == "" {
		quick = true // XLA reads its flags once
		flags := strings.TrimSpace(os.Getenv("XLA_FLAGS") + " --xla_backend_optimization_level=0")
		must.Do(t, os.Setenv("XLA_FLAGS", flags))
	}
	mu.Unlock()
	return get(t, xlaKind(), "xla")
}

func xlaKind() string {
	if device.Wanted() == device.XLACUDA {
		return device.XLACUDA
	}
	return device.XLACPU
}

// Any returns a backend for a test that holds on each: the pure Go backend, or with the build tag xla [QuickXLA]. XLA
// compiles for seconds what the pure Go backend computes in milliseconds.
func Any(t testing.TB) compute.Backend {
	t.Helper()
	if allXLA {
		return QuickXLA(t)
	}
	return Go(t)
}

// OnBoth runs a test on the pure Go backend and, with the build tag xla, on XLA.
func OnBoth(t *testing.T, do func(*testing.T, compute.Backend)) {
	t.Run("pure Go", func(t *testing.T) { do(t, Go(t)) })
	if allXLA {
		t.Run("XLA", func(t *testing.T) { do(t, QuickXLA(t)) })
	}
}

// Each runs a test of each golden folder by name, each [OnBoth].
func Each(t *testing.T, names []string, do func(*testing.T, compute.Backend, string)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			OnBoth(t, func(t *testing.T, backend compute.Backend) { do(t, backend, name) })
		})
	}
}

// Optimized runs the calling test in a process of its own, where do receives an XLA that optimizes fully, and reports
// what it printed.
func Optimized(t *testing.T, do func(compute.Backend)) {
	t.Helper()
	if os.Getenv(optimizedOnly) != "" {
		do(QuickXLA(t))
		return
	}
	if testing.Short() {
		t.Skip("compiles with full optimization")
	}
	if !device.HasXLA() {
		t.Skip(noXLA)
	}
	name := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+name, "-test.v")
	cmd.Env = append(os.Environ(), optimizedOnly+"=1")
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case err != nil:
		t.Fatalf("with full optimization: %v\n%s", err, text)
	case strings.Contains(text, "--- SKIP: "+t.Name()+" "):
		t.Skip(text)
	default:
		t.Log(text)
	}
}

// CUDA gives XLA on an NVIDIA GPU, or skips the test where there is none.
func CUDA(t testing.TB) compute.Backend {
	t.Helper()
	if !device.SeesNVIDIA() {
		Missing(t, "cuda", "no NVIDIA GPU detected")
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
	if errors.Is(err, device.ErrNoXLA) {
		t.Skip(noXLA)
	}
	if err != nil {
		Missing(t, requirement, err.Error())
	}
	open[kind] = d // for the life of the process: PJRT clients are not made to be opened twice
	return d.Backend
}

// Python runs a script with the Python that ANTIPODE_PYTHON names, else python3, and gives what it printed; the test
// is skipped where one of the modules is missing. Hubs are not asked.
func Python(t testing.TB, modules []string, script string, args ...string) string {
	t.Helper()
	name := cmp.Or(os.Getenv("ANTIPODE_PYTHON"), "python3")
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

// Missing skips a test whose requirement is missing, or fails it if REQUIRE names the requirement.
func Missing(t testing.TB, requirement, what string) {
	t.Helper()
	if Required(requirement) {
		t.Fatalf("REQUIRE needs %s: %s", requirement, what)
	}
	t.Skipf("%s missing: %s", requirement, what)
}

// Required says whether REQUIRE lists the requirement.
func Required(requirement string) bool {
	return slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), requirement)
}
