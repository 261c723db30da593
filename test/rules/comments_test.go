package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestExportedIsDocumented checks packages that others can import: functions, methods of exported types, types, and
// constants and variables, for which the comment of their group, or one at the end of the line, is enough.
func TestExportedIsDocumented(t *testing.T) {
	seen := 0
	for _, name := range files() {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		fset := token.NewFileSet()
		file := must.Get(parser.ParseFile(fset, filepath.Join(root, name), nil,
			parser.ParseComments|parser.SkipObjectResolution))(t)
		if file.Name.Name == "main" {
			continue
		}
		for _, u := range undocumented(file) {
			t.Errorf("%s:%d: %s has no comment: document what it does, with shapes, units, ranges and errors", name,
				fset.Position(u.Pos()).Line, u.Name)
		}
		seen++
	}
	must.True(t, seen != 0, "no Go file found")
}

// undocumented lists a file's exported names without a comment.
func undocumented(file *ast.File) (names []*ast.Ident) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d.Recv)) &&
				!conventional[d.Name.Name] {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						names = append(names, s.Name)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
							names = append(names, n)
						}
					}
				}
			}
		}
	}
	return names
}

// conventional are methods of the standard library's interfaces, whose names are documentation enough.
var conventional = map[string]bool{"Error": true, "Unwrap": true, "Is": true, "String": true, "Len": true, "Less": true,
	"Swap": true, "Read": true, "Write": true, "Close": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "At": true, "Bounds": true, "ColorModel": true}

func receiverIsExported(receiver *ast.FieldList) bool {
	e := receiver.List[0].Type
	for {
		switch n := e.(type) {
		case *ast.StarExpr:
			e = n.X
		case *ast.IndexExpr:
			e = n.X
		case *ast.Ident:
			return n.IsExported()
		default:
			return false
		}
	}
}
