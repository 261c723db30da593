//go:build checks

package audits_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/jupyter"
	"antipode/test/testbackend"
	"antipode/test/testnotebook"
)

// TestResume runs each audit's notebook on a small study of the built-in world, in a store of its own. Then, in an
// empty store, it kills the run and its backend with SIGKILL twice, each time after a random number of the items that
// are missing, and runs the notebook again: the ledger and all tables and figures are those of the undisturbed run,
// byte for byte, and no item is computed again but those of the batches that the kills lost.
func TestResume(t *testing.T) {
	testbackend.XLA(t) // skips without a plugin
	home, run := t.TempDir(), shortDir(t)
	if installed, err := client.Home(); err == nil {
		must.Do(t, os.Symlink(filepath.Join(installed, "plugins"), filepath.Join(home, "plugins")))
	}
	t.Setenv("ANTIPODE_HOME", home)
	t.Setenv("XDG_RUNTIME_DIR", run)
	_ = must.Get(jupyter.Tools(t.Context(), "..", home, nil))(t)
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
	notebook.Run(parameters...)
	all := backend(t, notebook).Computed
	want := map[string]string{}
	for _, extension := range []string{".ledger.csv", ".ledger.json", ".ledger.html", ".out.ipynb", ".out.html"} {
		want[extension] = notebook.File(extension)
	}
	forget(t, notebook, home)
	computed := 0
	for range 2 {
		missing := max(0, all-computed)
		n := min(missing, 1+rand.IntN((missing+1)/2+1))
		done := killed(t, notebook, parameters, n)
		t.Logf("killed after %d of %d missing items", done, missing)
		computed += done
	}
	notebook.Run(parameters...)
	last := backend(t, notebook).Computed
	t.Logf("the last run computed %d items, the undisturbed one %d", last, all)
	if again := computed + last - all; all == 0 || again > lost { // below 0: computed after a kill was decided
		t.Errorf("%d items were computed again", again)
	}
	for extension, text := range want {
		must.Equal(t, notebook.File(extension), text, extension, "differs")
	}
}

// lost is more than the items of the batches in flight at two kills.
const lost = 128

// killed starts the notebook, kills it and its backend once the backend has computed n items, and returns how many it
// had computed by then.
func killed(t *testing.T, notebook *testnotebook.Notebook, parameters []string, n int) int {
	t.Helper()
	cmd := notebook.Runs(parameters...)
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			t.Fatalf("the run ended before %d items were computed: %v", n, err)
		case <-time.After(100 * time.Millisecond):
		}
		s := backend(t, notebook)
		if s.PID <= 1 || s.Computed < n {
			continue
		}
		_ = cmd.Process.Kill()
		_ = syscall.Kill(s.PID, syscall.SIGKILL)
		must.Fail(<-ended)(t, "killed")
		return s.Computed
	}
}

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
	entries := must.Get(os.ReadDir(home))(t)
	for _, e := range entries {
		if e.Name() == "bin" || e.Name() == "plugins" {
			continue
		}
		must.Do(t, os.RemoveAll(filepath.Join(home, e.Name())))
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
	dir := must.Get(os.MkdirTemp("", "apr"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
