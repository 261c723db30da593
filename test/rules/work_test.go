package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestWorkNeedsNoBackend requires that antipode work, a task of an array job, evaluates its plan itself: no function of
// packages commands and jobs that it reaches connects to the resident backend or starts one.
func TestWorkNeedsNoBackend(t *testing.T) {
	var names []string
	for _, folder := range []string{"commands", "cluster/jobs"} {
		list := must.Get(filepath.Glob(filepath.Join(root, "kernel", folder, "*.go")))(t)
		names = append(names, list...)
	}
	calls := map[string][]string{} // by function, or .method: the functions and .methods that it calls
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			from := f.Name.Name
			if f.Recv != nil {
				from = "." + from
			}
			calls[from] = append(calls[from], calledIn(f.Body)...)
		}
	}
	reached := map[string]bool{}
	queue := []string{"work"}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, called := range calls[name] {
			if pkg, f, qualified := strings.Cut(called, "."); qualified && pkg == "client" &&
				!slices.Contains([]string{"AllowExec", "Home", "Request", "Result", "HomeVar"}, f) {
				t.Errorf("work reaches client.%s, through %s: tasks evaluate their plans themselves, and leave no "+
					"backend behind", f, name)
			}
			if calls[called] != nil && !reached[called] {
				reached[called] = true
				queue = append(queue, called)
			}
		}
	}
	for _, name := range []string{".compute", ".fits", "again"} {
		must.True(t, reached[name], "work does not reach %s any more: this rule no longer fits the code", name)
	}
}

// calledIn lists the functions and .methods that a body calls, and what it names of package client.
func calledIn(body *ast.BlockStmt) (names []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "client" {
				names = append(names, "client."+n.Sel.Name)
			}
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				names = append(names, f.Name)
			case *ast.SelectorExpr:
				names = append(names, "."+f.Sel.Name)
			}
		}
		return true
	})
	return names
}
