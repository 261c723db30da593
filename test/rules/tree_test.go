package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"antipode/internal/must"
)

// root is the project's folder, seen from this package.
const root = "../.."

// files lists the committed files (and those about to be), relative to the root, with forward slashes. Where there is
// no git, as in an exported archive, it lists all files.
var files = sync.OnceValue(func() []string {
	var list []string
	// with git too: go test remembers what it saw
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == ".ipynb_checkpoints"):
			return fs.SkipDir
		case d.Type().IsRegular() && !strings.Contains(d.Name(), ".out."):
			rel, _ := filepath.Rel(root, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		return list
	}
	committed := strings.Split(string(out), "\x00")
	slices.Sort(committed)
	return slices.DeleteFunc(list, func(name string) bool {
		_, found := slices.BinarySearch(committed, name)
		return !found
	})
})

// read returns a committed file's content.
func read(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(root, filepath.FromSlash(name))))(t)
}

// isText reports whether content is text: no NUL in its beginning.
func isText(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) < 0 }

// Package is what the rules need of go list's answer.
type Package struct {
	ImportPath, Name, Doc, Dir     string
	Standard                       bool
	Imports, Deps                  []string
	GoFiles, CgoFiles, TestGoFiles []string
	XTestGoFiles, IgnoredGoFiles   []string
	Error                          *struct{ Err string }
	DepsErrors                     []*struct{ Err string }
}

// module is the module's path: the rules hold under another name too.
var module = sync.OnceValues(func() (string, error) {
	out, err := golist("-m")
	return strings.TrimSpace(string(out)), err
})

// golist runs go list in the project.
func golist(args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.New("go list " + strings.Join(args, " ") + ": " + err.Error() + ": " + stderr.String())
	}
	return out, nil
}

// all is every package of the module with everything it reaches, as go list sees it here with cgo where there is a
// C compiler.
var all = sync.OnceValues(func() (map[string]*Package, error) {
	out, err := golist("-deps",
		"-json=ImportPath,Name,Doc,Dir,Standard,Imports,Deps,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Error",
		"./...")
	if err != nil {
		return nil, err
	}
	packages := map[string]*Package{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = &p
	}
})

// own returns the module's packages by their folder below the root ("." for the root itself), and all packages by
// path.
func own(t *testing.T) (mine map[string]*Package, packages map[string]*Package) {
	t.Helper()
	path := must.Get(module())(t)
	packages = must.Get(all())(t)
	mine = map[string]*Package{}
	for _, p := range packages {
		if folder, ours := folderOf(path, p.ImportPath); ours {
			mine[folder] = p
		}
	}
	if len(mine) < 20 {
		t.Fatalf("only %d packages found below %s", len(mine), path)
	}
	return mine, packages
}

// folderOf is a package's folder in the module: "." for the module's own, and false for a package of another module.
func folderOf(module, path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// within reports whether a folder matches a pattern: "a/b" means that folder alone, "a/..." it and all below.
func within(folder, pattern string) bool {
	if top, tree := strings.CutSuffix(pattern, "/..."); tree {
		return folder == top || strings.HasPrefix(folder, top+"/")
	}
	return folder == pattern
}

func withinAny(folder string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return within(folder, p) })
}
