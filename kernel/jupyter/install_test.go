package jupyter

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"antipode/internal/must"
)

// Install writes a kernelspec that names the program; Uninstall takes it away.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds GoNB")
	}
	data, store := t.TempDir(), t.TempDir()
	t.Setenv("JUPYTER_DATA_DIR", data)
	must.Is(Installed())(t, fs.ErrNotExist) // before
	_ = must.Get(Tools(t.Context(), "../..", home(), nil))(t)
	// not to build them again
	must.Do(t, os.Symlink(filepath.Join(home(), "bin"), filepath.Join(store, "bin")))
	installed := filepath.Join(t.TempDir(), "it's installed", "antipode")
	dir := must.Get(Install(t.Context(), Options{ModuleDir: "../..", Home: store, Binary: "/where/it/stays",
		Program: installed}))(t)
	must.Equal(t, dir, filepath.Join(data, "kernels", SpecName), "installed in")
	_, spec := must.Get2(Installed())(t)
	must.True(t, spec.DisplayName == "Go (Antipode)" && spec.Language == "go" && spec.InterruptMode == "message",
		"spec is %+v", spec)
	launch := filepath.Join(dir, "launch")
	must.EqualSlices(t, spec.Argv, []string{launch, "kernel", "{connection_file}"}, spec.Env)
	must.Equal(t, len(spec.Env), 0, spec.Env)
	launched(t, launch, installed, store)
	must.Equal(t, must.Get(Uninstall())(t), dir, "uninstall")
	must.Is(os.Stat(dir))(t, fs.ErrNotExist) // after
	if _, err := Uninstall(); err != nil {
		t.Errorf("uninstalling nothing: %v", err)
	}
}

// launched tests what the launcher starts: the installed command as it is now, without it the current copy of the
// store, and the environment's store and module in place of the recorded ones.
func launched(t *testing.T, launch, installed, store string) {
	t.Helper()
	other := t.TempDir()
	write := func(path, build string) {
		t.Helper()
		script := "#!/bin/sh\necho " + build + " $ANTIPODE_HOME $ANTIPODE_MODULE \"$ANTIPODE_BIN\" $*\n"
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(script), 0o755))
	}
	module, _ := filepath.Abs("../..")
	t.Setenv("ANTIPODE_BIN", "/an/old/build")
	for _, step := range []struct {
		change func()
		home   string
		want   string
	}{
		{func() { write(installed, "old") }, "", "old " + store},
		{func() { write(installed, "new") }, "", "new " + store},
		{func() {}, other, "new " + other},
		{func() {
			_ = os.Remove(installed)
			write(filepath.Join(other, "bin", "abc", "antipode"), "copy")
			_ = os.WriteFile(filepath.Join(other, "bin", "current"), []byte("abc\n"), 0o600)
		}, other, "copy " + other},
		{func() { _ = os.RemoveAll(filepath.Join(other, "bin")) }, other, "antipode: no build of the command is left"},
	} {
		step.change()
		t.Setenv("ANTIPODE_HOME", step.home)
		t.Setenv("ANTIPODE_MODULE", "")
		out, _ := exec.Command(launch, "kernel", "file").CombinedOutput()
		want := step.want + " " + module + "  kernel file\n"
		if strings.HasPrefix(step.want, "antipode:") {
			want = step.want + "; run antipode install again\n"
		}
		must.Equal(t, string(out), want, "started", out)
	}
}

func TestKernelsDir(t *testing.T) {
	t.Setenv("HOME", "/h")
	t.Setenv("XDG_DATA_HOME", "/x")
	t.Setenv("JUPYTER_DATA_DIR", "")
	want := cmp.Or(map[string]string{"darwin": "/h/Library/Jupyter/kernels"}[runtime.GOOS], "/x/jupyter/kernels")
	must.Equal(t, must.Get(KernelsDir())(t), want)
	t.Setenv("JUPYTER_DATA_DIR", "/j")
	must.Equal(t, must.Get(KernelsDir())(t), "/j/kernels")
}

// A missing module or tool is reported in one line.
func TestStartErrors(t *testing.T) {
	empty := t.TempDir()
	other := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(other, "go.mod"), []byte("module other\n\ngo 1.26\n"), 0o644))
	for dir, want := range map[string]string{empty: "no Go module", other: "not the module antipode"} {
		_, err := Start(t.Context(), Options{ModuleDir: dir, Home: empty})
		must.Err(t, err, want)
	}
	for content, want := range map[string]string{"": "not valid JSON",
		`{"transport":"carrier pigeon"}`: "not tcp or ipc"} {
		file := filepath.Join(empty, "connection.json")
		must.Do(t, os.WriteFile(file, []byte(content), 0o600))
		must.Err(t, Serve(t.Context(), file, "", nil), want)
	}
}

// A kernel that is started with a desktop's PATH finds Go where the kernelspec says; without any Go the error says
// so.
func TestFindGo(t *testing.T) {
	real := must.Get(exec.LookPath("go"))(t)
	t.Setenv("PATH", t.TempDir())
	t.Setenv(goVar, filepath.Dir(real))
	must.Do(t, FindGo())
	must.Equal(t, must.Get(exec.LookPath("go"))(t), real, "found")
}
