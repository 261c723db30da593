package rules

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"antipode/internal/must"
)

// tops are folders that belong to one machine or one user, and absolute finds paths below them.
var (
	tops     = []string{"work", "root", "home", "Users", "opt", "tmp", "mnt", "workspace"}
	absolute = regexp.MustCompile(`(?:^|[^\w./~$}*\\-])(/(?:` + strings.Join(tops, "|") + `)/[\w.-]+)`)
)

// absoluteAllowed are the files that need such a path, with what they may hold.
var absoluteAllowed = map[string]string{
	"kernel/jupyter/findgo.go": "/o" + "pt/homebrew", // (in two, for this file) where Homebrew installs Go on macOS
}

func TestNoAbsolutePaths(t *testing.T) {
	for _, name := range files() {
		data := read(t, name)
		held := func(top string) bool { return bytes.Contains(data, []byte("/"+top+"/")) }
		if !isText(data) || !slices.ContainsFunc(tops, held) {
			continue
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, found := range absolute.FindAllStringSubmatch(line, -1) {
				if allowed := absoluteAllowed[name]; allowed == "" || !strings.HasPrefix(found[1], allowed) {
					t.Errorf("%s:%d holds the absolute path %s: it exists on one machine only; use a relative path, "+
						"a flag or t.TempDir", name, i+1, found[1])
				}
			}
		}
	}
}

func TestNoReplace(t *testing.T) {
	seen := 0
	for _, name := range files() {
		if path.Ext(name) != ".mod" {
			continue
		}
		seen++
		mod := must.Get(modfile.Parse(name, read(t, name), nil))(t)
		for _, r := range mod.Replace {
			t.Errorf("%s:%d replaces %s: another module that requires this one would not see that; require a "+
				"released version", name, r.Syntax.Start.Line, r.Old.Path)
		}
	}
	must.True(t, seen != 0, "no go.mod found")
}

// clouds are modules that the main go.mod does not name, with the reason.
var clouds = []struct{ prefix, why string }{
	{"cloud.google.com/", "the drivers of Google and Azure double the command's size: " +
		"kernel/cluster/clouds links them"},
	{"github.com/Azure/", "as above"},
	{"github.com/apache/beam", "Beam belongs in a nested module"},
}

func TestMainModuleNamesNoCloud(t *testing.T) {
	mod := must.Get(modfile.Parse("go.mod", read(t, "go.mod"), nil))(t)
	for _, r := range mod.Require {
		for _, c := range clouds {
			must.True(t, !strings.HasPrefix(r.Mod.Path, c.prefix), "go.mod names %s: %s", r.Mod.Path, c.why)
		}
	}
}

// tag finds the build tags of tests: a single word, as in "//go:build real".
var tag = regexp.MustCompile(`(?m)^//go:build (\w+)$`)

func TestBuildTagsOfTestsAreDocumented(t *testing.T) {
	guide := string(read(t, "CONTRIBUTING.md"))
	for _, name := range files() {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range tag.FindAllStringSubmatch(string(read(t, name)), -1) {
			if m[1] != "unix" && !strings.Contains(guide, "`"+m[1]+"`") {
				t.Errorf("%s is built with the tag %s, which CONTRIBUTING.md does not list: add `%s` to its "+
					"table of tags", name, m[1], m[1])
			}
		}
	}
}

// weightKinds are the files that hold weights.
var weightKinds = []string{".safetensors", ".bin", ".onnx", ".pt", ".pth", ".npz", ".gguf"}

// Bounds of the weights of shipped models, and of the random weights and expected values that tests read.
const (
	maxWeights = 40e6
	maxTests   = 16e6
)

func TestShippedWeightsAreSmall(t *testing.T) {
	var models, tests int64
	for _, name := range files() {
		if !slices.Contains(weightKinds, path.Ext(name)) {
			continue
		}
		size := must.Get(os.Stat(filepath.Join(root, name)))(t).Size()
		if strings.Contains(name, "testdata/") {
			tests += size
		} else {
			models += size
		}
	}
	must.True(t, models <= maxWeights,
		"%d bytes of weights are shipped, more than %.0f: make a smaller model or let it be pulled", models, maxWeights)
	must.True(t, tests <= maxTests,
		"%d bytes of weights for tests, more than %.0f: make smaller networks", tests, maxTests)
	t.Logf("weights: %d bytes of models, %d bytes for tests", models, tests)
}

func TestLicense(t *testing.T) {
	// LICENSE is the Apache License, Version 2.0
	text := string(read(t, "LICENSE"))
	must.Has(t, text, "Apache License", "Version 2.0, January 2004", "END OF TERMS AND CONDITIONS")
}
