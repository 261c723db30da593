package complete

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"antipode/kernel/jupyter/notebook"
)

// placeholder completes the name before the cursor to an identifier, so that the code can be parsed even if there is no
// name.
const placeholder = "ǃcursorǃ"

// source is a notebook as one Go file.
type source struct {
	text   string
	offset int // of the cursor, or of the end of the requested name
}

// compose returns one file of the executed cells and of the current one up to the offset at. The rest of the
// declaration with the cursor, or of the statements, is left out, and open brackets are closed. Later declarations hide
// earlier ones of the same name. insert is inserted at the offset. compose fails if at is in a comment, a string or a
// command. With alone, incomplete statements before the cursor's line are left out too, for code that cannot be parsed
// otherwise.
func compose(cells []string, code string, at int, insert string, alone bool) (source, bool) {
	c, im := notebook.SplitCode(code), imports{}
	if c.Special || !isGo(c, code, at) {
		return source{}, false
	}
	var pieces []piece
	add := func(p piece, whole bool) {
		for _, earlier := range pieces {
			earlier.hide(p)
		}
		if whole {
			pieces = append(pieces, p)
		}
	}
	for _, earlier := range cells {
		for _, p := range parsePieces(notebook.SplitCode(earlier).Declarations(), im) {
			add(p, true)
		}
	}
	texts, offsets := chunks(c.Declarations())
	i := len(texts) // the chunk with the cursor
	if c.Main < 0 || at < c.Main {
		i, _ = slices.BinarySearch(offsets, at+1)
		i--
	}
	for j, text := range texts {
		if j != i {
			add(parsePiece(text, im))
		}
	}
	var text string // what ends at the cursor
	if i < len(texts) {
		text = texts[i][:at-offsets[i]]
	} else {
		text = c.Text[c.Main:at]
	}
	if alone {
		text = lastStatement(text)
	}
	current, before, ok := unfinished(text, insert, i < len(texts) && startsDeclaration(text))
	if i < len(texts) {
		p, _ := parsePiece(current, imports{})
		add(p, false)
	}
	var b strings.Builder
	b.WriteString(clause)
	im.write(&b)
	for _, p := range pieces {
		b.Write(p.text)
		b.WriteByte('\n')
	}
	offset := b.Len() + before
	b.WriteString(current) // last, because the parser may take what follows unfinished code for a part of it
	return source{text: b.String(), offset: offset}, ok
}

// startsDeclaration reports whether a chunk begins, after comments, with the keyword of a declaration.
func startsDeclaration(text string) bool {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), nil, 0)
	_, tok, _ := s.Scan()
	return slices.Contains([]token.Token{token.VAR, token.FUNC, token.TYPE, token.CONST, token.IMPORT}, tok)
}

// unfinished completes a text that ends at the cursor: it adds insert and closes brackets. A text that is not a
// declaration becomes the body of a function. before is the offset of the text's end in the result.
func unfinished(text, insert string, declaration bool) (whole string, before int, ok bool) {
	closing, inText := closers(text)
	open, end := "func main() {\n", "\n}"
	if declaration {
		open, end = "", ""
	}
	return open + text + insert + closing + end + "\n", len(open) + len(text), !inText
}

// lastStatement returns the last line of text after the complete statements before it.
func lastStatement(text string) string {
	kept, start := "", 0
	line := strings.LastIndexByte(text, '\n') + 1
	for at := 0; at < line; {
		at += strings.IndexByte(text[at:], '\n') + 1
		more := kept + text[start:at]
		file := clause + "func main() {\n" + more + "}"
		if _, err := parser.ParseFile(token.NewFileSet(), "", file, parser.SkipObjectResolution); err == nil {
			kept, start = more, at
		}
	}
	return kept + text[line:]
}

// write adds the import declarations.
func (im imports) write(b *strings.Builder) {
	for _, name := range slices.Sorted(maps.Keys(im)) {
		b.WriteString("import ")
		if alias, _, _ := strings.Cut(name, " "); alias != path.Base(im[name]) {
			b.WriteString(alias + " ")
		}
		b.WriteString(strconv.Quote(im[name]) + "\n")
	}
}
