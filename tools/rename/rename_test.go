package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

const public = "example.org/renamed/antipode"

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	must.Write(t, filepath.Join(dir, name), content)
}

// TestPlaces states which mentions of the path change and which do not.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	files := []struct{ name, old, renamed string }{
		{"go.mod", "// keep\nmodule old\n\ngo 1.26\n\nrequire example.org/old/sub v1.0.0\n",
			"// keep\nmodule NEW\n\ngo 1.26\n\nrequire example.org/old/sub v1.0.0\n"},
		{"tools/tools.mod", "module old/tools\n\ngo 1.26\n", "module NEW/tools\n\ngo 1.26\n"},
		{"pkg/a.go", `package pkg

// See old/pkg, and $HOME/old/pkg, and the folder old/ itself.
import (
	"fmt"
	p "old/pkg/sub"
)

const text = "go.mod of module old\n"

var imports = "\t\"old/" + p.Name

func is(path string, mod struct{ Path string }) bool {
	return path == "old" || mod.Path != "old" || fmt.Sprint("old") == "module older"
}
`, `package pkg

// See NEW/pkg, and $HOME/old/pkg, and the folder old/ itself.
import (
	p "NEW/pkg/sub"
	"fmt"
)

const text = "go.mod of module NEW\n"

var imports = "\t\"NEW/" + p.Name

func is(path string, mod struct{ Path string }) bool {
	return path == "old" || mod.Path != "NEW" || fmt.Sprint("old") == "module older"
}
`},
		{"notebooks/n.ipynb", `{"source": ["import \"old/pkg\"\n", "kernels/old/pkg, old"], "name": "old"}`,
			`{"source": ["import \"NEW/pkg\"\n", "kernels/old/pkg, old"], "name": "old"}`},
		{"README.md", "Run old. See `old/pkg` and https://example.org/old/pkg.\n",
			"Run old. See `NEW/pkg` and https://example.org/old/pkg.\n"},
		{"image.md", "\x00old/pkg", "\x00old/pkg"},
	}
	for _, f := range files {
		write(t, dir, f.name, f.old)
	}
	var said bytes.Buffer
	must.Do(t, run(dir, public, &said))
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(dir, f.name))
		want := strings.ReplaceAll(f.renamed, "NEW", public)
		must.True(t, err == nil && string(got) == want, "%s: %v\n%s\nwant\n%s", f.name, err, got, want)
		told := strings.Contains(said.String(), f.name)
		must.True(t, told == (f.old != f.renamed), "told of %s: %v\n%s", f.name, told, said.String())
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	must.Fail(run(dir, public, &bytes.Buffer{}))(t, "project's folder") // no go.mod
	write(t, dir, "go.mod", "module old\n")
	write(t, dir, "pkg/a.go", "package pkg\n\nimport _ \"old/pkg\"\n\nvar broken = \"\n")
	for to, want := range map[string]string{"old": "already", "a b": "cannot be", "": "cannot be", public: "a.go"} {
		must.Fail(run(dir, to, &bytes.Buffer{}))(t, want)
	}
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "go.mod")))(t)), "module old\n",
		"a failed run changed go.mod")
}
