package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/gomlxmodels/device"
	"antipode/internal/must"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/jupyter"
)

// machine is a simulated machine: a PATH with the given programs, an empty home, an empty store.
type machine struct {
	t                 *testing.T
	bin, home, module string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	root := must.Get(os.MkdirTemp("", "doc"))(t) // short: a socket's path must fit
	t.Cleanup(func() { os.RemoveAll(root) })
	m := &machine{t: t, bin: filepath.Join(root, "bin"), home: filepath.Join(root, "store"),
		module: filepath.Join(root, "src")}
	for _, dir := range []string{m.bin, m.module, filepath.Join(root, "user")} {
		must.Do(t, os.Mkdir(dir, 0o700))
	}
	for _, name := range []string{
		"PJRT_PLUGIN_LIBRARY_PATH", "LD_LIBRARY_PATH", "GOMLX_BACKEND", "GOTOOLCHAIN", "CC", "CGO_ENABLED",
		"XDG_RUNTIME_DIR", "XDG_DATA_HOME",
		"JUPYTER_PATH", "JUPYTER_DATA_DIR", plugin.Env,
	} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", filepath.Join(root, "user"))
	t.Setenv("TMPDIR", root)
	t.Setenv(client.HomeVar, m.home)
	t.Setenv("PATH", m.bin)
	m.write(filepath.Join(m.module, "go.mod"), "module antipode\n\ngo 1.26.5\n")
	m.program("go", `case "$2 $3" in "GOVERSION "*) echo go1.26.8;; "CC CGO_ENABLED") echo cc; echo 1;; esac`)
	m.program("cc", "")
	return m
}

func (m *machine) write(path, text string) {
	m.t.Helper()
	must.Do(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(m.t, os.WriteFile(path, []byte(text), 0o700))
}

func (m *machine) program(name, script string) {
	m.write(filepath.Join(m.bin, name), "#!/bin/sh\n"+script+"\n")
}

// report returns the checks by name and verifies that each has a state, a one-line detail, and a fix exactly if it
// failed.
func (m *machine) report() map[string]Check {
	m.t.Helper()
	out := map[string]Check{}
	for _, c := range Report(context.Background(), m.home, m.module) {
		if c.Name == "" || c.Detail == "" || (c.State != OK) != (c.Fix != "") ||
			strings.Contains(c.Detail+c.Fix, "\n") {
			m.t.Errorf("malformed: %+v", c)
		}
		out[c.Name] = c
	}
	return out
}

func (m *machine) want(name string, state State, says ...string) {
	m.t.Helper()
	c := m.report()[name]
	if c.State != state {
		m.t.Errorf("%s is %s (%s), want %s", name, c.State, c.Detail, state)
	}
	for _, s := range says {
		if !strings.Contains(c.Detail+"\n"+c.Fix, s) {
			m.t.Errorf("%s does not contain %q: %s → %s", name, s, c.Detail, c.Fix)
		}
	}
}

func TestFreshMachine(t *testing.T) {
	m := newMachine(t)
	start := time.Now()
	checks := Report(context.Background(), m.home, m.module)
	took := time.Since(start)
	must.True(t, took <= 2*time.Second, "it took %v", took)
	must.True(t, !Failed(checks), "a fresh machine with Go and a compiler fails: %+v", checks)
	m.want("go", OK, "go1.26.8")
	m.want("module", OK, m.module)
	m.want("store", OK, "made when first needed")
	m.want("backend", OK, "not running")
	m.want("kernel", OK, "gonb not built yet")
	m.want("jupyter", Warn, "pip install jupyterlab")
	if device.HasXLA() {
		m.want("c compiler", OK, "cc")
		m.want("plugin", Warn, "times slower", "PJRT_PLUGIN_LIBRARY_PATH")
	} else {
		m.want("c compiler", Warn, "CGO_ENABLED=1")
		m.want("plugin", Warn, "see c compiler")
	}
	must.Is(os.Stat(m.home))(t, fs.ErrNotExist) // no store was made
}

func TestGo(t *testing.T) {
	m := newMachine(t)
	m.program("go", "echo go1.24.2")
	m.want("go", Warn, "go1.24.2", "go1.26.5", "by itself")
	t.Setenv("GOTOOLCHAIN", "local")
	m.want("go", Fail, "go1.24.2", "older than go1.26.5", "go.dev/dl")
	m.program("go", "echo go1.27rc1 X:simd")
	m.want("go", OK, "go1.27rc1")
	m.program("go", "echo 'cannot find GOROOT' >&2; exit 2")
	m.want("go", Fail, "cannot find GOROOT")
	must.Do(t, os.Remove(filepath.Join(m.bin, "go")))
	findGo = func() error { return nil }
	t.Cleanup(func() { findGo = jupyter.FindGo })
	m.want("go", Fail, "no go command")
	must.True(t, Failed(Report(context.Background(), m.home, m.module)), "without Go the report does not fail")
	elsewhere := t.TempDir()
	m.write(filepath.Join(elsewhere, "go"), "#!/bin/sh\necho go1.27.1\n")
	must.Do(t, os.Chmod(filepath.Join(elsewhere, "go"), 0o755))
	t.Setenv("ANTIPODE_GO", elsewhere)
	findGo = jupyter.FindGo
	m.want("go", OK, "go1.27.1", elsewhere)
}

func TestSlowProgramsDoNotHoldItUp(t *testing.T) {
	m := newMachine(t)
	m.program("go", "exec /bin/sleep 30")
	start := time.Now()
	m.report()
	took := time.Since(start)
	must.True(t, took <= 2*time.Second, "it took %v", took)
}

func TestCompiler(t *testing.T) {
	if !device.HasXLA() {
		t.Skip("missing: cgo")
	}
	m := newMachine(t)
	must.Do(t, os.Remove(filepath.Join(m.bin, "cc")))
	m.want("c compiler", Warn, "next build will not", "install")
	m.program("mycc", "")
	m.program("go", "echo 'mycc -m64'; echo 0")
	m.want("c compiler", Warn, "mycc", "unset CGO_ENABLED")
}

func TestModule(t *testing.T) {
	m := newMachine(t)
	m.write(filepath.Join(m.module, "go.mod"), "module other\n")
	m.want("module", Fail, client.ModuleVar)
	m.module = ""
	m.want("module", Fail, "not found")
}

func TestPlugin(t *testing.T) {
	if !device.HasXLA() {
		t.Skip("missing: cgo")
	}
	m := newMachine(t)
	t.Setenv(plugin.Env, "none")
	m.want("plugin", OK, "pure Go", "times slower")
	gone := filepath.Join(m.module, "gone.so")
	t.Setenv(plugin.Env, gone)
	m.want("plugin", Fail, gone, "unset it")
	text := filepath.Join(m.module, "pjrt_c_api_cpu_plugin.so")
	m.write(text, "no library")
	t.Setenv(plugin.Env, text)
	m.want("plugin", Fail, text)
	t.Setenv(plugin.Env, "")
	t.Setenv("GOMLX_BACKEND", "go")
	m.want("plugin", OK, "GOMLX_BACKEND=go")
}

// TestDevices: a list of devices is reported, and one that is wrong.
func TestDevices(t *testing.T) {
	m := newMachine(t)
	t.Setenv(plugin.Env, "none")
	t.Setenv(device.ListEnv, "cpu:2")
	must.Has(t, accelerator(t.TempDir()).Detail, "; 2 processes on the processor")
	t.Setenv(device.ListEnv, "cpu:none")
	m.want("device", Fail, "ANTIPODE_DEVICES=cpu:none")
}

func TestRealPlugin(t *testing.T) {
	path := device.Find(device.XLACPU)
	if path == "" || !device.HasXLA() {
		if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "xla") {
			t.Fatal("REQUIRE=xla: no XLA plugin is here")
		}
		t.Skip("missing: an XLA plugin")
	}
	m := newMachine(t)
	t.Setenv(device.PathEnv, filepath.Dir(path))
	m.want("plugin", OK, device.XLACPU, path, device.PathEnv, "SHA-256")
	m.want("device", OK, device.XLACPU, "threads")
}

func TestStore(t *testing.T) {
	m := newMachine(t)
	m.write(filepath.Join(m.home, "blobs", "x"), strings.Repeat("x", 1_500_000))
	m.want("store", OK, "1.5 MB in 1 files")
	must.Do(t, os.Chmod(m.home, 0o777))
	m.want("store", Fail, "chmod go-w")
	if os.Getuid() != 0 {
		must.Do(t, os.Chmod(m.home, 0o500))
		m.want("store", Fail, "cannot be written")
	} else if err := os.Chown(m.home, 12345, -1); err == nil {
		m.want("store", Fail, "12345")
		must.Do(t, os.Chown(m.home, 0, -1))
	}
	file := filepath.Join(m.module, "file")
	m.write(file, "")
	m.home = file
	m.want("store", Fail, "not a folder")
	m.home = filepath.Join(file, "below")
	m.want("store", Fail, client.HomeVar)
}

func TestDisk(t *testing.T) {
	for free, state := range map[int64]State{1e8: Fail, 1e9: Warn, 1e11: OK} {
		must.Equal(t, diskCheck("/", free, "fix").State, state, free, "bytes free")
	}
}

func TestBackend(t *testing.T) {
	m := newMachine(t)
	path := must.Get(client.SocketPath(m.home))(t)
	m.want("backend", OK, "not running", path)
	l := must.Get(net.Listen("unix", path))(t)
	defer l.Close()
	m.want("backend", Warn, "does not answer", "antipode backend stop", path) // nothing reads what is sent
	_ = l.Close()
	l = must.Get(net.Listen("unix", path))(t)
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"pid":7}`) }))
	m.want("backend", OK, "running, process 7", path)
	long := filepath.Join(os.Getenv("TMPDIR"), strings.Repeat("long", 30))
	m.write(filepath.Join(long, "x"), "")
	t.Setenv("TMPDIR", long)
	m.want("backend", Fail, "100 bytes", "XDG_RUNTIME_DIR")
}

func TestKernelAndJupyter(t *testing.T) {
	m := newMachine(t)
	m.write(filepath.Join(m.home, "bin", "gonb-v0", "gonb"), "")
	m.write(filepath.Join(m.home, "bin", "gonb-v0", "goimports"), "")
	m.want("kernel", OK, "gonb built, goimports built")

	m.program("jupyter", "")
	m.want("jupyter", Warn, "antipode install")
	data := filepath.Join(os.Getenv("HOME"), "jupyterdata")
	t.Setenv("JUPYTER_DATA_DIR", data)
	spec := filepath.Join(data, "kernels", "antipode", "kernel.json")
	m.write(spec, "{")
	m.want("jupyter", Warn, "damaged")
	m.write(spec, fmt.Sprintf(`{"argv": [%q, "kernel", "{connection_file}"]}`, filepath.Join(m.bin, "antipode")))
	m.want("jupyter", Warn, "does not exist")
	m.program("antipode", "")
	m.want("jupyter", OK, "Go (Antipode)", filepath.Dir(spec))
}

func TestPrinting(t *testing.T) {
	checks := []Check{{"go", OK, "go1.26.8 at /usr/bin/go", ""}, {"c compiler", Warn, "none <cc>", "install one"}}
	var b bytes.Buffer
	must.Do(t, Text(&b, checks))
	want := "ok    go          go1.26.8 at /usr/bin/go\nwarn  c compiler  none <cc>\n                  → install one\n"
	must.True(t, b.String() == want, "got\n%s\nwant\n%s", b.String(), want)
	b.Reset()
	must.Do(t, JSON(&b, checks))
	var back []Check
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 2 || back[1] != checks[1] ||
		!strings.Contains(b.String(), `"state": "warn"`) {
		t.Errorf("%v: %s", err, b.String())
	}
	must.True(t, !Failed(checks) && Failed(append(checks, Check{State: Fail})), "only a failed check fails the report")
}
