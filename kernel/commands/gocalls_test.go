package commands

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/internal/must"
)

// gocalls.txt has the Go call of every metric, as the sources of packages metrics define it; UPDATE_GOCALLS=1 writes
// it again.
func TestGoCalls(t *testing.T) {
	folders, _ := filepath.Glob("../../metrics/*")
	calls := map[string]string{}
	for _, folder := range append(folders, "../../metrics") {
		files, _ := filepath.Glob(filepath.Join(folder, "*.go"))
		variables, functions := map[string]string{}, []*ast.FuncDecl{}
		for _, file := range files {
			parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
			for _, d := range parsed.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil && d.Name.IsExported() && !strings.HasSuffix(file, "_test.go") {
						functions = append(functions, d)
					}
				case *ast.GenDecl:
					ast.Inspect(d, func(n ast.Node) bool { definedBy(n, variables); return true })
				}
			}
		}
		for _, f := range functions {
			ast.Inspect(f.Body, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if ok && calls[variables[id.Name]] == "" && variables[id.Name] != "" && !isParameter(f, id.Name) {
					rel, _ := filepath.Rel("../..", folder)
					calls[variables[id.Name]] = filepath.ToSlash(rel) + "\t" + goCallOf(filepath.Base(folder), f)
				}
				return true
			})
		}
	}
	var b strings.Builder
	for _, name := range operation.Names(true) {
		must.True(t, calls[name] != "", "no function for %s", name)
		fmt.Fprintf(&b, "%s\t%s\n", name, calls[name])
	}
	if os.Getenv("UPDATE_GOCALLS") != "" {
		must.Do(t, os.WriteFile("gocalls.txt", []byte(b.String()), 0o644))
	} else if b.String() != goCalls {
		t.Errorf("gocalls.txt is old; run with UPDATE_GOCALLS=1. It should be\n%s", b.String())
	}
}

func isParameter(f *ast.FuncDecl, name string) bool {
	return slices.ContainsFunc(f.Type.Params.List, func(p *ast.Field) bool {
		return slices.ContainsFunc(p.Names, func(id *ast.Ident) bool { return id.Name == name })
	})
}

// definedBy notes the variable of a definition, var x = metrics.Define(… {Name: "x"}), by the metric's name.
func definedBy(n ast.Node, variables map[string]string) {
	v, ok := n.(*ast.ValueSpec)
	if !ok || len(v.Values) != len(v.Names) {
		return
	}
	for i, value := range v.Values {
		ast.Inspect(value, func(n ast.Node) bool {
			field, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := field.Key.(*ast.Ident)
			text, isText := field.Value.(*ast.BasicLit)
			if isName && isText && key.Name == "Name" && variables[v.Names[i].Name] == "" {
				variables[v.Names[i].Name], _ = strconv.Unquote(text.Value)
			}
			return true
		})
	}
}

// goCallOf returns a call of a function with the names of its parameters as arguments.
func goCallOf(pkg string, f *ast.FuncDecl) string {
	var args []string
	for _, p := range f.Type.Params.List {
		kind := p.Type
		if dots, ok := kind.(*ast.Ellipsis); ok {
			kind = dots.Elt
		}
		selector, _ := kind.(*ast.SelectorExpr)
		for _, name := range p.Names {
			arg := name.Name
			if selector != nil && selector.Sel.Name == "Sets" {
				arg = "metrics.Sets{Real: real, Generated: generated}"
			}
			if id, ok := kind.(*ast.Ident); ok && id.IsExported() {
				arg = pkg + "." + id.Name + "{…}"
				if id.Name == "Sets" {
					arg = "metrics.Sets{Real: real, Generated: generated}"
				}
			}
			args = append(args, arg)
		}
	}
	return pkg + "." + f.Name.Name + "(" + strings.Join(args, ", ") + ")"
}
