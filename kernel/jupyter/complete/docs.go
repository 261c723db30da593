package complete

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// docs are the comments of the declarations of a file, by the offset of the declared name.
type docs struct {
	comments map[int]string
	types    map[int]string // the source of type declarations
}

// readDocs reads the docs of a file; if src is nil, it reads the file.
func readDocs(fset *token.FileSet, name string, src any) docs {
	d := docs{comments: map[int]string{}, types: map[int]string{}}
	f, _ := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if f == nil {
		return d
	}
	add := func(name *ast.Ident, groups ...*ast.CommentGroup) {
		for _, g := range groups {
			if g != nil && g.Text() != "" {
				d.comments[fset.Position(name.Pos()).Offset] = g.Text()
				return
			}
		}
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(decl.Name, decl.Doc)
		case *ast.GenDecl:
			for _, s := range decl.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						add(n, s.Doc, s.Comment, decl.Doc)
					}
				case *ast.TypeSpec:
					add(s.Name, s.Doc, s.Comment, decl.Doc)
					d.types[fset.Position(s.Name.Pos()).Offset] = typeSource(fset, s)
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				add(name, n.Doc, n.Comment)
			}
		case *ast.BlockStmt:
			return false
		}
		return true
	})
	return d
}

// typeSource returns the source of a type declaration without its comment and unexported fields.
func typeSource(fset *token.FileSet, s *ast.TypeSpec) string {
	short := *s
	short.Doc, short.Comment = nil, nil
	hidden := false
	if st, ok := s.Type.(*ast.StructType); ok {
		fields := &ast.FieldList{Opening: st.Fields.Opening, Closing: st.Fields.Closing}
		for _, f := range st.Fields.List {
			if len(f.Names) > 0 && !f.Names[0].IsExported() {
				hidden = true
				continue
			}
			fields.List = append(fields.List, f)
		}
		short.Type = &ast.StructType{Struct: st.Struct, Fields: fields}
	}
	var b strings.Builder
	if err := format.Node(&b, fset, &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&short}}); err != nil {
		return ""
	}
	text := b.String()
	if i := strings.LastIndexByte(text, '}'); hidden && i >= 0 {
		text = strings.TrimRight(text[:i], " \n") + "\n\t// and unexported fields\n}"
	}
	return text
}

// docsAt returns the docs of the file that contains a position of the loader's file set, and the offset.
func (l *loader) docsAt(pos token.Pos) (docs, int) {
	at := l.fset.Position(pos)
	if at.Filename == "" {
		return docs{}, 0
	}
	d, seen := l.docs[at.Filename]
	if !seen {
		d = readDocs(token.NewFileSet(), at.Filename, nil)
		l.docs[at.Filename] = d
	}
	return d, at.Offset
}

// packageDoc returns a package's comment.
func (l *loader) packageDoc(path string) string {
	if text, seen := l.comments[path]; seen {
		return text
	}
	l.comments[path] = ""
	found, _ := l.context.ImportDir(l.dir(path), 0) // files that cannot be used are left out
	for _, name := range found.GoFiles {
		file := filepath.Join(found.Dir, name)
		f, _ := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if f != nil && f.Doc != nil && f.Doc.Text() != "" {
			l.comments[path] = f.Doc.Text()
			break
		}
	}
	return l.comments[path]
}

// doc returns the comment of an object and, for a type, the source of its declaration.
func (a *analysis) doc(o types.Object) (comment, source string) {
	if p, ok := o.(*types.PkgName); ok {
		return a.loader.packageDoc(p.Imported().Path()), ""
	}
	if o.Pkg() == nil || !o.Pos().IsValid() {
		return "", ""
	}
	d, offset := a.own, 0
	if o.Pkg() == a.pkg {
		offset = a.fset.Position(o.Pos()).Offset
	} else {
		d, offset = a.loader.docsAt(o.Pos())
	}
	return d.comments[offset], d.types[offset]
}

// builtin returns the comment and the declaration of a built-in function.
func (l *loader) builtin(name string) (comment, source string) {
	fset := token.NewFileSet()
	file := filepath.Join(l.context.GOROOT, "src", "builtin", "builtin.go")
	f, _ := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if f == nil {
		return "", "func " + name
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == name {
			comment, d.Doc = d.Doc.Text(), nil
			var b strings.Builder
			_ = format.Node(&b, fset, d) // a strings.Builder never fails
			return comment, b.String()
		}
	}
	return "", "func " + name
}
