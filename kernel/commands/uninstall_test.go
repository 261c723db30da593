package commands

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"antipode/internal/must"
)

// uninstall removes the kernelspec, temporary folders that no process uses and, with a yes, the store's own files.
func TestUninstall(t *testing.T) {
	run := inProcess(t)
	root := must.Get(os.MkdirTemp("", "un"))(t) // short: the path of a socket must fit
	t.Cleanup(func() { os.RemoveAll(root) })
	home, temp := filepath.Join(root, "store"), filepath.Join(root, "tmp")
	for name, dir := range map[string]string{"ANTIPODE_HOME": home, "TMPDIR": temp, "XDG_RUNTIME_DIR": "",
		"XDG_CACHE_HOME": filepath.Join(root, "cache"), "JUPYTER_DATA_DIR": filepath.Join(root, "jupyter")} {
		t.Setenv(name, dir)
	}
	spec := filepath.Join(root, "jupyter", "kernels", "antipode")
	for _, dir := range []string{spec, filepath.Join(home, "bin"), filepath.Join(home, "kept"), temp,
		filepath.Join(temp, "apk-1"), filepath.Join(temp, "antipode-exec-2"), filepath.Join(temp, "other")} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	used := must.Get(os.Open(filepath.Join(temp, "antipode-exec-2")))(t)
	defer used.Close()
	text, err := run("uninstall")
	_, specErr := os.Stat(spec)
	_, storeErr := os.Stat(filepath.Join(home, "kept"))
	must.True(t, err == nil && specErr != nil && storeErr == nil && strings.Contains(text, "kept the store"),
		"without an answer: %q, %v, %v, %v", text, err, specErr, storeErr)
	want := "antipode-exec-2 other"
	if runtime.GOOS != "linux" {
		want = "antipode-exec-2 apk-1 other"
	}
	left, _ := filepath.Glob(filepath.Join(temp, "*"))
	must.Equal(t, strings.ReplaceAll(strings.Join(left, " "), temp+"/", ""), want, "left in the temporary folder")
	own := filepath.Join(home, "thesis.txt")
	must.Do(t, os.WriteFile(own, nil, 0o600))
	text, err = run("uninstall", "--yes")
	rest, _ := os.ReadDir(home)
	must.True(t, err == nil && len(rest) == 1 && strings.Contains(text, "has other files and stays"),
		"with --yes: %q, %v, %v", text, err, rest)
	must.Do(t, os.Remove(own))
	if text, err = run("uninstall", "--yes"); err != nil || !strings.Contains(text, "removed the store") {
		t.Errorf("%q, %v", text, err)
	}
	must.Fail(os.Stat(home))(t) // the store is left
}
