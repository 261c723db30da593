package jupyter

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"antipode/kernel/jupyter/notebook"
)

// source is a cell's code, divided.
type source struct {
	notebook.GoCode
	code string
}

func split(code string) source { return source{notebook.SplitCode(code), code} }

// parseDeclarations parses the part above %%.
func (s source) parseDeclarations(files *token.FileSet) (*ast.File, error) {
	return parser.ParseFile(files, "", "package p; "+s.Declarations(), parser.SkipObjectResolution)
}

const bodyStart = "package p; func _() { "

func parseBody(files *token.FileSet, statements string) (*ast.BlockStmt, error) {
	file, err := parser.ParseFile(files, "", bodyStart+statements+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if len(file.Decls) != 1 {
		return nil, errors.New("a brace closes main")
	}
	return file.Decls[0].(*ast.FuncDecl).Body, nil
}

// isComplete returns the status of a cell for is_complete_reply: "complete", "incomplete" (more lines are needed, also
// where nothing is below %%), "invalid" or "unknown". Statements above %% count as if they were below it; executing
// them reports where they belong.
func isComplete(code string) (status, indent string) {
	s := split(code)
	if s.Special {
		return "unknown", ""
	}
	if s.Main >= 0 && strings.TrimSpace(s.Statements()) == "" {
		return "incomplete", ""
	}
	files := token.NewFileSet()
	_, err := s.parseDeclarations(files)
	end := len("package p; ") + len(s.Declarations())
	statements := s.Statements()
	if statementAbove(err) != nil {
		statements, err = s.Declarations(), nil
	}
	if err == nil && statements != "" {
		_, err = parseBody(files, statements)
		end = len(bodyStart) + len(statements)
	}
	var list scanner.ErrorList
	switch {
	case err == nil:
		return "complete", ""
	case errors.As(err, &list) && (list[0].Pos.Offset >= end || strings.HasSuffix(list[0].Msg, "not terminated")):
		return "incomplete", "\t"
	}
	return "invalid", ""
}

// statementAbove returns the parser's report that a statement is where a declaration should be, or nil.
func statementAbove(err error) *scanner.Error {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 && strings.HasPrefix(list[0].Msg, "expected declaration") {
		return list[0]
	}
	return nil
}

// statementError reports a statement above %%, which users of Python write first; "" if there is none.
func (s source) statementError() (line int, message string) {
	if s.Special {
		return 0, ""
	}
	_, err := s.parseDeclarations(token.NewFileSet())
	found := statementAbove(err)
	if found == nil {
		return 0, ""
	}
	line = found.Pos.Line
	rows := strings.Split(s.Text, "\n")
	text := strings.TrimSpace(rows[min(line, len(rows))-1])
	return line, fmt.Sprintf("%s: statements go below a line %%%%; above it are import, var, const, type and func",
		text)
}

// variables returns the names that the declarations declare with var.
func (s source) variables() []string {
	file, err := s.parseDeclarations(token.NewFileSet())
	if err != nil {
		return nil
	}
	var names []string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

// assigned returns the notebook variables that the statements assign to, with the line of the first assignment. Names
// that the statements declare themselves are local.
func assigned(body *ast.BlockStmt, files *token.FileSet, variables map[string]int) (names []string, lines []int) {
	own := map[string]bool{"_": true}
	declare := func(names ...ast.Expr) {
		for _, x := range names {
			if id, ok := x.(*ast.Ident); ok {
				own[id.Name] = true
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				declare(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				declare(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				declare(name)
			}
		case *ast.Field:
			for _, name := range n.Names {
				declare(name)
			}
		}
		return true
	})
	note := func(targets ...ast.Expr) {
		for _, x := range targets {
			id := notebook.AssignedIdent(x)
			if id != nil && variables[id.Name] > 0 && !own[id.Name] && !slices.Contains(names, id.Name) {
				names, lines = append(names, id.Name), append(lines, files.Position(x.Pos()).Line)
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				note(n.Lhs...)
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	})
	return names, lines
}

// showLast returns the cell with its last expression shown, as in other notebooks: `photos` becomes
// `antipode_cell.Result(photos)`. A call is rewritten if results says that it returns one value; other expression
// statements are errors in Go. Line numbers do not change.
func (s source) showLast(body *ast.BlockStmt, files *token.FileSet, results *resultIndex) string {
	if len(body.List) == 0 {
		return s.code
	}
	last, ok := body.List[len(body.List)-1].(*ast.ExprStmt)
	if !ok || !hasValue(last.X, results) {
		return s.code
	}
	from := files.Position(last.Pos()).Offset - len(bodyStart)
	to := files.Position(last.End()).Offset - len(bodyStart)
	return s.code[:from] + light + ".Result(" + s.code[from:to] + ")" + s.code[to:]
}

// valueFunctions are the built-in functions and types whose call is not a statement.
var valueFunctions = []string{
	"append", "cap", "complex", "imag", "len", "make", "max", "min", "new", "real", "bool", "byte", "float32",
	"float64",
	"int", "int8", "int16", "int32", "int64", "rune", "string", "uint", "uint8", "uint16", "uint32", "uint64",
}

func hasValue(x ast.Expr, results *resultIndex) bool {
	switch e := x.(type) {
	case *ast.ParenExpr:
		return hasValue(e.X, results)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW
	case *ast.Ident:
		return e.Name != "nil" && e.Name != "_"
	case *ast.CallExpr:
		switch f := e.Fun.(type) {
		case *ast.Ident:
			return slices.Contains(valueFunctions, f.Name)
		case *ast.SelectorExpr:
			return results.returns(f)
		}
		return false
	}
	return true
}

// printed returns the lines that call the built-in functions print and println.
func printed(body *ast.BlockStmt, files *token.FileSet) (lines []int) {
	ast.Inspect(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				lines = append(lines, files.Position(call.Pos()).Line)
			}
		}
		return true
	})
	return lines
}
