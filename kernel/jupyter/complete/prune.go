package complete

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// prune removes from the files of a package what its exported declarations do not need: bodies, unexported fields,
// unexported declarations that are not referenced, and then unused imports. As a result, most of the standard library
// does not have to be loaded.
func prune(files []*ast.File) {
	p := pruner{declared: map[string][]ast.Node{}, kept: map[ast.Node]bool{}}
	for _, f := range files {
		p.file(f)
	}
	for name, nodes := range p.declared {
		if ast.IsExported(name) {
			for _, n := range nodes {
				p.keep(n)
			}
		}
	}
	for _, f := range files {
		p.drop(f)
	}
}

// pruner finds the declarations that exported ones reference. It matches by name, so it may keep more than necessary.
type pruner struct {
	declared map[string][]ast.Node // functions, specs, methods by their type; constants as whole groups
	kept     map[ast.Node]bool
}

func (p *pruner) declare(name string, n ast.Node) { p.declared[name] = append(p.declared[name], n) }

func (p *pruner) file(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				p.declare(d.Name.Name, d)
			} else if d.Name.IsExported() {
				p.declare(receiver(d), d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.declare(s.Name.Name, s)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if d.Tok == token.CONST { // iota counts, and types and values carry over
							p.declare(name.Name, d)
						} else {
							p.declare(name.Name, s)
						}
					}
				}
			}
		}
	}
}

// keep marks a declaration and everything that it references, except in bodies.
func (p *pruner) keep(n ast.Node) {
	if p.kept[n] {
		return
	}
	p.kept[n] = true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			n.Body = nil
		case *ast.FuncLit:
			n.Body = &ast.BlockStmt{Lbrace: n.Body.Lbrace, Rbrace: n.Body.Rbrace}
		case *ast.StructType:
			n.Fields.List = slices.DeleteFunc(n.Fields.List, func(f *ast.Field) bool {
				return len(f.Names) > 0 && !slices.ContainsFunc(f.Names, (*ast.Ident).IsExported)
			})
		case *ast.Ident:
			for _, d := range p.declared[n.Name] {
				p.keep(d)
			}
		}
		return true
	})
}

// drop removes unmarked declarations and unused imports.
func (p *pruner) drop(f *ast.File) {
	used := map[string]bool{}
	f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool {
		if g, ok := d.(*ast.GenDecl); ok {
			if g.Tok == token.IMPORT {
				return false
			}
			if g.Tok != token.CONST {
				g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return !p.kept[s] })
			}
			if len(g.Specs) == 0 || g.Tok == token.CONST && !p.kept[g] {
				return true
			}
		} else if !p.kept[d] {
			return true
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					used[x.Name] = true
				}
			}
			return true
		})
		return false
	})
	f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			return false
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool {
			name := importName(s.(*ast.ImportSpec))
			return name != "." && !used[name]
		})
		return len(g.Specs) == 0
	})
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// importName returns the name of an import, guessed from its path if it is not given.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	return baseName(strings.Trim(s.Path.Value, "\"`"))
}
