package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const public = "example.org/renamed/antipode"

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
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
	if err := run(dir, public, &said); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(dir, f.name))
		if want := strings.ReplaceAll(f.renamed, "NEW", public); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", f.name, err, got, want)
		}
		if told := strings.Contains(said.String(), f.name); told != (f.old != f.renamed) {
			t.Errorf("told of %s: %v\n%s", f.name, told, said.String())
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir, public, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "project's folder") {
		t.Errorf("no go.mod: %v", err)
	}
	write(t, dir, "go.mod", "module old\n")
	write(t, dir, "pkg/a.go", "package pkg\n\nimport _ \"old/pkg\"\n\nvar broken = \"\n")
	for to, want := range map[string]string{"old": "already", "a b": "cannot be", "": "cannot be", public: "a.go"} {
		if err := run(dir, to, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || string(mod) != "module old\n" {
		t.Errorf("a failed run changed go.mod: %q, %v", mod, err)
	}
}

// TestThisModule renames a copy of the project: nothing imports the old path any more, and everything is found.
func TestThisModule(t *testing.T) {
	const root = "../.."
	cmd := exec.Command("go", "list", "-m")
	cmd.Dir = root
	old, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	from := strings.TrimSpace(string(old))
	dir := t.TempDir()
	if err := copyTree(root, dir); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, public, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	imports := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.Contains(path, "testdata") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, s := range file.Imports {
			p := strings.Trim(s.Path.Value, "\"`")
			if p == from || strings.HasPrefix(p, from+"/") {
				t.Errorf("%s still imports %s", path, p)
			}
			if strings.HasPrefix(p, public+"/") {
				imports++
			}
		}
		return nil
	})
	if err != nil || imports < 100 {
		t.Errorf("%d imports of the new path; %v", imports, err)
	}
	cmd = exec.Command("go", "list", "-e", "-deps", "-f", "{{if not .Name}}{{.ImportPath}} is not found{{end}}",
		"./...") // files to embed were not copied
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "" {
		t.Errorf("go list in the renamed copy: %v\n%s", err, out)
	}
}

// copyTree copies a tree's text: what a rename may touch and go list reads.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.HasPrefix(d.Name(), ".") && rel != "." {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		}
		switch filepath.Ext(path) {
		case ".go", ".mod", ".sum", ".md", ".ipynb":
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, rel), data, 0o666)
		}
		return nil
	})
}
