package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	nb "antipode/kernel/jupyter/notebook"
)

// registries are the packages with a map that functions add to at start-up, each with what it registers.
var registries = map[string]string{
	"datasets/operation": "every operation of a plan: sources, verbs, stages, metrics, table operations",
	"datasets/manifest":  "data sets that can be downloaded, and their tables",
}

// TestOneRegistry requires that operations of plans are registered in one place: no other package below datasets,
// metrics, gomlxmodels and kernel has a package-level map that a Register function or an init function adds to.
func TestOneRegistry(t *testing.T) {
	found := map[string]bool{}
	sources := map[string][]*ast.File{}
	for _, name := range files() {
		top, _, _ := strings.Cut(name, "/")
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") ||
			!slices.Contains([]string{"datasets", "metrics", "gomlxmodels", "kernel"}, top) {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil,
			parser.SkipObjectResolution))(t)
		sources[path.Dir(name)] = append(sources[path.Dir(name)], file)
	}
	for folder, list := range sources {
		for _, name := range registered(list) {
			found[folder] = true
			must.True(t, registries[folder] != "",
				"%s registers in the map %s: operations are registered with operation.Register", folder, name)
		}
	}
	for folder := range registries {
		must.True(t, found[folder], "%s registers nothing any more: remove it from registries", folder)
	}
}

// registered lists the package-level maps that an init function adds to, or one named register… or define….
func registered(list []*ast.File) (names []string) {
	maps := map[string]bool{}
	for _, file := range list {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					maps[n.Name] = true
				}
			}
		}
	}
	for _, file := range list {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			name := strings.ToLower(f.Name.Name)
			if name != "init" && !strings.HasPrefix(name, "register") && !strings.HasPrefix(name, "define") {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok {
					return true
				}
				for _, target := range a.Lhs {
					if index, ok := target.(*ast.IndexExpr); ok {
						id := nb.AssignedIdent(index)
						if id != nil && maps[id.Name] && !slices.Contains(names, id.Name) {
							names = append(names, id.Name)
						}
					}
				}
				return true
			})
		}
	}
	return names
}
