package device

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"antipode/internal/must"
)

// open opens a kind or skips by name; REQUIRE=xla turns a skip for XLA on the processor into a failure.
func open(t *testing.T, kind string) *Device {
	t.Helper()
	d, err := Open(kind, "")
	if err != nil {
		if kind == XLACPU && slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "xla") {
			t.Fatalf("REQUIRE=xla: %v", err)
		}
		t.Skipf("missing: %v", err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestMatMul(t *testing.T) {
	a := [][]float32{{1, 2, 3}, {4, 5, 6}}
	b := [][]float32{{1, 0}, {0, 1}, {2, -1}}
	want := [][]float32{{7, -1}, {16, -1}}
	for _, kind := range []string{Go, XLACPU, XLACUDA} {
		t.Run(kind, func(t *testing.T) {
			if kind == XLACUDA && !SeesNVIDIA() {
				t.Skip("missing: an NVIDIA GPU")
			}
			d := open(t, kind)
			if d.Kind != kind || d.Description == "" || (kind == Go) != (d.Plugin == "") {
				t.Errorf("kind %q, description %q, plugin %q", d.Kind, d.Description, d.Plugin)
			}
			if n := d.Backend.NumDevices(); kind == XLACPU && n != 1 {
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
	t.Setenv(PathEnv, empty)

	if _, err := Open("tpu", ""); err == nil || !strings.Contains(err.Error(), XLACPU) {
		t.Errorf("an unknown kind: %v", err)
	}
	if d, err := Open("", ""); err != nil || d.Kind != Go {
		t.Errorf("nothing there must give pure Go: %v", err)
	}
	if !HasXLA {
		if _, err := Open(XLACPU, ""); !errors.Is(err, ErrNoXLA) {
			t.Errorf("without cgo: %v", err)
		}
		return
	}
	if _, err := Open(XLACPU, ""); !errors.Is(err, ErrNoPlugin) || !strings.Contains(err.Error(), empty) {
		t.Errorf("no plugin: %v", err)
	}
	if _, err := Open(XLACPU, filepath.Join(empty, "gone.so")); !errors.Is(err, ErrNoPlugin) {
		t.Errorf("a missing file: %v", err)
	}
	text := filepath.Join(empty, "pjrt_c_api_cpu_plugin.so")
	must.Do(t, os.WriteFile(text, []byte("not a library"), 0o600))
	if _, err := Open(XLACPU, ""); err == nil || !strings.Contains(err.Error(), text) ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("a text file: %v", err)
	}
	if runtime.GOOS == "linux" {
		self := must.Get(os.Executable())(t)
		if err := Inspect(self); err == nil {
			t.Error("a program that exports no GetPjrtApi passed as a plugin")
		}
	}
}

// A folder's name must not change what the plugin in it is taken for.
func TestOddFolderNames(t *testing.T) {
	if !HasXLA {
		t.Skip("missing: cgo")
	}
	plugin := open(t, XLACPU).Plugin
	for _, name := range []string{"for cuda, later", "NVIDIA"} {
		folder := filepath.Join(t.TempDir(), name)
		must.Do(t, os.Mkdir(folder, 0o700))
		path := filepath.Join(folder, "pjrt_c_api_cpu_plugin.so")
		must.Do(t, os.Symlink(plugin, path))
		d, err := Open(XLACPU, path)
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
	if !HasXLA {
		t.Skip("missing: cgo")
	}
	b := must.Get(openXLA(XLACUDA, open(t, XLACPU).Plugin))(t)
	defer b.Finalize()
	if b.(interface{ HasSharedBuffers() bool }).HasSharedBuffers() {
		t.Error("a GPU shares no memory with the program")
	}
}

func TestWanted(t *testing.T) {
	for value, want := range map[string]string{"": "", "go": Go, "xla:cpu": XLACPU, "xla:cuda,tf32=false": XLACUDA,
		"xla:/some/path": ""} {
		t.Setenv("GOMLX_BACKEND", value)
		if got := Wanted(); got != want {
			t.Errorf("GOMLX_BACKEND=%q: %q, want %q", value, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, p := range []string{
		filepath.Join(one, "pjrt_c_api_cuda_plugin.so"), filepath.Join(one, "libother.so"),
		filepath.Join(one, "pjrt_c_api_cpu_plugin.txt"),
		filepath.Join(two, "pjrt_c_api_cpu_v0.98.0_plugin.so"), filepath.Join(two, "pjrt_c_api_cpu_v0.114.0_plugin.so"),
	} {
		must.Do(t, os.WriteFile(p, nil, 0o600))
	}
	t.Setenv(PathEnv, one+":"+filepath.Join(one, "none")+":"+two)
	if got, want := Find(XLACUDA), filepath.Join(one, "pjrt_c_api_cuda_plugin.so"); got != want {
		t.Errorf("cuda: %q, want %q", got, want)
	}
	jax := filepath.Join(t.TempDir(), "xla_cuda_plugin.so")
	must.Do(t, os.WriteFile(jax, nil, 0o600))
	if got := FindIn(XLACUDA, filepath.Dir(jax)); got != jax {
		t.Errorf("JAX's CUDA plugin: %q, want %q", got, jax)
	}
	if got := Find(XLACPU); filepath.Dir(got) != two {
		t.Errorf("cpu: %q, want one in %s", got, two)
	}
	link := filepath.Join(two, "pjrt_c_api_cpu_plugin.so")
	must.Do(t, os.Symlink("pjrt_c_api_cpu_v0.114.0_plugin.so", link))
	if got := Find(XLACPU); got != link {
		t.Errorf("the plainest name must win: %q, want %q", got, link)
	}
	must.Do(t, os.Remove(filepath.Join(two, "pjrt_c_api_cpu_v0.114.0_plugin.so")))
	if got, want := Find(XLACPU), filepath.Join(two, "pjrt_c_api_cpu_v0.98.0_plugin.so"); got != want {
		t.Errorf("a dangling link must be passed over: %q, want %q", got, want)
	}
	home := filepath.Join(t.TempDir(), "a [store]")
	kept := filepath.Join(home, "plugins", "some-wheel-1.0")
	must.Do(t, os.MkdirAll(kept, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(kept, "pjrt_c_api_cpu_plugin.so"), nil, 0o600))
	if got, want := FindIn(XLACPU, StoreFolders(home)...),
		filepath.Join(kept, "pjrt_c_api_cpu_plugin.so"); got != want {
		t.Errorf("in the store: %q, want %q", got, want)
	}
	if got := FindIn(XLACPU, link+".gone", filepath.Join(two, "pjrt_c_api_cpu_v0.98.0_plugin.so")); got == "" {
		t.Error("a folder that is a plugin itself was not taken")
	}
}

func TestThreads(t *testing.T) {
	t.Setenv("NPROC", "")
	setThreads()
	if got := os.Getenv("NPROC"); got != strconv.Itoa(runtime.GOMAXPROCS(0)) {
		t.Errorf("NPROC is %q, GOMAXPROCS %d", got, runtime.GOMAXPROCS(0))
	}
	t.Setenv("NPROC", "7")
	setThreads()
	if got := os.Getenv("NPROC"); got != "7" {
		t.Errorf("the user's NPROC became %q", got)
	}
}
