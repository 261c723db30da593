package complete

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match is one completion of the text before the cursor.
type Match struct {
	Text      string // replaces the text from Start to End
	Type      string // function, method, var, const, type, field, keyword, module or column
	Signature string // the type, as Go writes it
	Doc       string // the first sentence of its documentation
}

// limit is the maximal number of matches of an answer.
const limit = 500

// candidate is a possible match with its rank.
type candidate struct {
	name   string
	kind   string
	object types.Object // nil for keywords
	rank   int          // the smallest comes first
}

// identifierBefore returns the part of an identifier that ends at a byte offset.
func identifierBefore(code string, at int) string {
	start := at
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(code[:start])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		start -= size
	}
	return code[start:at]
}

// candidates returns the completions of the placeholder, in no order.
func (a *analysis) candidates() []candidate {
	if a.at == nil || !strings.HasSuffix(a.at.Name, placeholder) {
		return nil
	}
	if s, ok := a.parent(0).(*ast.SelectorExpr); ok && s.Sel == a.at {
		return a.members(s.X)
	}
	if a.isNewName() {
		return nil
	}
	fields, only := a.fields()
	if only {
		return fields
	}
	all := append(fields, a.inScope()...)
	_, statement := a.parent(0).(*ast.ExprStmt)
	switch a.parent(1).(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.SwitchStmt: // the header of one
		statement = false
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		if statement || slices.Contains(inExpressions, t) {
			all = append(all, candidate{name: t.String(), kind: "keyword", rank: 4})
		}
	}
	prefix := strings.TrimSuffix(a.at.Name, placeholder)
	if len(prefix) >= 2 { // packages that goimports adds
		for _, p := range a.loader.known() {
			if name := baseName(p); strings.HasPrefix(name, prefix) {
				all = append(all, candidate{name: name, kind: "module", rank: 5})
			}
		}
	}
	return all
}

// isNewName reports whether the placeholder is a name that is being declared.
func (a *analysis) isNewName() bool {
	switch p := a.parent(0).(type) {
	case *ast.ValueSpec:
		return slices.Contains(p.Names, a.at)
	case *ast.Field:
		return slices.Contains(p.Names, a.at)
	case *ast.FuncDecl:
		return p.Name == a.at
	case *ast.TypeSpec:
		return p.Name == a.at
	}
	return false
}

// inExpressions are the keywords that may begin an expression or a type.
var inExpressions = []token.Token{token.CHAN, token.FUNC, token.INTERFACE, token.MAP, token.STRUCT}

// members returns the members of a package, a value or a type.
func (a *analysis) members(x ast.Expr) (all []candidate) {
	if id, ok := x.(*ast.Ident); ok {
		if p, ok := a.info.Uses[id].(*types.PkgName); ok {
			for _, name := range p.Imported().Scope().Names() {
				if o := p.Imported().Scope().Lookup(name); o.Exported() {
					all = append(all, object(o))
				}
			}
			return all
		}
	}
	tv, ok := a.info.Types[x]
	if !ok || tv.Type == nil {
		return nil
	}
	return a.ofType(tv.Type, tv.IsValue())
}

// ofType returns the methods of a type and, for a value, its fields.
func (a *analysis) ofType(t types.Type, value bool) (all []candidate) {
	methods := types.NewMethodSet(t)
	if _, isPointer := t.Underlying().(*types.Pointer); !isPointer && !types.IsInterface(t) {
		methods = types.NewMethodSet(types.NewPointer(t))
	}
	for i := range methods.Len() {
		if o := methods.At(i).Obj(); a.visible(o) {
			all = append(all, candidate{name: o.Name(), kind: "method", object: o})
		}
	}
	if value {
		all = append(all, a.structFields(t, map[types.Type]bool{})...)
	}
	return all
}

func (a *analysis) visible(o types.Object) bool { return o.Exported() || o.Pkg() == a.pkg }

// structFields returns the fields of a struct, or of the struct that a pointer points to, including those of embedded
// structs.
func (a *analysis) structFields(t types.Type, seen map[types.Type]bool) (all []candidate) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || seen[t] {
		return nil
	}
	seen[t] = true
	for f := range s.Fields() {
		if a.visible(f) {
			all = append(all, candidate{name: f.Name(), kind: "field", object: f})
		}
		if f.Embedded() {
			all = append(all, a.structFields(f.Type(), seen)...)
		}
	}
	return all
}

// fields returns the fields that the composite literal around the placeholder has not set. only reports that nothing
// else is valid there.
func (a *analysis) fields() (all []candidate, only bool) {
	n := 0
	if kv, ok := a.parent(0).(*ast.KeyValueExpr); ok {
		if kv.Key != a.at {
			return nil, false
		}
		n = 1
	}
	lit, ok := a.parent(n).(*ast.CompositeLit)
	if !ok || lit.Type == a.at {
		return nil, false
	}
	t := a.info.Types[lit].Type
	if t == nil {
		return nil, false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil, false
	}
	set := map[string]bool{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key != a.at {
				set[key.Name] = true
			}
		}
	}
	for f := range s.Fields() {
		if a.visible(f) && !set[f.Name()] {
			all = append(all, candidate{name: f.Name(), kind: "field", object: f, rank: -1})
		}
	}
	return all, len(set) > 0 || a.at.Name == placeholder
}

// inScope returns the names that are visible at the placeholder, from the innermost scope outward.
func (a *analysis) inScope() (all []candidate) {
	pos := a.at.Pos()
	inner := a.pkg.Scope().Innermost(pos)
	seen := map[string]bool{}
	for scope, rank := inner, 0; scope != nil; scope = scope.Parent() {
		if scope == a.pkg.Scope() {
			rank = 1
		} else if scope == types.Universe {
			rank = 3
		} else if scope.Parent() == a.pkg.Scope() { // the file's: imported packages
			rank = 2
		}
		for _, name := range scope.Names() {
			if seen[name] || hidden(name) {
				continue
			}
			_, o := inner.LookupParent(name, pos)
			if o == nil {
				continue
			}
			seen[name] = true
			c := object(o)
			c.rank = rank
			all = append(all, c)
		}
	}
	return all
}

// hidden reports whether a name is of no use in a cell.
func hidden(name string) bool {
	return name == "_" || name == "main" || strings.HasPrefix(name, "init_")
}

func object(o types.Object) candidate {
	c := candidate{name: o.Name(), object: o}
	switch o := o.(type) {
	case *types.Func, *types.Builtin:
		c.kind = "function"
	case *types.TypeName:
		c.kind = "type"
	case *types.Const, *types.Nil:
		c.kind = "const"
	case *types.PkgName:
		c.kind = "module"
	case *types.Var:
		c.kind = "var"
		if o.IsField() {
			c.kind = "field"
		}
	}
	return c
}

// expected returns the type of the parameter or field that the placeholder is the value of, or nil.
func (a *analysis) expected() types.Type {
	n := 0
	var arg ast.Expr = a.at
	if s, ok := a.parent(0).(*ast.SelectorExpr); ok && s.Sel == a.at {
		arg, n = s, 1
	}
	switch p := a.parent(n).(type) {
	case *ast.CallExpr:
		signature, ok := a.info.Types[p.Fun].Type.(*types.Signature)
		i := slices.Index(p.Args, arg)
		if !ok || i < 0 {
			return nil
		}
		params := signature.Params()
		if signature.Variadic() && i >= params.Len()-1 {
			if s, ok := params.At(params.Len() - 1).Type().(*types.Slice); ok {
				return s.Elem()
			}
		}
		if i < params.Len() {
			return params.At(i).Type()
		}
	case *ast.KeyValueExpr:
		if key, ok := p.Key.(*ast.Ident); ok && p.Value == arg && a.info.Uses[key] != nil {
			return a.info.Uses[key].Type()
		}
	}
	return nil
}

// fits reports whether an object, or the result of calling it, is assignable to a type.
func fits(o types.Object, want types.Type) bool {
	if o == nil || want == nil || types.IsInterface(want) && want.Underlying().(*types.Interface).Empty() {
		return false
	}
	t := o.Type()
	if s, ok := t.(*types.Signature); ok && s.Results().Len() == 1 && !types.AssignableTo(t, want) {
		t = s.Results().At(0).Type()
	}
	if _, ok := o.(*types.TypeName); ok { // a literal of it
		return types.AssignableTo(t, want)
	}
	return t != nil && types.AssignableTo(t, want)
}
