package commands

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/internal/filelock"
	"antipode/internal/must"
	"antipode/kernel/backend"
)

// TestOldCopies: a new build removes the copies that nothing uses, and no others.
func TestOldCopies(t *testing.T) {
	root := must.Get(os.MkdirTemp("", "cp"))(t) // short: the path of a socket must fit
	t.Cleanup(func() { os.RemoveAll(root) })
	home, data := filepath.Join(root, "store"), filepath.Join(root, "jupyter")
	t.Setenv(client.HomeVar, home)
	t.Setenv(client.BinaryVar, "")
	t.Setenv("JUPYTER_DATA_DIR", data)
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("TMPDIR", root)
	write := func(path, text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o755))
	}
	bin := filepath.Join(home, "bin")
	const (
		unusedCopy, used, spec = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"
		served, fresh, aged    = "dddddddddddd", "eeeeeeeeeeee", "ffffffffffff"
	)
	for _, build := range []string{unusedCopy, unusedCopy + "-simd", used, used + "-simd", spec, served} {
		write(filepath.Join(bin, build, "antipode"), "#!/bin/sh\n")
		write(filepath.Join(bin, build, inUse), "")
	}
	for _, build := range []string{fresh, aged} { // made by builds that mark nothing
		write(filepath.Join(bin, build, "antipode"), "#!/bin/sh\n")
	}
	old := time.Now().Add(-2 * unmarkedAge)
	must.Do(t, os.Chtimes(filepath.Join(bin, aged), old, old))
	write(filepath.Join(bin, "gonb-v0.11.4", "gonb"), "#!/bin/sh\n")
	write(filepath.Join(bin, "current"), unusedCopy+"\n")
	f := must.Get(os.Open(filepath.Join(bin, used, inUse)))(t)
	defer f.Close()
	must.Do(t, filelock.Share(f))
	argv := []string{filepath.Join(bin, spec, "antipode"), "kernel", "{connection_file}"}
	kernelspec := must.Get(json.Marshal(map[string]any{"argv": argv}))(t)
	write(filepath.Join(data, "kernels", "antipode", "kernel.json"), string(kernelspec))
	l := must.Get(backend.Listen(home))(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/hello", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(client.Hello{Protocol: client.Protocol, Build: served})
	})
	server := &http.Server{Handler: mux}
	go server.Serve(l)
	defer server.Close()

	_, binary := must.Get2(setUp())(t)
	folders := must.Get(filepath.Glob(filepath.Join(bin, "*", "*")))(t)
	var got []string
	for _, path := range folders {
		if name := filepath.Base(path); name != inUse {
			got = append(got, filepath.Base(filepath.Dir(path)))
		}
	}
	want := []string{client.BuildOf(binary), used, used + "-simd", spec, served, fresh, "gonb-v0.11.4"}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the store holds %q, want %q", got, want)
	}
	must.True(t, !unused(filepath.Dir(binary)), "the copy of this process is not marked as in use")
}
