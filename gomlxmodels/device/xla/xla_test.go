//go:build cgo && !noxla

package xla_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"antipode/gomlxmodels/device"
	_ "antipode/gomlxmodels/device/xla"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

func TestMatMul(t *testing.T) {
	a := [][]float32{{1, 2, 3}, {4, 5, 6}}
	b := [][]float32{{1, 0}, {0, 1}, {2, -1}}
	want := [][]float32{{7, -1}, {16, -1}}
	for _, kind := range []string{device.Go, device.XLACPU, device.XLACUDA} {
		t.Run(kind, func(t *testing.T) {
			if kind == device.XLACUDA && !device.SeesNVIDIA() {
				t.Skip("missing: an NVIDIA GPU")
			}
			d := modeltest.Device(t, kind)
			if d.Kind != kind || d.Description == "" || (kind == device.Go) != (d.Plugin == "") {
				t.Errorf("kind %q, description %q, plugin %q", d.Kind, d.Description, d.Plugin)
			}
			if n := d.Backend.NumDevices(); kind == device.XLACPU && n != 1 {
				t.Errorf("%d devices of one processor: each has threads of its own", n)
			}
			got, err := graph.CallOnce(d.Backend, func(x, y *graph.Node) *graph.Node { return graph.MatMul(x, y) }, a,
				b)
			if err != nil {
				t.Fatal(err)
			}
			if rows := got.Value().([][]float32); !slices.EqualFunc(rows, want, slices.Equal) {
				t.Errorf("got %v, want %v", rows, want)
			}
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("ANTIPODE_HOME", t.TempDir())
	t.Setenv("LD_LIBRARY_PATH", "")
	t.Setenv("GOMLX_BACKEND", "")
	empty := t.TempDir()
	t.Setenv(device.PathEnv, empty)

	must.Equal(t, must.Get(device.Open("", ""))(t).Kind, device.Go, "nothing there must give pure Go")
	if _, err := device.Open(device.XLACPU, ""); !errors.Is(err, device.ErrNoPlugin) ||
		!strings.Contains(err.Error(), empty) {
		t.Errorf("no plugin: %v", err)
	}
	if _, err := device.Open(device.XLACPU, filepath.Join(empty, "gone.so")); !errors.Is(err, device.ErrNoPlugin) {
		t.Errorf("a missing file: %v", err)
	}
	text := filepath.Join(empty, "pjrt_c_api_cpu_plugin.so")
	must.Do(t, os.WriteFile(text, []byte("not a library"), 0o600))
	must.Fail(device.Open(device.XLACPU, ""))(t, text) // a text file
	if runtime.GOOS == "linux" {
		self := must.Get(os.Executable())(t)
		must.Fail(device.Inspect(self))(t) // a program that exports no GetPjrtApi
	}
}

// A folder's name must not change what the plugin in it is taken for.
func TestOddFolderNames(t *testing.T) {
	plugin := modeltest.Device(t, device.XLACPU).Plugin
	for _, name := range []string{"for cuda, later", "NVIDIA"} {
		folder := filepath.Join(t.TempDir(), name)
		must.Do(t, os.Mkdir(folder, 0o700))
		path := filepath.Join(folder, "pjrt_c_api_cpu_plugin.so")
		must.Do(t, os.Symlink(plugin, path))
		d, err := device.Open(device.XLACPU, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d.Plugin != path || !d.Backend.(interface{ HasSharedBuffers() bool }).HasSharedBuffers() {
			t.Errorf("%s: opened as %q", name, d.Description)
		}
		d.Close()
		d.Close()
	}
}

// The options that a CUDA plugin is opened with must be options that go-xla knows; any plugin shows it.
func TestCUDAOptions(t *testing.T) {
	d := must.Get(device.Open(device.XLACUDA, modeltest.Device(t, device.XLACPU).Plugin))(t)
	defer d.Close()
	if d.Backend.(interface{ HasSharedBuffers() bool }).HasSharedBuffers() {
		t.Error("a GPU shares no memory with the program")
	}
}
