//go:build checks

package audits_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/testbackend"
	"antipode/internal/testnotebook"
	"antipode/kernel/client"
	"antipode/kernel/jupyter"
)

// TestResume runs each audit's notebook on a small study of the built-in world, in a store of its own. Then, in an empty
// store, it kills the run and its backend with SIGKILL at two random moments and runs the notebook again: the ledger and
// all tables and figures are those of the undisturbed run, byte for byte.
func TestResume(t *testing.T) {
	testbackend.XLA(t) // skips without a plugin
	home, run := t.TempDir(), shortDir(t)
	if installed, err := client.Home(); err == nil {
		if err := os.Symlink(filepath.Join(installed, "plugins"), filepath.Join(home, "plugins")); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ANTIPODE_HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", run)
	if _, err := jupyter.Tools(t.Context(), "..", home, nil); err != nil {
		t.Fatal(err)
	}
	for name, parameters := range map[string][]string{
		"decomposed_dig": {"generator=archipelago-sampler", "objects=boat,drum", "n=4"},
		"indictti":       {"generator=archipelago-sampler", "prompts=3", "n=2"},
		"visage":         {"generator=archipelago-sampler", "n=1"},
		"cococrola":      {"generator=archipelago-sampler", "n=2"},
		"entigen":        {"generator=archipelago-sampler", "n=2"},
	} {
		t.Run(name, func(t *testing.T) { resume(t, testnotebook.Open(t, name), home, parameters) })
	}
}

func resume(t *testing.T, notebook *testnotebook.Notebook, home string, parameters []string) {
	forget(t, notebook, home)
	defer forget(t, notebook, home)
	start := time.Now()
	notebook.Run(parameters...)
	took := time.Since(start)
	all := backend(t, notebook)
	want := map[string]string{}
	for _, extension := range []string{".ledger.csv", ".ledger.json", ".ledger.html", ".out.ipynb", ".out.html"} {
		want[extension] = notebook.File(extension)
	}
	forget(t, notebook, home)
	computed := 0
	for range 2 {
		cmd := notebook.Runs(parameters...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		moment := time.Duration((0.15 + 0.6*rand.Float64()) * float64(took))
		time.Sleep(moment)
		before := backend(t, notebook)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if pid := backend(t, notebook).PID; pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("a run of %v had ended after %v: %v", took, moment, err)
		}
		t.Logf("killed after %v of %v, with %d of %d items computed", moment.Round(time.Second/10),
			took.Round(time.Second/10), before.Computed, all.Computed)
		computed = max(computed, before.Computed)
	}
	notebook.Run(parameters...)
	last := backend(t, notebook)
	t.Logf("the last run computed %d items", last.Computed)
	if all.Computed == 0 || computed > batches && last.Computed >= all.Computed {
		t.Errorf("after %d items the last run computed %d of %d", computed, last.Computed, all.Computed)
	}
	for extension, text := range want {
		if got := notebook.File(extension); got != text {
			t.Errorf("%s differs %s", extension, difference(got, text))
		}
	}
}

// batches is more than the items of the batches in flight that a kill loses.
const batches = 200

// status is what antipode backend status reports; the zero value if no backend runs.
type status struct {
	PID      int
	Computed int `json:"items_computed"`
}

func backend(t *testing.T, notebook *testnotebook.Notebook) (s status) {
	t.Helper()
	text, err := notebook.Command("backend", "status", "--json").Output()
	if err != nil {
		return status{}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return s
}

// forget ends the backend and removes everything from the store but programs and plugins.
func forget(t *testing.T, notebook *testnotebook.Notebook, home string) {
	t.Helper()
	_ = notebook.Command("backend", "stop").Run() // none may run
	entries, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "bin" || e.Name() == "plugins" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(home, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// difference describes the first difference of two texts.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	part := func(s string) string { return s[max(0, at-80):min(len(s), at+80)] }
	return "after …" + part(got) + "…\nwant …" + part(want) + "…"
}

// shortDir is a temporary folder with a short path, as those of sockets are.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "apr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
