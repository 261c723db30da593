package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"antipode/internal/must"
)

// Limits of lines, in columns. A tab is tabWidth columns.
const (
	maxColumns = 120
	tabWidth   = 4
)

func TestGoLinesAreShort(t *testing.T) {
	seen := 0
	for _, name := range files() {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			continue
		}
		seen++
		fset := token.NewFileSet()
		data := read(t, name)
		file := must.Get(parser.ParseFile(fset, filepath.Join(root, name), data, parser.ParseComments))(t)
		for _, line := range longLines(fset, file, data) {
			t.Errorf("%s:%d is %d columns wide, more than %d: break the line, or shorten the comment", name,
				line.number, line.columns, maxColumns)
		}
	}
	must.True(t, seen != 0, "no Go file found")
}

type longLine struct{ number, columns int }

// longLines lists the lines of a Go file that are wider than maxColumns. Lines inside a raw string and the expected
// output of an Example are data and exempt.
func longLines(fset *token.FileSet, file *ast.File, data []byte) (out []longLine) {
	exempt := map[int]bool{}
	add := func(from, to token.Pos) {
		for line := fset.Position(from).Line; line <= fset.Position(to).Line; line++ {
			exempt[line] = true
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value[0] == '`' {
			add(lit.Pos(), lit.End())
		}
		return true
	})
	for _, group := range file.Comments {
		for _, c := range group.List {
			text := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")))
			if strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:") {
				add(c.Pos(), group.End())
			}
			if strings.HasPrefix(c.Text, "//go:") {
				add(c.Pos(), c.End())
			}
		}
	}
	for i, line := range strings.Split(string(data), "\n") {
		columns := utf8.RuneCountInString(line) + strings.Count(line, "\t")*(tabWidth-1)
		if columns > maxColumns && !exempt[i+1] {
			out = append(out, longLine{i + 1, columns})
		}
	}
	return out
}
