package complete

import (
	"cmp"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"
)

// byteOffset converts a position in code points to one in bytes.
func byteOffset(code string, points int) int {
	for at := range code {
		if points <= 0 {
			return at
		}
		points--
	}
	return len(code)
}

// complete answers a request.
func (l *loader) complete(r Request) Completion {
	at := byteOffset(r.Code, r.Cursor)
	if c, ok := l.completeColumn(r, at); ok {
		return c
	}
	prefix := identifierBefore(r.Code, at)
	end := utf8.RuneCountInString(r.Code[:at])
	c := Completion{Start: end - utf8.RuneCountInString(prefix), End: end}
	var a *analysis
	var found []candidate
	for _, alone := range []bool{false, true} {
		s, ok := compose(r.Cells, r.Code, at, placeholder, alone)
		if !ok {
			return c
		}
		a = l.analyze(s)
		if found = withPrefix(a.candidates(), prefix); len(found) > 0 {
			break
		}
	}
	want := a.expected()
	for i, c := range found {
		if fits(c.object, want) {
			found[i].rank -= 10
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
	})
	seen := map[string]bool{}
	for _, f := range found {
		if seen[f.name] || len(c.Matches) == limit {
			continue // an inner name hides the others
		}
		seen[f.name] = true
		m := Match{Text: f.name, Type: f.kind}
		if f.object != nil {
			m.Signature = a.signature(f.object)
			text, _ := a.doc(f.object)
			m.Doc = new(doc.Package).Synopsis(text)
		}
		c.Matches = append(c.Matches, m)
	}
	return c
}

// withPrefix returns the candidates that begin with the prefix, or, if there are none, those that do so
// case-insensitively.
func withPrefix(all []candidate, prefix string) []candidate {
	found := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return !strings.HasPrefix(c.name, prefix) })
	if len(found) > 0 {
		return found
	}
	return slices.DeleteFunc(all, func(c candidate) bool {
		return len(c.name) < len(prefix) || !strings.EqualFold(c.name[:len(prefix)], prefix)
	})
}

// qualifier returns the name of a package in cells.
func (a *analysis) qualifier(p *types.Package) string {
	if p == a.pkg {
		return ""
	}
	return p.Name()
}

// signature returns an object's type, and the value of a constant.
func (a *analysis) signature(o types.Object) string {
	switch o := o.(type) {
	case *types.PkgName:
		return "package " + o.Imported().Path()
	case *types.TypeName:
		if s := types.TypeString(o.Type().Underlying(), a.qualifier); len(s) < 60 {
			return s
		}
		kind, _, _ := strings.Cut(types.TypeString(o.Type().Underlying(), a.qualifier), "{")
		return kind
	case *types.Const:
		return types.TypeString(o.Type(), a.qualifier) + " = " + o.Val().String()
	case *types.Builtin, *types.Nil:
		return ""
	}
	return types.TypeString(o.Type(), a.qualifier)
}

// inspect answers a request for the name at or before the cursor, or else for the function whose arguments contain the
// cursor.
func (l *loader) inspect(r Request) Inspection {
	at := byteOffset(r.Code, r.Cursor)
	for end := at; end < len(r.Code); { // to the end of the name
		_, size := utf8.DecodeRuneInString(r.Code[end:])
		end += size
		if identifierBefore(r.Code, end) == "" {
			break
		}
		at = end
	}
	insert := ""
	if identifierBefore(r.Code, at) == "" {
		insert = placeholder
	}
	for _, alone := range []bool{false, true} {
		s, ok := compose(r.Cells, r.Code, at, insert, alone)
		if quoted := strings.LastIndexAny(r.Code[:at], "\"`'"); !ok && quoted >= 0 { // in a string argument, perhaps
			s, ok = compose(r.Cells, r.Code, quoted, placeholder, alone)
		}
		if !ok {
			break
		}
		a := l.analyze(s)
		o := a.object()
		if o == nil || strings.HasSuffix(a.at.Name, placeholder) {
			a.at = a.callee()
			o = a.object()
		}
		if o != nil {
			return a.describe(o)
		}
	}
	return Inspection{}
}

// callee returns the name of the innermost function that is called around pos, or nil.
func (a *analysis) callee() *ast.Ident {
	for i := range a.path {
		call, ok := a.parent(i).(*ast.CallExpr)
		if !ok || call.Lparen >= a.pos {
			continue
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			return f
		case *ast.SelectorExpr:
			return f.Sel
		}
	}
	return nil
}

// describe returns the declaration and the documentation of an object.
func (a *analysis) describe(o types.Object) Inspection {
	text, source := a.doc(o)
	head := types.ObjectString(o, a.qualifier)
	switch o := o.(type) {
	case *types.PkgName:
		head = "package " + o.Imported().Name() + " // import " + "\"" + o.Imported().Path() + "\""
	case *types.Const:
		head += " = " + o.Val().String()
	case *types.Builtin:
		text, head = a.loader.builtin(o.Name())
	case *types.TypeName:
		if source != "" {
			head = source
		}
		for m := range methods(o.Type()) {
			head += "\n" + types.ObjectString(m, a.qualifier)
		}
	}
	var parser comment.Parser
	d := parser.Parse(text)
	printer := comment.Printer{HeadingLevel: 4, DocLinkURL: func(*comment.DocLink) string { return "" }}
	return Inspection{
		Found:    true,
		Plain:    strings.TrimSpace(head + "\n\n" + string(printer.Text(d))),
		Markdown: strings.TrimSpace("```go\n" + head + "\n```\n\n" + string(printer.Markdown(d))),
	}
}

// methods returns the exported methods of a named type.
func methods(t types.Type) func(yield func(*types.Func) bool) {
	return func(yield func(*types.Func) bool) {
		n, ok := t.(*types.Named)
		if !ok {
			return
		}
		for m := range n.Methods() {
			if token.IsExported(m.Name()) && !yield(m) {
				return
			}
		}
	}
}
