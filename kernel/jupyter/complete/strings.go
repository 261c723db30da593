package complete

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"antipode/kernel/jupyter/notebook"
)

// contract are the columns that a table may have whose columns are known only when it runs.
var contract = strings.Fields("id image mask object region country group axis language prompt prompt_id template " +
	"intervention caption source model seed outcome reason full object_only background_only clip_image clip_text text")

// openString returns the offset of the quotation mark of the string that text ends in, or -1.
func openString(text string) int {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	bad := -1
	s.Init(file, []byte(text), func(at token.Position, _ string) { bad = at.Offset }, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return -1
		case tok == token.STRING && literal[0] == '"' && bad == file.Offset(pos) &&
			bad+len(literal) >= len(text) && !strings.Contains(literal, `\`):
			return bad
		}
	}
}

// completeColumn completes the name of a column in the string before the cursor. ok reports whether there is one.
func (l *loader) completeColumn(r Request, at int) (c Completion, ok bool) {
	quote := openString(notebook.SplitCode(r.Code).Text[:at])
	if quote < 0 {
		return c, false
	}
	prefix := r.Code[quote+1 : at]
	c.End = utf8.RuneCountInString(r.Code[:at])
	c.Start = c.End - utf8.RuneCountInString(prefix)
	for _, alone := range []bool{false, true} {
		s, ok := compose(r.Cells, r.Code, quote, placeholder, alone)
		if !ok {
			return c, true
		}
		a := l.analyze(s)
		if a.at == nil || a.at.Name != placeholder {
			continue
		}
		namesColumn, names := a.meaning()
		if namesColumn {
			names = a.columns(r.Columns)
		}
		found := withPrefix(candidatesOf(names), prefix)
		if namesColumn && len(found) == 0 { // a verb may have added it
			found = withPrefix(candidatesOf(contract), prefix)
		}
		for _, found := range found {
			m := Match{Text: found.name, Type: "column"}
			if !namesColumn {
				m.Type = "const"
			}
			c.Matches = append(c.Matches, m)
		}
		break
	}
	return c, true
}

func candidatesOf(names []string) (all []candidate) {
	for _, name := range names {
		all = append(all, candidate{name: name})
	}
	return all
}

// meaning reports whether the placeholder is an argument or a field, or an element of one, that names a column; of a
// field with a fixed set of values it returns these.
func (a *analysis) meaning() (namesColumn bool, values []string) {
	var value ast.Expr = a.at
	n := 0
	if list, ok := a.parent(0).(*ast.CompositeLit); ok && !slices.ContainsFunc(list.Elts, isField) {
		value, n = list, 1
	}
	switch p := a.parent(n).(type) {
	case *ast.CallExpr:
		f, ok := a.info.Types[p.Fun].Type.(*types.Signature)
		i := slices.Index(p.Args, value)
		if !ok || i < 0 || f.Params().Len() == 0 {
			return false, nil
		}
		name := f.Params().At(min(i, f.Params().Len()-1)).Name()
		return slices.Contains([]string{"column", "columns", "by", "on", "from"}, name), nil
	case *ast.KeyValueExpr:
		key, ok := p.Key.(*ast.Ident)
		if !ok || a.info.Uses[key] == nil {
			return false, nil
		}
		text, _ := a.doc(a.info.Uses[key])
		tag := a.tag(a.parent(n+1), key.Name)
		if fixed := tag.Get("values"); fixed != "" {
			return false, strings.Split(fixed, ",")
		}
		return strings.Contains(strings.ToLower(text)+tag.Get("help"), "column"), nil
	}
	return false, nil
}

// tag returns the tag of a field of a composite literal's struct.
func (a *analysis) tag(literal ast.Node, field string) reflect.StructTag {
	lit, ok := literal.(*ast.CompositeLit)
	if !ok || a.info.Types[lit].Type == nil {
		return ""
	}
	s, _ := a.info.Types[lit].Type.Underlying().(*types.Struct)
	for i := 0; s != nil && i < s.NumFields(); i++ {
		if s.Field(i).Name() == field {
			return reflect.StructTag(s.Tag(i))
		}
	}
	return ""
}

func isField(e ast.Expr) bool {
	_, ok := e.(*ast.KeyValueExpr)
	return ok
}

// columns returns the columns of the tables in the innermost expression around the placeholder that contains one whose
// columns are known, or else those of all tables and the contract's.
func (a *analysis) columns(tables map[string][]string) (names []string) {
	for _, n := range slices.Backward(a.path) {
		if _, ok := n.(ast.Expr); !ok || len(names) > 0 {
			break
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names = append(names, tables[id.Name]...)
			}
			return true
		})
	}
	if len(names) == 0 {
		for _, table := range slices.Sorted(maps.Keys(tables)) {
			names = append(names, tables[table]...)
		}
		names = append(names, contract...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}
