package jupyter

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"
)

// tableIndex knows which functions and methods of the packages that cells import return a table alone.
type tableIndex struct {
	functions map[string]bool // "datasets.Archipelago"
	methods   map[string]bool // "Head"
}

// newTableIndex reads the module's source in the background; the first use waits for it.
func newTableIndex(moduleDir string) func() *tableIndex {
	index := sync.OnceValue(func() *tableIndex { return readTableIndex(moduleDir) })
	go index()
	return index
}

func readTableIndex(moduleDir string) *tableIndex {
	t := &tableIndex{functions: map[string]bool{}, methods: map[string]bool{}}
	var files []string
	for _, pattern := range []string{"datasets/*.go", "datasets/*/*.go", "gomlxmodels/*.go", "metrics/*.go"} {
		found, _ := filepath.Glob(filepath.Join(moduleDir, filepath.FromSlash(pattern))) // the pattern is well formed
		files = append(files, found...)
	}
	set := token.NewFileSet()
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // the cell that uses it will not compile either
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || !returnsTable(file.Name.Name, f.Type) {
				continue
			}
			if f.Recv != nil {
				t.methods[f.Name.Name] = true
			} else {
				t.functions[file.Name.Name+"."+f.Name.Name] = true
			}
		}
	}
	return t
}

func returnsTable(pkg string, f *ast.FuncType) bool {
	if f.Results == nil || f.Results.NumFields() != 1 {
		return false
	}
	switch result := f.Results.List[0].Type.(type) {
	case *ast.Ident:
		return pkg == "datasets" && result.Name == "Table"
	case *ast.SelectorExpr:
		x, ok := result.X.(*ast.Ident)
		return ok && x.Name == "datasets" && result.Sel.Name == "Table"
	}
	return false
}

// returns reports whether a call of the selected function or method returns a table.
func (t *tableIndex) returns(f *ast.SelectorExpr) bool {
	if x, ok := f.X.(*ast.Ident); ok && t.functions[x.Name+"."+f.Sel.Name] {
		return true
	}
	return t.methods[f.Sel.Name]
}
