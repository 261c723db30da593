package plugin

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/internal/must"
)

// A plugin that crashes its process, hangs or fails is reported in one line; the backend continues without it.
func TestBadPluginsAreTriedOutside(t *testing.T) {
	if !device.HasXLA() || runtime.GOOS != "linux" {
		t.Skip("missing: cgo on linux")
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("missing: cc")
	}
	for name, c := range map[string]struct {
		code, prints string
		limit        time.Duration
	}{
		"crash": {`#include <stdlib.h>
__attribute__((constructor)) static void start(void) { abort(); }`, "the process ended", time.Minute},
		"hang": {`#include <unistd.h>
__attribute__((constructor)) static void start(void) { sleep(60); }`, "timed out after", 200 * time.Millisecond},
		"nothing": {``, "nil", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			lib := filepath.Join(os.Getenv("HOME"), ".local", "lib", "go-xla")
			source := w.put(filepath.Join(lib, "plugin.c"), []byte(c.code+"\nvoid *GetPjrtApi(void) { return 0; }\n"))
			path := filepath.Join(lib, "pjrt_c_api_cpu_plugin.so")
			if out, err := exec.Command(compiler, "-shared", "-fPIC", "-o", path, source).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			w.limits.probe = c.limit
			w.Offline = true
			d, choice, err := w.openBest(context.Background())
			w.want(choice, err, device.Go, "")
			defer d.Close()
			if d.Kind != device.Go || !strings.Contains(w.lines[0], c.prints) {
				t.Errorf("opened %s, printed:\n%s", d.Kind, w.printed())
			}
		})
	}
}

func TestOpen(t *testing.T) {
	path := device.Find(device.XLACPU)
	if path == "" || !device.HasXLA() {
		if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "xla") {
			t.Fatal("REQUIRE=xla: no XLA plugin is here")
		}
		t.Skip("missing: an XLA plugin")
	}
	w := newWorld(t)
	t.Setenv(device.PathEnv, filepath.Dir(path))
	d, c := must.Get2(Open(context.Background(), w.Options))(t)
	defer d.Close()
	if c.Path != path || d.Kind != c.Kind || !loadedBefore(w.folder(), path) {
		t.Errorf("%+v, printed:\n%s", c, w.printed())
	}
}

// go-xla's installer itself, started as in production, with a proxy that refuses everything: no network is needed.
func TestInstallerChild(t *testing.T) {
	w := newWorld(t)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	must.Do(t, os.MkdirAll(w.folder(), 0o700))
	err := runInstaller(context.Background(), w.folder(), true, usual)
	must.Err(t, err, "refused")
	w.tidy()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	must.Is(runInstaller(ctx, w.folder(), true, usual))(t, context.Canceled) // canceled
}

func TestBuildSIMD(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("missing: amd64")
	}
	module := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module probe\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(simd) }\n",
		"on.go":   "//go:build goexperiment.simd\n\npackage main\n\nconst simd = \"with\"\n",
		"off.go":  "//go:build !goexperiment.simd\n\npackage main\n\nconst simd = \"without\"\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(module, name), []byte(text), 0o600))
	}
	t.Setenv("GOFLAGS", "-mod=mod")
	out := filepath.Join(t.TempDir(), "probe")
	must.Do(t, BuildSIMD(context.Background(), module, out))
	must.Equal(t, strings.TrimSpace(string(must.Get(exec.Command(out).CombinedOutput())(t))), "with",
		"the program reports")
	must.Do(t, os.WriteFile(filepath.Join(module, "off.go"), []byte("package main\n\nfunc f() { undefined() }\n"),
		0o600))
	must.Fail(BuildSIMD(context.Background(), module, out))(t) // a module that does not build
	if _, err := os.Stat(out); err != nil {
		t.Errorf("the earlier program is gone: %v", err)
	}
}
