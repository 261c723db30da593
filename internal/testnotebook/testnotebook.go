// Package testnotebook runs a notebook in a test, through the built command, as a user does.
package testnotebook

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Notebook is a copy of a notebook in a temporary folder, in which it runs.
type Notebook struct {
	t                 *testing.T
	binary, dir, name string
}

// Open builds the antipode command and copies a notebook of the folder notebooks, such as "decomposed_dig". The working
// directory is that of a package two folders below the module's.
func Open(t *testing.T, name string) *Notebook {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "")
	n := &Notebook{t, filepath.Join(t.TempDir(), "antipode"), t.TempDir(), name}
	if out, err := exec.Command("go", "build", "-o", n.binary, "antipode").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	source, err := os.ReadFile(filepath.Join("../../notebooks", name+".ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.dir, name+".ipynb"), source, 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// Run runs the notebook with parameters NAME=VALUE and returns what the command printed.
func (n *Notebook) Run(parameters ...string) string {
	n.t.Helper()
	args := []string{"run", n.name + ".ipynb"}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	cmd := exec.Command(n.binary, args...)
	cmd.Dir = n.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		n.t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// Page returns the page of the last run.
func (n *Notebook) Page() string {
	n.t.Helper()
	page, err := os.ReadFile(filepath.Join(n.dir, n.name+".out.html"))
	if err != nil {
		n.t.Fatal(err)
	}
	return string(page)
}

// Ledger returns the rows of the ledger that the last run wrote, by item.
func (n *Notebook) Ledger() map[string][]string {
	n.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, n.name+".ledger.csv"))
	if err != nil {
		n.t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
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
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
