package notebook

import (
	"go/ast"
	"strings"
)

// GoCode is a code cell as GoNB reads it: declarations and, below a line %%, the statements of main.
type GoCode struct {
	Text    string // the cell with spaces in place of lines that are not for the Go parser; offsets are the cell's
	Main    int    // offset in Text of the statements; -1 if the cell has no line %%
	Special bool   // a command such as %%writefile takes the whole cell, which is then not Go
}

// SplitCode divides a code cell. Lines that start with % or ! are commands, not Go, and so are the lines that continue
// a command that ends with a backslash. A package clause is blanked too, since the parsers of cells add their own.
func SplitCode(source string) GoCode {
	c := GoCode{Main: -1}
	var b strings.Builder
	continued := false
	for line := range strings.Lines(source) {
		text := strings.TrimPrefix(strings.TrimRight(line, "\r\n"), "//gonb:")
		isCommand := continued || strings.HasPrefix(text, "%") || strings.HasPrefix(text, "!")
		if !continued && c.Main < 0 {
			name, _, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
			if name == "%%" || strings.HasPrefix(name, "%main") {
				c.Main = b.Len() + len(line)
			} else if strings.HasPrefix(name, "%%") {
				c.Special = true
			}
		}
		continued = isCommand && strings.HasSuffix(text, `\`)
		if isCommand || strings.HasPrefix(text, "package ") {
			line = Blank(line)
		}
		b.WriteString(line)
	}
	c.Text = b.String()
	return c
}

// Declarations returns the part above the line %%.
func (c GoCode) Declarations() string {
	if c.Main < 0 {
		return c.Text
	}
	return c.Text[:c.Main]
}

// Statements returns the part below the line %%, preceded by blanks in place of the declarations.
func (c GoCode) Statements() string {
	if c.Main < 0 {
		return ""
	}
	return Blank(c.Text[:c.Main]) + c.Text[c.Main:]
}

// Blank replaces every byte by a space, except line ends.
func Blank(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c != '\n' && c != '\r' {
			b[i] = ' '
		}
	}
	return string(b)
}

// AssignedIdent returns the variable that an assignment to e changes: x for x, x.f, x[i], *x and (x). It is nil for
// other expressions.
func AssignedIdent(e ast.Expr) *ast.Ident {
	for {
		switch n := e.(type) {
		case *ast.Ident:
			return n
		case *ast.SelectorExpr:
			e = n.X
		case *ast.IndexExpr:
			e = n.X
		case *ast.StarExpr:
			e = n.X
		case *ast.ParenExpr:
			e = n.X
		default:
			return nil
		}
	}
}
