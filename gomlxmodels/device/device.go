package device

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
)

// The kinds of device. A kind is part of every stored item's digest.
const (
	XLACUDA = "xla:cuda" // XLA on an NVIDIA GPU
	XLACPU  = "xla:cpu"  // XLA on the processor
	Go      = "go"       // GoMLX's pure Go backend
)

var (
	// ErrNoXLA is wrapped by errors of a program that was built without XLA.
	ErrNoXLA = errors.New("XLA is not in this program: it was built without cgo (install a C compiler and build " +
		"again), or does not import gomlxmodels/device/xla")
	// ErrNoPlugin is wrapped by errors about a missing plugin.
	ErrNoPlugin = errors.New("no XLA plugin")
)

// openXLA opens the XLA plugin of a path; nil in a program without XLA.
var openXLA func(kind, plugin string) (compute.Backend, error)

// Use sets how XLA plugins are opened. Package device/xla calls it when a program starts.
func Use(open func(kind, plugin string) (compute.Backend, error)) { openXLA = open }

// HasXLA reports whether this program can load XLA plugins: it imports package device/xla and was built with cgo.
func HasXLA() bool { return openXLA != nil }

// Device is an open accelerator. Its Backend may be used by one goroutine at a time.
type Device struct {
	Kind        string          // XLACUDA, XLACPU or Go
	Description string          // for people: the plugin's version and the number of devices
	Plugin      string          // absolute path of the loaded plugin; "" for Go
	Backend     compute.Backend // what GoMLX computes with

	close sync.Once
}

// Open opens the accelerator of a kind. The plugin is the absolute path of the shared library to load; "" = the one
// that [Find] returns. An empty kind follows GOMLX_BACKEND; if that is not set it is the best available: a CUDA plugin
// if there is an NVIDIA GPU, else a CPU plugin, else pure Go.
//
// Errors: an unknown kind, [ErrNoXLA], [ErrNoPlugin], a file that is no plugin for this machine, a plugin that fails
// to load.
func Open(kind, plugin string) (d *Device, err error) {
	defer func() {
		if r := recover(); r != nil {
			d, err = nil, fmt.Errorf("device %s: %s", kind, firstLine(fmt.Sprint(r)))
		}
	}()
	if kind == "" {
		kind = Wanted()
	}
	if kind == "" {
		kind = best()
	}
	switch kind {
	case Go:
		return openGo()
	case XLACUDA, XLACPU:
	default:
		return nil, fmt.Errorf("device %q is not known: use %s, %s or %s", kind, XLACUDA, XLACPU, Go)
	}
	if !HasXLA() {
		return nil, fmt.Errorf("device %s: %w", kind, ErrNoXLA)
	}
	if plugin == "" {
		if plugin = Find(kind); plugin == "" {
			return nil, fmt.Errorf("device %s: %w in %s: `antipode doctor` shows how to install one", kind, ErrNoPlugin,
				strings.Join(Folders(), ", "))
		}
	}
	if err := Inspect(plugin); err != nil {
		return nil, fmt.Errorf("device %s: %w", kind, err)
	}
	setThreads()
	backend, err := openXLA(kind, plugin)
	if err != nil {
		return nil, fmt.Errorf("device %s: the plugin %s does not load: %s", kind, plugin, firstLine(err.Error()))
	}
	return &Device{Kind: kind, Description: describe(backend), Plugin: plugin, Backend: backend}, nil
}

// Wanted returns the kind that GOMLX_BACKEND requests, without its options; "" for none or an unknown one.
func Wanted() string {
	name, _, _ := strings.Cut(os.Getenv(compute.ConfigEnvVar), ",")
	switch name {
	case XLACUDA, XLACPU, Go:
		return name
	}
	return ""
}

// Close frees the device. What was made with its Backend must not be used afterwards. A second call does nothing.
func (d *Device) Close() {
	d.close.Do(func() {
		defer func() { _ = recover() }() // a failing plugin must not take the program down while it ends
		d.Backend.Finalize()
	})
}

// Test multiplies two numbers. An error says that the device does not compute, or not correctly.
func (d *Device) Test() error {
	got, err := graph.CallOnce(d.Backend, func(x *graph.Node) *graph.Node { return graph.Mul(x, x) }, []float32{3})
	if err != nil {
		return err
	}
	if v := got.Value().([]float32); v[0] != 9 {
		return fmt.Errorf("it computes 3 × 3 = %g", v[0])
	}
	return nil
}

// best returns the fastest kind that opens without a download.
func best() string {
	switch {
	case HasXLA() && SeesNVIDIA() && Find(XLACUDA) != "":
		return XLACUDA
	case HasXLA() && Find(XLACPU) != "":
		return XLACPU
	}
	return Go
}

func openGo() (*Device, error) {
	// in parallel, operations that hold all workers can wait for one another for ever
	backend, err := gobackend.New("ops_sequential")
	if err != nil {
		return nil, fmt.Errorf("device go: %s", firstLine(err.Error()))
	}
	text := fmt.Sprintf("pure Go, %d threads", runtime.GOMAXPROCS(0))
	if SIMD {
		text += ", simd"
	}
	return &Device{Kind: Go, Description: text, Backend: backend}, nil
}

// setThreads bounds XLA's threads on the processor by GOMAXPROCS, which knows a container's limit where XLA counts
// the machine's processors. It must come before the plugin makes its client; a value set by the user is not changed.
func setThreads() {
	if os.Getenv("NPROC") == "" {
		_ = os.Setenv("NPROC", strconv.Itoa(runtime.GOMAXPROCS(0)))
	}
}

func describe(b compute.Backend) string {
	text := firstLine(b.Description())
	if b.NumDevices() > 0 {
		text += ": " + firstLine(b.DeviceDescription(0))
	}
	return text
}

// firstLine makes an error of a foreign library fit one line.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}
