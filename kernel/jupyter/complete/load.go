package complete

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"antipode/internal/glob"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// loader type-checks packages from source, declarations only, so that no package has to be built. The only go command
// it runs is `go env`. It is not safe for concurrent use.
type loader struct {
	fset    *token.FileSet
	context build.Context
	cache   string // the module cache
	module  string // folder of the module's go.mod
	mod     *modfile.File

	packages map[string]*types.Package // by import path; nil = being loaded, or missing
	docs     map[string]docs           // by file
	comments map[string]string         // package comments, by import path
	paths    []string                  // of known, once computed
}

// GoEnv is what `go env` reports.
type GoEnv struct{ Root, ModCache, Version string }

var (
	goEnvs  = map[string]GoEnv{} // by folder of the module
	goEnvMu sync.Mutex
)

// ReadGoEnv runs `go env` in a module's folder, once in the life of the process if it succeeds.
func ReadGoEnv(moduleDir string) (GoEnv, error) {
	goEnvMu.Lock()
	defer goEnvMu.Unlock()
	if env, known := goEnvs[moduleDir]; known {
		return env, nil
	}
	cmd := exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOVERSION")
	cmd.Dir = moduleDir
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 {
		return GoEnv{}, fmt.Errorf("running go env: %w (output %q)", err, out)
	}
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	goEnvs[moduleDir] = GoEnv{lines[0], lines[1], lines[2]}
	return goEnvs[moduleDir], nil
}

// newLoader reads the go.mod in moduleDir.
func newLoader(moduleDir string) (*loader, error) {
	file := filepath.Join(moduleDir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("complete: %w", err)
	}
	mod, err := modfile.ParseLax(file, data, nil)
	if err != nil {
		return nil, fmt.Errorf("complete: %w", err)
	}
	if mod.Module == nil {
		return nil, fmt.Errorf("complete: %s names no module", file)
	}
	env, err := ReadGoEnv(moduleDir)
	if err != nil {
		return nil, fmt.Errorf("complete: %w", err)
	}
	l := &loader{
		fset:     token.NewFileSet(),
		context:  build.Default,
		cache:    env.ModCache,
		module:   moduleDir,
		mod:      mod,
		packages: map[string]*types.Package{"unsafe": types.Unsafe},
		docs:     map[string]docs{},
		comments: map[string]string{},
	}
	l.context.GOROOT = env.Root
	l.context.CgoEnabled = false // packages of the standard library that use cgo have files without it
	return l, nil
}

// Import returns a package's exported declarations, for [types.Config]. Types from missing packages are invalid.
func (l *loader) Import(path string) (*types.Package, error) {
	if p := l.load(path); p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("complete: no package %s", path)
}

// load is Import, with nil for a missing package.
func (l *loader) load(path string) *types.Package {
	if p, seen := l.packages[path]; seen {
		return p
	}
	l.packages[path] = nil // an import cycle ends here
	dir := l.dir(path)
	if dir == "" {
		return nil
	}
	found, _ := l.context.ImportDir(dir, 0) // ignores files that do not apply
	if len(found.GoFiles) == 0 {
		return nil
	}
	var files []*ast.File
	for _, name := range found.GoFiles {
		f, _ := parser.ParseFile(l.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if f != nil {
			files = append(files, f)
		}
	}
	prune(files)
	config := types.Config{
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Error:            func(error) {}, // check as much as possible
		Importer:         l,
	}
	p, _ := config.Check(path, l.fset, files, nil)
	l.packages[path] = p
	return p
}

// dir returns the folder of a package's source, or "" if it is unknown.
func (l *loader) dir(path string) string {
	if l.isStandard(path) {
		return filepath.Join(l.context.GOROOT, "src", filepath.FromSlash(path))
	}
	if rest, ok := below(path, l.mod.Module.Mod.Path); ok {
		return filepath.Join(l.module, filepath.FromSlash(rest))
	}
	for prefix := path; prefix != "." && prefix != "/"; prefix = pathpkg.Dir(prefix) {
		rest, _ := below(path, prefix)
		if dir := l.cached(prefix); dir != "" {
			return filepath.Join(dir, filepath.FromSlash(rest))
		}
	}
	return ""
}

// cached returns the folder of a module in the module cache: of the version that go.mod requires, or else, for a module
// that a cell has downloaded, of the newest one; "" if there is none.
func (l *loader) cached(modulePath string) string {
	escaped, err := module.EscapePath(modulePath)
	if err != nil {
		return ""
	}
	base := filepath.Join(l.cache, filepath.FromSlash(escaped))
	for _, r := range l.mod.Require {
		if version, err := module.EscapeVersion(r.Mod.Version); err == nil && r.Mod.Path == modulePath {
			return base + "@" + version
		}
	}
	versions := glob.In(filepath.Dir(base), filepath.Base(base)+"@*")
	if len(versions) == 0 {
		return ""
	}
	return slices.MaxFunc(versions, func(a, b string) int {
		return semver.Compare(a[len(base)+1:], b[len(base)+1:])
	})
}

// isStandard reports whether an import path is of the standard library: its first element has no dot and is not the
// module's.
func (l *loader) isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	own, _, _ := strings.Cut(l.mod.Module.Mod.Path, "/")
	return !strings.Contains(first, ".") && first != own
}

// below returns what follows the prefix in a path of whole elements.
func below(path, prefix string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

// baseName guesses a package's name from its import path: the last element that is no major version.
func baseName(p string) string {
	name := pathpkg.Base(p)
	if digits, ok := strings.CutPrefix(name, "v"); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		name = pathpkg.Base(pathpkg.Dir(p))
	}
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "go-"), ".")
	return strings.TrimSuffix(name, "-go")
}
