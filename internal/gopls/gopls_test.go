package gopls

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/modfile"
)

const root = "../.."

// TestPinned: one version, with its sum, and the language version of the module itself.
func TestPinned(t *testing.T) {
	read := func(path string) *modfile.File {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := modfile.Parse(path, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	own, main := read(filepath.Join(root, File)), read(filepath.Join(root, "go.mod"))
	if own.Go.Version != main.Go.Version || own.Module.Mod.Path != main.Module.Mod.Path {
		t.Errorf("%s is of module %s, Go %s; go.mod is of %s, Go %s", File, own.Module.Mod.Path, own.Go.Version, main.Module.Mod.Path, main.Go.Version)
	}
	sums, err := os.ReadFile(filepath.Join(root, strings.TrimSuffix(File, ".mod")+".sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range own.Require {
		if r.Mod.Path == pkg && strings.Contains(string(sums), pkg+" "+r.Mod.Version+" h1:") {
			return
		}
	}
	t.Errorf("%s requires no %s whose sum is known", File, pkg)
}

// fakeGo puts a program named go first in the path: it writes what it was called with, then does as told.
func fakeGo(t *testing.T, script string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	text := "#!/bin/sh\necho \"$PWD $GOWORK $*\" >> '" + calls + "'\nwhile [ \"$1\" != -o ]; do shift; done\nout=$2\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return calls
}

func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".gopls.lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestBuildOnce(t *testing.T) {
	calls := fakeGo(t, `echo built > "$out"`)
	t.Setenv("GOFLAGS", "-modfile=other.mod -trimpath")
	module, dir := t.TempDir(), t.TempDir()
	for range 2 {
		if err := Build(t.Context(), module, dir, filepath.Join(t.TempDir(), "pid")); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(data), "\n") != 1 || !strings.Contains(string(data), "off build -modfile=internal/gopls/gopls.mod") {
		t.Errorf("go was called so: %s (%v)", data, err)
	}
	if got := left(t, dir); len(got) != 1 || got[0] != "gopls" {
		t.Errorf("the folder holds %v", got)
	}
	if got := flags(); got != "-trimpath" {
		t.Errorf("flags %q", got)
	}
}

func TestBuildFails(t *testing.T) {
	fakeGo(t, `echo half > "$out"; echo no network >&2; exit 1`)
	dir := t.TempDir()
	err := Build(t.Context(), t.TempDir(), dir, filepath.Join(t.TempDir(), "pid"))
	if err == nil || !strings.Contains(err.Error(), "no network") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestBuildEndsWithItsContext(t *testing.T) {
	started := filepath.Join(t.TempDir(), "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	fakeGo(t, `echo half > "$out"; echo $$ > '`+started+`'; sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(started) // waits for the build to be under way
		cancel()
	}()
	dir := t.TempDir()
	if err := Build(ctx, t.TempDir(), dir, filepath.Join(t.TempDir(), "pid")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := left(t, dir); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

func TestAnotherIsBuilding(t *testing.T) {
	calls := fakeGo(t, `exit 1`)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, ".gopls.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := Build(t.Context(), t.TempDir(), dir, filepath.Join(t.TempDir(), "pid")); err != nil {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(calls); err == nil {
		t.Error("built beside another build")
	}
}
