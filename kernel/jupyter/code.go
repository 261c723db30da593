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
)

// source is a cell's code as GoNB reads it: declarations, then, below a line %%, the body of main. Special lines (% and
// !) are blank in both; all three have the cell's line numbers.
type source struct {
	rows         []string
	main         int    // the index of the line %%; -1 without one
	special      bool   // the whole cell belongs to a special command such as %%writefile
	declarations string // above the line %%
	body         string // below it
}

// mainLines are the special commands that begin the body of main.
var mainLines = []string{"%%", "%main"}

func split(code string) source {
	s := source{rows: strings.Split(code, "\n"), main: -1}
	above, below := make([]string, len(s.rows)), make([]string, len(s.rows))
	continued := false
	for i, row := range s.rows {
		row = strings.TrimSuffix(strings.TrimPrefix(row, "//gonb:"), "\r")
		command, _, _ := strings.Cut(row, " ")
		switch {
		case continued || strings.HasPrefix(row, "!"):
			continued = strings.HasSuffix(row, "\\")
		case s.main < 0 && slices.Contains(mainLines, command):
			s.main = i
		case strings.HasPrefix(row, "%%") && s.main < 0:
			s.special = true
		case strings.HasPrefix(row, "%"):
		case s.main < 0:
			above[i] = row
		default:
			below[i] = row
		}
	}
	s.declarations, s.body = strings.Join(above, "\n"), strings.Join(below, "\n")
	return s
}

// Declarations returns the part of a cell that declares, with the cell's line numbers: special lines are blank, and so
// is what follows %%.
func Declarations(code string) string { return split(code).declarations }

// parseDeclarations parses the part above %%.
func (s source) parseDeclarations(files *token.FileSet) (*ast.File, error) {
	return parser.ParseFile(files, "", "package p; "+s.declarations, parser.SkipObjectResolution)
}

const bodyStart = "package p; func _() { "

// parseBody parses the part below %%.
func (s source) parseBody(files *token.FileSet) (*ast.BlockStmt, error) {
	file, err := parser.ParseFile(files, "", bodyStart+s.body+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if len(file.Decls) != 1 {
		return nil, errors.New("a brace closes main")
	}
	return file.Decls[0].(*ast.FuncDecl).Body, nil
}

// isComplete tells a console whether a cell can be executed: "complete", "incomplete" (more lines are needed) or
// "invalid". Statements above %% count as if they were below it: their error says where they go.
func isComplete(code string) (status, indent string) {
	s := split(code)
	if s.special {
		return "unknown", ""
	}
	files := token.NewFileSet()
	_, err := s.parseDeclarations(files)
	end := len("package p; ") + len(s.declarations)
	if isStatement(err) {
		s.main, s.body = 0, s.declarations
		err = nil
	}
	if err == nil && s.main >= 0 {
		_, err = s.parseBody(files)
		end = len(bodyStart) + len(s.body)
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

// isStatement reports whether an error of the parser says that a statement is where a declaration should be.
func isStatement(err error) bool {
	var list scanner.ErrorList
	return errors.As(err, &list) && len(list) > 0 && strings.HasPrefix(list[0].Msg, "expected declaration")
}

// statementError reports a statement above %%, which is what somebody used to Python writes first; "" where there is
// none.
func (s source) statementError() (line int, message string) {
	if s.special || strings.TrimSpace(s.declarations) == "" {
		return 0, ""
	}
	_, err := s.parseDeclarations(token.NewFileSet())
	if !isStatement(err) {
		return 0, ""
	}
	var list scanner.ErrorList
	errors.As(err, &list)
	line = list[0].Pos.Line
	text := strings.TrimSpace(s.rows[min(line, len(s.rows))-1])
	return line, fmt.Sprintf("%s: statements go below a line %%%%; above it are import, var, const, type and func", text)
}

// variables lists what the declarations declare with var.
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

// assigned lists the notebook variables that the body assigns to, with the line of the first assignment. Names that
// the body itself declares are its own.
func assigned(body *ast.BlockStmt, files *token.FileSet, variables map[string]bool) (names []string, lines []int) {
	own := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					own[rootOf(left)] = true
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				own[rootOf(n.Key)], own[rootOf(n.Value)] = true, true
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.Field:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		}
		return true
	})
	note := func(left ast.Expr) {
		name := rootOf(left)
		if variables[name] && !own[name] && !slices.Contains(names, name) {
			names, lines = append(names, name), append(lines, files.Position(left.Pos()).Line)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					note(left)
				}
			}
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	})
	return names, lines
}

// rootOf returns the variable that an assignment to x changes: x itself, or v of v.field and v[i].
func rootOf(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return ""
		}
	}
}

// showLast rewrites a cell that ends with an expression so that its value is shown, as notebooks do: `photos` becomes
// `cell.Result(photos)`. A call is rewritten where results says that it returns one value; any other expression
// statement is an error in Go. Lines keep their numbers.
func (s source) showLast(body *ast.BlockStmt, files *token.FileSet, results *resultIndex) string {
	code := strings.Join(s.rows, "\n")
	if len(body.List) == 0 {
		return code
	}
	last, ok := body.List[len(body.List)-1].(*ast.ExprStmt)
	if !ok || !hasValue(last.X, results) {
		return code
	}
	// Offsets in s.body are those in the parsed file less its first words; the rows differ from s.body in special lines.
	from := files.Position(last.Pos()).Offset - len(bodyStart)
	to := files.Position(last.End()).Offset - len(bodyStart)
	rows := strings.Split(s.body[:from]+"cell.Result("+s.body[from:to]+")"+s.body[to:], "\n")
	for i := range rows {
		if i <= s.main || strings.TrimSpace(rows[i]) == "" {
			rows[i] = s.rows[i]
		}
	}
	return strings.Join(rows, "\n")
}

// valueFunctions are the built-in functions and types whose call is no statement.
var valueFunctions = []string{
	"append", "cap", "complex", "imag", "len", "make", "max", "min", "new", "real", "bool", "byte", "float32", "float64",
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
