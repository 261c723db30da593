package notebook

import (
	"go/scanner"
	"go/token"
	"html"
	"strings"
)

// highlight escapes a cell's Go code and marks comments, strings, keywords and GoNB's special lines.
func highlight(source string) string {
	var b strings.Builder
	rows := strings.SplitAfter(source, "\n")
	for start := 0; start < len(rows); {
		if row := rows[start]; strings.HasPrefix(row, "%") || strings.HasPrefix(row, "!") {
			span(&b, "m", row)
			start++
			continue
		}
		end := start
		for end < len(rows) && !strings.HasPrefix(rows[end], "%") && !strings.HasPrefix(rows[end], "!") {
			end++
		}
		highlightGo(&b, strings.Join(rows[start:end], ""))
		start = end
	}
	return b.String()
}

func highlightGo(b *strings.Builder, source string) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, scanner.ScanComments)
	done := 0
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		class := ""
		switch {
		case tok == token.COMMENT:
			class = "c"
		case tok == token.STRING || tok == token.CHAR:
			class = "s"
		case tok.IsKeyword():
			class = "k"
		case tok == token.INT || tok == token.FLOAT:
			class = "n"
		}
		at := file.Offset(pos)
		end := at + len(literal)
		if class == "" || at < done || end > len(source) || source[at:end] != literal {
			continue // plain, or carriage returns that the scanner left out
		}
		b.WriteString(html.EscapeString(source[done:at]))
		span(b, class, literal)
		done = end
	}
	b.WriteString(html.EscapeString(source[done:]))
}

func span(b *strings.Builder, class, text string) {
	b.WriteString("<span class=\"" + class + "\">" + html.EscapeString(text) + "</span>")
}
