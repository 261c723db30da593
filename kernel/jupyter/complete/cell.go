package complete

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
	"unicode"
	"unicode/utf8"

	"antipode/kernel/jupyter/notebook"
)

// isGo reports whether the line around an offset is Go, not a command.
func isGo(c notebook.GoCode, code string, offset int) bool {
	start := strings.LastIndexByte(code[:offset], '\n') + 1
	end := len(code)
	if i := strings.IndexByte(code[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	return c.Text[start:end] == code[start:end]
}

// chunks divides declarations into chunks, so that an unfinished one does not affect the next: at lines that begin with
// a keyword of declarations, and, after complete declarations, at lines that begin with another word, which are
// statements. offsets[i] is the start of chunk i.
func chunks(head string) (texts []string, offsets []int) {
	start, comment, at, raw := 0, 0, 0, false
	for line := range strings.Lines(head) {
		if !raw && at > start && (isDeclaration(line) || isWord(line) && isWhole(head[start:at])) {
			if cut := comment; cut > start {
				texts, offsets = append(texts, head[start:cut]), append(offsets, start)
				start = cut
			}
		}
		at += len(line)
		if !strings.HasPrefix(line, "//") {
			comment = at // the declaration's comment may begin at the next line
		}
		if strings.Count(line, "`")%2 == 1 {
			raw = !raw
		}
	}
	return append(texts, head[start:]), append(offsets, start)
}

// isWord reports whether a line begins with a letter.
func isWord(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLetter(r)
}

// isWhole reports whether text consists of complete declarations.
func isWhole(text string) bool {
	p, whole := parsePiece(text, imports{})
	return whole && strings.TrimSpace(string(p.text)) != ""
}

// isDeclaration reports whether text begins with the keyword of a top-level declaration.
func isDeclaration(text string) bool {
	for _, keyword := range []string{"var", "func", "type", "const", "import"} {
		rest, ok := strings.CutPrefix(text, keyword)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], " \t(\n\r")) {
			return true
		}
	}
	return false
}

// piece is the text of parsed declarations. A name that a later piece redeclares is replaced by _.
type piece struct {
	text  []byte
	names map[string][]int // offsets in text, by name; methods as TYPE~NAME
}

// imports are import paths by their name in the file; a dot import has the name ". PATH".
type imports map[string]string

// parsePieces parses the declarations of a cell and leaves out what cannot be parsed. It adds imports to im.
func parsePieces(head string, im imports) []piece {
	if p, ok := parsePiece(head, im); ok {
		return []piece{p}
	}
	var all []piece
	texts, _ := chunks(head)
	for _, text := range texts {
		if p, ok := parsePiece(text, im); ok {
			all = append(all, p)
		}
	}
	return all
}

const clause = "package main\n"

// parsePiece collects the names that a text declares. It reports whether the text has no error.
func parsePiece(text string, im imports) (piece, bool) {
	fset := token.NewFileSet()
	p := piece{text: []byte(text), names: map[string][]int{}}
	f, err := parser.ParseFile(fset, "", clause+text, parser.SkipObjectResolution)
	if f == nil {
		return p, false
	}
	offset := func(pos token.Pos) int { return fset.Position(pos).Offset - len(clause) }
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if r := receiver(d); r != "" {
				name = r + "~" + name
			}
			p.names[name] = append(p.names[name], offset(d.Name.Pos()))
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ImportSpec:
					name := importName(s)
					path := strings.Trim(s.Path.Value, "\"`")
					if name == "." {
						name = ". " + path
					}
					im[name] = path
				case *ast.TypeSpec:
					p.names[s.Name.Name] = append(p.names[s.Name.Name], offset(s.Name.Pos()))
				case *ast.ValueSpec:
					for _, n := range s.Names {
						p.names[n.Name] = append(p.names[n.Name], offset(n.Pos()))
					}
				}
			}
			if d.Tok == token.IMPORT {
				copy(p.text[offset(d.Pos()):], notebook.Blank(string(p.text[offset(d.Pos()):offset(d.End())])))
			}
		}
	}
	return p, err == nil
}

// hide replaces the names that a later piece declares by _.
func (p piece) hide(later piece) {
	for key := range later.names {
		_, name, method := strings.Cut(key, "~")
		if !method {
			name = key
		}
		for _, at := range p.names[key] {
			if name != "_" && at >= 0 {
				copy(p.text[at:], "_"+strings.Repeat(" ", len(name)-1))
			}
		}
	}
}

// closers returns the brackets that close the open ones of text. inText reports whether text ends within a string or a
// comment.
func closers(text string) (closing string, inText bool) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	bad := 0
	s.Init(file, []byte(text), func(at token.Position, _ string) { bad = at.Offset + 1 }, scanner.ScanComments)
	var open []byte
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			for i := len(open) - 1; i >= 0; i-- {
				closing += string(open[i])
			}
			return closing, inText
		case token.LPAREN:
			open = append(open, ')')
		case token.LBRACK:
			open = append(open, ']')
		case token.LBRACE:
			open = append(open, '}')
		case token.RPAREN, token.RBRACK, token.RBRACE:
			if n := len(open); n > 0 {
				open = open[:n-1]
			}
		case token.STRING, token.CHAR: // not terminated: the scanner reports it at its start
			inText = bad == file.Offset(pos)+1 && file.Offset(pos)+len(lit) >= len(text)
		case token.COMMENT:
			inText = file.Offset(pos)+len(lit) >= len(text) && (strings.HasPrefix(lit, "//") || bad > 0)
		}
	}
}
