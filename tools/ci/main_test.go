package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// tests is a module whose tests end in every way.
var tests = map[string]string{
	"go.mod": "module tests\n\ngo 1.26\n",
	"good/a_test.go": "package good\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(t " +
		"*testing.T) {}) }\n\nfunc TestB(t *testing.T) { t.Skip(\"no moon tonight\") }\n",
	"bad/a_test.go": "package bad\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Error(\"too red\") " +
		"}\n\nfunc TestB(t *testing.T) {}\n",
	"wrong/a_test.go": "package wrong\n\nvar a int = \"not a number\"\n",
	"dead/a_test.go":  "package dead\n\nimport (\"testing\"; \"os\")\n\nfunc TestA(t *testing.T) { os.Exit(3) }\n",
	"none/a.go":       "package none\n",
}

func TestReportAndTotal(t *testing.T) {
	dir := t.TempDir()
	for name, content := range tests {
		must.Write(t, filepath.Join(dir, name), content)
	}
	cmd := exec.Command("go", "test", "-json", "-vet=off", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=")
	out, err := cmd.Output()
	must.Fail(err)(t) // go test was expected to fail
	var told bytes.Buffer
	c := must.Get(report(bytes.NewReader(out), &told))(t)
	// Passed: good.TestA, its subtest, bad.TestB. Failed: bad.TestA, wrong (no build), dead.TestA. Skipped: good.TestB.
	want := (counts{passed: 3, failed: 3, skipped: 1})
	must.True(t, c == want, "counted %v, want %v\n%s", c, want, told.String())
	must.Has(t, told.String(), "too red", "not a number", "no moon tonight", "ok    tests/good", "FAIL  tests/dead")
}

func TestTotalAdds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counts")
	must.Do(t, os.WriteFile(path, []byte("10 0 2\n5 1 0\n"), 0o666))
	var out bytes.Buffer
	err := total(path, &out)
	must.True(t, err == nil && out.String() == "15 passed, 1 failed, 2 skipped\n", "%q, %v", out.String(), err)
}

func TestNothingIsNoSuccess(t *testing.T) {
	// a go test that printed no JSON was reported as a success
	must.Fail(report(strings.NewReader("go: no such package\n"), &bytes.Buffer{}))(t)
}
