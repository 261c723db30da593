package plugin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/internal/must"
	_ "antipode/test/memdir"
)

func TestWhatIsThereIsTakenWithoutNetwork(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	mine := w.put(filepath.Join(folder, "pjrt_c_api_cpu_plugin.so"), fakePlugin(""))
	t.Setenv(device.PathEnv, folder)
	w.provider.goxla = func(context.Context, bool) error { t.Error("go-xla's installer ran"); return nil }
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACPU, mine)
	must.True(t, c.Source == device.PathEnv && len(w.hits) == 0 && w.printed() == "",
		"source %q, requests %v, printed %q", c.Source, w.hits, w.printed())
	must.Equal(t, w.another().current(), c, "Current returns", "Provide")
	must.Is(os.Stat(w.home))(t, fs.ErrNotExist) // the store is untouched
}

func TestWheelComesBeforeGoXLA(t *testing.T) {
	w := newWorld(t)
	w.provider.goxla = func(context.Context, bool) error { t.Error("go-xla's installer ran"); return nil }
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
}

func TestGoXLAWithoutWheel(t *testing.T) {
	w := newWorld(t)
	w.provider.wheels = nil
	path := filepath.Join(os.Getenv("HOME"), ".local", "lib", "go-xla", "pjrt_c_api_cpu_v0.114.0_plugin.so")
	w.provider.goxla = func(_ context.Context, cpuOnly bool) error {
		must.True(t, cpuOnly, "CUDA was requested on a machine without a GPU")
		w.put(path, fakePlugin("by go-xla"))
		return nil
	}
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACPU, path)
	must.Equal(t, c.SHA256, sum(fakePlugin("by go-xla")))
	must.Has(t, c.Version, "v0.114.0")
	// A changed file is detected at the next start and skipped, and the wheel is installed.
	w.put(path, fakePlugin("by somebody else"))
	c, err = w.another().provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	must.True(t, strings.Contains(w.printed(), sum(fakePlugin("by somebody else"))),
		"the changed plugin's hash is not named:\n%s", w.printed())
}

// ANTIPODE_PLUGIN=wheel and =go-xla use that source only, whatever is installed.
func TestNamedSource(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(os.Getenv("HOME"), ".local", "lib", "go-xla", "pjrt_c_api_cpu_v0.114.0_plugin.so")
	install := func(context.Context, bool) error { w.put(path, fakePlugin("by go-xla")); return nil }
	for _, step := range []struct{ source, path string }{
		{GoXLA, path}, {Wheel, w.wheel.path(w.folder())}, {GoXLA, path}, {Wheel, w.wheel.path(w.folder())},
	} {
		t.Setenv(Env, step.source)
		p := w.another()
		if p.goxla = install; step.source == Wheel {
			p.goxla = nil
		}
		c, err := p.provide(context.Background())
		w.want(c, err, device.XLACPU, step.path)
		must.Equal(t, w.another().current().Path, step.path, step.source, "Current returns")
	}
	t.Setenv(Env, GoXLA)
	must.Do(t, os.Remove(path))
	p := w.another()
	p.goxla = func(context.Context, bool) error { return errors.New("no network") }
	c, err := p.provide(context.Background())
	w.want(c, err, device.Go, "")
}

func TestGPU(t *testing.T) {
	w := newWorld(t)
	lib := filepath.Join(os.Getenv("HOME"), ".local", "lib", "go-xla")
	cuda := filepath.Join(lib, "nvidia", "pjrt_c_api_cuda_plugin.so")
	cpu := filepath.Join(lib, "pjrt_c_api_cpu_plugin.so")
	w.gpu = true
	w.provider.goxla = func(_ context.Context, cpuOnly bool) error {
		must.True(t, !cpuOnly, "with a GPU the CUDA plugin must be requested")
		w.put(cuda, fakePlugin("cuda"))
		w.put(cpu, fakePlugin("cpu"))
		return nil
	}
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACUDA, cuda)

	// A CUDA plugin that does not load: XLA on the CPU, with one line.
	w.lines = nil
	p := w.another()
	p.gpu = true
	p.goxla = func(context.Context, bool) error { t.Error("requested again"); return nil }
	p.probe = func(_ context.Context, kind, _ string) error {
		if kind == device.XLACUDA {
			return errors.New("libcuda.so.1 is missing")
		}
		return nil
	}
	p.open = func(kind, path string) (*device.Device, error) { return &device.Device{Kind: kind, Plugin: path}, nil }
	d, c, err := p.openBest(context.Background())
	w.want(c, err, device.XLACPU, cpu)
	if d.Kind != device.XLACPU || len(w.lines) != 1 || !strings.Contains(w.printed(), "libcuda.so.1 is missing") {
		t.Errorf("opened %s, printed:\n%s", d.Kind, w.printed())
	}
	// The CPU plugin is recorded as working; the other is tried again.
	probed := []string{}
	p = w.another()
	p.gpu = true
	p.probe = func(_ context.Context, kind, _ string) error { probed = append(probed, kind); return errors.New("no") }
	p.open = func(kind, path string) (*device.Device, error) { return &device.Device{Kind: kind, Plugin: path}, nil }
	if _, c, err = p.openBest(context.Background()); err != nil || c.Kind != device.XLACPU || len(probed) != 1 {
		t.Errorf("second start: %s, error %v, probed %v", c.Kind, err, probed)
	}

	// GOMLX_BACKEND restricts the choice.
	t.Setenv("GOMLX_BACKEND", device.XLACPU)
	p = w.another()
	p.gpu = true
	c, err = p.provide(context.Background())
	w.want(c, err, device.XLACPU, cpu)
	t.Setenv("GOMLX_BACKEND", device.Go)
	c, err = w.another().provide(context.Background())
	w.want(c, err, device.Go, "")
}

func TestGPUWithoutCUDAPlugin(t *testing.T) {
	w := newWorld(t)
	cpu := w.put(filepath.Join(os.Getenv("HOME"), ".local", "lib", "go-xla", "pjrt_c_api_cpu_plugin.so"),
		fakePlugin("cpu"))
	w.gpu = true
	w.provider.goxla = func(context.Context, bool) error {
		t.Error("with a plugin present nothing may try the network")
		return nil
	}
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACPU, cpu)
	must.True(t, len(w.lines) == 1 && strings.Contains(w.printed(), "GOMLX_BACKEND=xla:cuda"),
		"printed:\n%s", w.printed())
	t.Setenv("GOMLX_BACKEND", device.XLACUDA)
	requested := false
	p := w.another()
	p.goxla = func(_ context.Context, cpuOnly bool) error { requested = !cpuOnly; return errors.New("no network") }
	p.index = func() []string { return nil }
	c, err = p.provide(context.Background())
	w.want(c, err, device.XLACPU, cpu)
	must.True(t, requested, "GOMLX_BACKEND=xla:cuda did not request the CUDA plugin")
}

func TestEnvironmentDecides(t *testing.T) {
	w := newWorld(t)
	w.provider.goxla = func(context.Context, bool) error { t.Error("go-xla's installer ran"); return nil }
	folder := t.TempDir()
	mine := w.put(filepath.Join(folder, "pjrt_c_api_cpu_plugin.so"), fakePlugin("mine"))
	odd := w.put(filepath.Join(folder, "xla.so"), fakePlugin("odd"))
	for value, path := range map[string]string{"none": "", folder: mine, mine: mine, odd: odd} {
		t.Setenv(Env, value)
		kind := device.XLACPU
		if path == "" {
			kind = device.Go
		}
		c, err := w.provide(context.Background())
		w.want(c, err, kind, path)
		got := w.another().current()
		must.True(t, got.Kind == kind && got.Path == path, "%s=%s: Current returns %+v", Env, value, got)
	}
	w.put(filepath.Join(folder, "text.so"), []byte("no library"))
	for _, value := range []string{filepath.Join(folder, "gone"), t.TempDir(), filepath.Join(folder, "text.so")} {
		t.Setenv(Env, value)
		must.Fail(w.provide(context.Background()))(t, value)
		if got := w.another().current(); device.KindOf(value) == "" && got.Kind == device.Go &&
			!strings.Contains(got.Source, value) {
			t.Errorf("%s=%s: Current returns %+v", Env, value, got)
		}
	}
	must.Equal(t, len(w.hits), 0, "requests", w.hits)
}

func TestNothingToBeHad(t *testing.T) {
	w := newWorld(t)
	w.Offline = true
	c, err := w.provide(context.Background())
	w.want(c, err, device.Go, "")
	must.True(t, len(w.hits) == 0 && c.Slower != "" && strings.Contains(w.printed(), c.Slower),
		"requests %v, printed %q", w.hits, w.printed())
	p := w.another()
	p.hasXLA = false
	c, err = p.provide(context.Background())
	w.want(c, err, device.Go, "")
	must.Equal(t, len(w.hits), 0, w.hits)
	must.Has(t, w.printed(), "C compiler")
	p = w.another()
	p.wheels = []wheel{{OS: "plan9", Arch: "mips"}}
	c, err = p.provide(context.Background())
	w.want(c, err, device.Go, "")
	must.Has(t, w.printed(), "no wheel is pinned for")
	// A store that cannot be written: pure Go, and a line.
	w.home = w.put(filepath.Join(t.TempDir(), "a file"), nil)
	c, err = w.another().provide(context.Background())
	w.want(c, err, device.Go, "")
}

func TestOneFetchesTheOthersWait(t *testing.T) {
	w := newWorld(t)
	type result struct {
		c   Choice
		err error
	}
	results := make(chan result)
	for range 4 {
		p := w.another()
		go func() {
			c, err := p.provide(context.Background())
			results <- result{c, err}
		}()
	}
	for range 4 {
		r := <-results
		w.want(r.c, r.err, device.XLACPU, w.wheel.path(w.folder()))
	}
	must.Equal(t, len(w.hits), 2, "four installations sent the requests", "one page and one file are enough")
	// Waiting ends with the context.
	unlock := must.Get(lock(context.Background(), filepath.Join(w.folder(), ".lock"), func() {}))(t)
	defer unlock()
	must.Do(t, os.Remove(w.wheel.path(w.folder())))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.another().provide(ctx); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(w.printed(), "another antipode") {
		t.Errorf("error %v, printed:\n%s", err, w.printed())
	}
}
