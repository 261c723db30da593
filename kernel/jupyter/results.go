package jupyter

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"

	"antipode/internal/glob"
	"antipode/kernel/jupyter/complete"
)

// resultIndex lists the calls that return one value, so that a cell can end with them: functions of the packages that
// cells use without an import, by package and name, and methods that return a table, by name alone. It also lists the
// names that errors suggest.
type resultIndex struct {
	functions map[string]bool     // "datasets.Archipelago", "strings.ToUpper"
	methods   map[string]bool     // "Head"
	names     map[string][]string // exported names by package, and methods and fields by type, "datasets.Table"
}

// newResultIndex reads the source of the packages in the background. The returned function waits for it.
func newResultIndex(moduleDir string) func() *resultIndex {
	index := sync.OnceValue(func() *resultIndex { return readResultIndex(moduleDir) })
	go index()
	return index
}

func readResultIndex(moduleDir string) *resultIndex {
	x := &resultIndex{functions: map[string]bool{}, methods: map[string]bool{}, names: map[string][]string{}}
	folders := glob.In(moduleDir, "datasets/*")
	for _, p := range packages {
		folders = append(folders, filepath.Join(moduleDir, filepath.FromSlash(p)))
	}
	if env, err := complete.ReadGoEnv(moduleDir); err == nil { // cells report a missing Go
		for _, p := range standard {
			folders = append(folders, filepath.Join(env.Root, "src", filepath.FromSlash(p)))
		}
	}
	shown := len(folders)
	for _, p := range []string{"audits", "metrics", "plots"} {
		folders = append(folders, glob.In(moduleDir, p+"/*")...)
	}
	for i, folder := range folders {
		for _, file := range glob.In(folder, "*.go") {
			if !strings.HasSuffix(file, "_test.go") {
				x.read(file, i < shown)
			}
		}
	}
	return x
}

// read reads a file; of one that is not shown, names only.
func (x *resultIndex) read(file string, shown bool) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return // the cell that uses it will not compile either
	}
	pkg := parsed.Name.Name
	for _, d := range parsed.Decls {
		x.note(pkg, d)
		f, ok := d.(*ast.FuncDecl)
		if !ok || !shown || !f.Name.IsExported() || f.Type.Results.NumFields() != 1 {
			continue
		}
		switch result := typeOf(pkg, f.Type.Results.List[0].Type); {
		case f.Recv == nil && result != "error":
			x.functions[pkg+"."+f.Name.Name] = true
		case f.Recv != nil && result == "datasets.Table":
			x.methods[f.Name.Name] = true
		}
	}
}

// typeOf returns the name of a type, or "" for other types.
func typeOf(pkg string, t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		if t.IsExported() {
			return pkg + "." + t.Name
		}
		return t.Name
	case *ast.SelectorExpr:
		if p, ok := t.X.(*ast.Ident); ok {
			return p.Name + "." + t.Sel.Name
		}
	}
	return ""
}

// returns reports whether a call of the selected function or method returns one value.
func (x *resultIndex) returns(f *ast.SelectorExpr) bool {
	if p, ok := f.X.(*ast.Ident); ok && x.functions[p.Name+"."+f.Sel.Name] {
		return true
	}
	return x.methods[f.Sel.Name]
}
