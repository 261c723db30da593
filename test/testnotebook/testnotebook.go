// Package testnotebook runs a notebook in a test, through the built command, as a user does.
package testnotebook

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

// Notebook is a copy of a notebook in a temporary folder, in which it runs.
type Notebook struct {
	t                 *testing.T
	binary, dir, name string
}

// Open builds the antipode command and copies a notebook of the folder notebooks, such as "decomposed_dig".
func Open(t *testing.T, name string) *Notebook {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "")
	n := &Notebook{t, filepath.Join(t.TempDir(), "antipode"), t.TempDir(), name}
	if out, err := exec.Command("go", "build", "-o", n.binary, "antipode").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	module := must.Get(exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output())(t)
	source := must.Get(os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "notebooks", name+".ipynb")))(t)
	must.Do(t, os.WriteFile(filepath.Join(n.dir, name+".ipynb"), source, 0o600))
	return n
}

// Command returns the command with arguments, in the notebook's folder.
func (n *Notebook) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(n.binary, args...)
	cmd.Dir = n.dir
	return cmd
}

// Runs returns the command that runs the notebook with parameters NAME=VALUE.
func (n *Notebook) Runs(parameters ...string) *exec.Cmd {
	args := []string{"run", n.name + ".ipynb"}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	return n.Command(args...)
}

// Run runs the notebook with parameters NAME=VALUE and returns what the command printed.
func (n *Notebook) Run(parameters ...string) string {
	n.t.Helper()
	out, err := n.Runs(parameters...).CombinedOutput()
	if err != nil {
		n.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// File returns the newest file with the notebook's name and an extension, such as ".ledger.csv".
func (n *Notebook) File(extension string) string {
	n.t.Helper()
	files, err := filepath.Glob(filepath.Join(n.dir, n.name+"*"+extension))
	if err != nil || len(files) == 0 {
		n.t.Fatalf("no file %s*%s: %v", n.name, extension, err)
	}
	newest, last := "", time.Time{}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(last) {
			newest, last = name, info.ModTime()
		}
	}
	data, err := os.ReadFile(newest)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(data)
}

// Page returns the page of the last run.
func (n *Notebook) Page() string {
	n.t.Helper()
	return n.File(".out.html")
}

// Ledger returns the rows of the ledger that the last run wrote, by item.
func (n *Notebook) Ledger() map[string][]string {
	n.t.Helper()
	records, err := csv.NewReader(strings.NewReader(n.File(".ledger.csv"))).ReadAll()
	if err != nil {
		n.t.Fatal(err)
	}
	out := map[string][]string{}
	for _, r := range records {
		out[r[0]] = r
	}
	return out
}

// Folder returns the absolute path of a folder.
func Folder(t *testing.T, path string) string {
	t.Helper()
	return must.Get(filepath.Abs(path))(t)
}
