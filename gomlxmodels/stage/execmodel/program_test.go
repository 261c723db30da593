package execmodel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestPrograms: a program must be a regular, executable file that others cannot replace.
func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o600))
	for _, c := range []struct {
		mode, folder os.FileMode
		path, want   string
	}{
		{0o600, 0o700, path, "not executable"},
		{0o702 | 0o100, 0o700, path, "everybody may write"},
		{0o700, 0o702, path, "everybody may write"},
		{0o700, 0o700, dir, "no regular file"},
		{0o700, 0o700, path + "x", "no such file"},
		{0o700, 0o700, "p", "given by its path"},
		{0o700, 0o700, path, ""},
	} {
		must.Do(t, errors.Join(os.Chmod(path, c.mode), os.Chmod(dir, c.folder)))
		_, digest, err := Inspect(c.path)
		if c.want == "" && (err != nil || len(digest) != 64) ||
			c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %o: %v, want %q", c.path, c.mode, err, c.want)
		}
	}
}

// TestChanged: a program that changes during a run is not started again.
func TestChanged(t *testing.T) {
	g, _ := group(t, "ok", func(o *Options) { o.Digest = strings.Repeat("0", 64) })
	must.Fail(g.Run(t.Context(), items(1), nil))(t, "changed during")
}

// TestGPUs: one worker per GPU sees that GPU alone.
func TestGPUs(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "2, 5")
	g := must.Get(New(Options{Workers: -1, Task: Generate}))(t)
	must.Equal(t, g.Workers(), 2)
	must.Equal(t, g.visible(1), "CUDA_VISIBLE_DEVICES=5")
	env := environment([]string{"A=1", "HF_TOKEN=x", "ANTIPODE_HOME=y", "CUDA_VISIBLE_DEVICES=2, 5"}, nil,
		g.visible(0)) // the last one holds
	must.Equal(t, strings.Join(env, "; "), "A=1; CUDA_VISIBLE_DEVICES=2, 5; CUDA_VISIBLE_DEVICES=2")
	t.Setenv("HIP_VISIBLE_DEVICES", "7")
	t.Setenv("CUDA_VISIBLE_DEVICES", "-1")
	must.Fail(New(Options{Workers: -1, Task: Generate}))(t, "no GPU found")
	must.Do(t, os.Unsetenv("CUDA_VISIBLE_DEVICES")) // t restores it
	must.Equal(t, strings.Join(visibleGPUs(), " "), "HIP_VISIBLE_DEVICES=7", "AMD GPUs")
}
