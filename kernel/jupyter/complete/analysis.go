package complete

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// analysis is a composed file with its types, as far as it can be checked.
type analysis struct {
	loader *loader
	fset   *token.FileSet
	file   *ast.File
	pkg    *types.Package
	info   types.Info
	own    docs
	pos    token.Pos  // of the source's offset
	at     *ast.Ident // the identifier at pos, or nil
	path   []ast.Node // from the file to at, without at, or to the innermost node
}

// analyze parses and checks a composed file. It imports packages that the file uses without an import; goimports adds
// these when the cell is executed.
func (l *loader) analyze(s source) *analysis {
	a := l.check(s.text, s.offset)
	var lines strings.Builder
	for _, name := range a.unresolvedPackages() {
		if paths := l.named(name); len(paths) > 0 {
			imports{name: paths[0]}.write(&lines)
		}
	}
	if added := lines.String(); added != "" {
		a = l.check(clause+added+strings.TrimPrefix(s.text, clause), s.offset+len(added))
	}
	return a
}

func (l *loader) check(text string, offset int) *analysis {
	a := &analysis{loader: l, fset: token.NewFileSet(), info: types.Info{
		Types:  map[ast.Expr]types.TypeAndValue{},
		Defs:   map[*ast.Ident]types.Object{},
		Uses:   map[*ast.Ident]types.Object{},
		Scopes: map[ast.Node]*types.Scope{},
	}}
	const name = "cell.go"
	a.file, _ = parser.ParseFile(a.fset, name, text, parser.SkipObjectResolution|parser.AllErrors)
	config := types.Config{Importer: l, FakeImportC: true, Error: func(error) {}}
	a.pkg, _ = config.Check("main", a.fset, []*ast.File{a.file}, &a.info)
	a.own = readDocs(token.NewFileSet(), name, text)
	a.find(offset)
	return a
}

// find sets pos, at and path.
func (a *analysis) find(offset int) {
	a.pos = a.fset.File(a.file.FileStart).Pos(offset)
	var stack []ast.Node
	ast.Inspect(a.file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && id.Pos() <= a.pos && a.pos <= id.End() && (a.at == nil || id.Pos() < a.pos) {
			a.at, a.path = id, slices.Clone(stack)
		}
		stack = append(stack, n)
		if a.at == nil && n.Pos() < a.pos && a.pos <= n.End() && len(stack) > len(a.path) {
			a.path = slices.Clone(stack)
		}
		return true
	})
}

// parent returns the n-th node above at; 0 = its parent.
func (a *analysis) parent(n int) ast.Node {
	if n < len(a.path) {
		return a.path[len(a.path)-1-n]
	}
	return nil
}

// unresolvedPackages returns the undeclared names x of selectors x.Y.
func (a *analysis) unresolvedPackages() (names []string) {
	ast.Inspect(a.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			if ok && a.info.Uses[x] == nil && a.pkg.Scope().Lookup(x.Name) == nil && !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
		}
		return true
	})
	return names
}

// object returns the object that at refers to, or nil.
func (a *analysis) object() types.Object {
	if a.at == nil {
		return nil
	}
	if o := a.info.Uses[a.at]; o != nil {
		return o
	}
	if o := a.info.Defs[a.at]; o != nil {
		return o
	}
	if lit, ok := a.parent(0).(*ast.CompositeLit); ok { // a field without a value
		if t := a.info.Types[lit].Type; t != nil {
			o, _, _ := types.LookupFieldOrMethod(t, true, a.pkg, a.at.Name)
			if v, ok := o.(*types.Var); ok {
				return v
			}
		}
	}
	return nil
}

// open are the folders of the module whose packages cells may use without an import: their packages are light.
var open = []string{"audits", "datasets", "metrics", "plots"}

// named returns the import paths of the packages with a name: the module's own, then the standard library's, the
// shortest first.
func (l *loader) named(name string) (paths []string) {
	for _, p := range l.known() {
		if path.Base(p) == name {
			paths = append(paths, p)
		}
	}
	return paths
}

// known returns the import paths of the packages that goimports finds for cells: the module's own and the standard
// library's.
func (l *loader) known() []string {
	if l.paths == nil {
		for _, folder := range open {
			l.walk(filepath.Join(l.module, folder), path.Join(l.mod.Module.Mod.Path, folder))
		}
		first := len(l.paths)
		l.walk(filepath.Join(l.context.GOROOT, "src"), "")
		slices.SortStableFunc(l.paths[first:], func(a, b string) int { return len(a) - len(b) })
	}
	return l.paths
}

// noPackages are folders without packages for cells.
var noPackages = []string{"internal", "vendor", "testdata", "cmd", "builtin"}

// walk adds the packages below a folder to paths.
func (l *loader) walk(root, prefix string) {
	last := ""
	_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // a folder that cannot be read has no packages
		}
		if name := d.Name(); d.IsDir() {
			if file != root && (slices.Contains(noPackages, name) || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		isSource := strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
		if dir := filepath.Dir(file); isSource && dir != last {
			last = dir
			rel, err := filepath.Rel(root, dir)
			if err == nil {
				l.paths = append(l.paths, path.Join(prefix, filepath.ToSlash(rel)))
			}
		}
		return nil
	})
}
