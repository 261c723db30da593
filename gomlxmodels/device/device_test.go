package device

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"antipode/internal/must"
)

// TestWithoutXLA: a program that does not link XLA opens pure Go alone.
func TestWithoutXLA(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	must.Fail(Open("tpu", ""))(t, XLACPU) // an unknown kind
	must.Equal(t, must.Get(Open("", ""))(t).Kind, Go, "none named")
	if _, err := Open(XLACPU, ""); !errors.Is(err, ErrNoXLA) {
		t.Errorf("XLA: %v", err)
	}
}

func TestWanted(t *testing.T) {
	for value, want := range map[string]string{"": "", "go": Go, "xla:cpu": XLACPU, "xla:cuda,tf32=false": XLACUDA,
		"xla:/some/path": ""} {
		t.Setenv("GOMLX_BACKEND", value)
		must.Equal(t, Wanted(), want, "GOMLX_BACKEND", value)
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
	must.Equal(t, Find(XLACUDA), filepath.Join(one, "pjrt_c_api_cuda_plugin.so"), "cuda")
	jax := filepath.Join(t.TempDir(), "xla_cuda_plugin.so")
	must.Do(t, os.WriteFile(jax, nil, 0o600))
	must.Equal(t, FindIn(XLACUDA, filepath.Dir(jax)), jax, "JAX's CUDA plugin")
	must.Equal(t, filepath.Dir(Find(XLACPU)), two, "cpu", "one in")
	link := filepath.Join(two, "pjrt_c_api_cpu_plugin.so")
	must.Do(t, os.Symlink("pjrt_c_api_cpu_v0.114.0_plugin.so", link))
	must.Equal(t, Find(XLACPU), link, "the plainest name must win")
	must.Do(t, os.Remove(filepath.Join(two, "pjrt_c_api_cpu_v0.114.0_plugin.so")))
	if got, want := Find(XLACPU), filepath.Join(two, "pjrt_c_api_cpu_v0.98.0_plugin.so"); got != want {
		t.Errorf("a dangling link must be passed over: %q, want %q", got, want)
	}
	home := filepath.Join(t.TempDir(), "a [store]")
	must.Do(t, os.MkdirAll(filepath.Join(home, "plugins", "some-wheel-1.0"), 0o700))
	must.Do(t, os.MkdirAll(filepath.Join(home, "plugins", "some-wheel-0.9.2"), 0o700))
	kept := filepath.Join(home, "plugins", "some-wheel-0.10.0")
	must.Equal(t, filepath.Base(StoreFolders(home)[0]), "some-wheel-1.0", "the newest")
	must.Do(t, os.Remove(filepath.Join(home, "plugins", "some-wheel-1.0")))
	must.Do(t, os.MkdirAll(kept, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(kept, "pjrt_c_api_cpu_plugin.so"), nil, 0o600))
	must.Equal(t, StoreFolders(home)[0], kept, "the newest")
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
	must.Equal(t, os.Getenv("NPROC"), strconv.Itoa(runtime.GOMAXPROCS(0)), "NPROC")
	t.Setenv("NPROC", "7")
	setThreads()
	must.Equal(t, os.Getenv("NPROC"), "7", "the user's NPROC became")
}
