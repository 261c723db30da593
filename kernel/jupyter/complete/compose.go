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
)

// placeholder makes an identifier of whatever is before the cursor, so that the code around it can be parsed.
const placeholder = "ǃcursorǃ"

// source is a notebook as one Go file.
type source struct {
	text   string
	offset int // of the cursor, or of the end of the name that is asked about
}

// compose makes one file of the cells that were executed and of the current one up to the offset at: what follows at
// in its declaration, or below %%, is left out and open brackets are closed. Later declarations hide earlier ones of
// the same name. insert is put in at the offset. It fails where at is in a comment, a string or a line that is not Go.
// alone leaves out what else is not whole: that is for code which otherwise cannot be parsed around at.
func compose(cells []string, code string, at int, insert string, alone bool) (source, bool) {
	if isSpecial(code, at) {
		return source{}, false
	}
	c, im := splitCell(code), imports{}
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
		for _, p := range parsePieces(splitCell(earlier).head, im) {
			add(p, true)
		}
	}
	texts, offsets := chunks(c.head)
	i := len(texts) // the chunk with the cursor
	if at < c.at {
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
		text = c.body[:at-c.at]
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
	offset := b.Len() + before
	b.WriteString(current)
	for _, p := range pieces {
		b.WriteByte('\n')
		b.Write(p.text)
	}
	return source{text: b.String(), offset: offset}, ok
}

// startsDeclaration tells whether a chunk begins, after comments, with the keyword of a declaration.
func startsDeclaration(text string) bool {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), []byte(text), nil, 0)
	_, tok, _ := s.Scan()
	return slices.Contains([]token.Token{token.VAR, token.FUNC, token.TYPE, token.CONST, token.IMPORT}, tok)
}

// unfinished completes a text that ends at the cursor: it adds insert and closes brackets. Text that is no declaration
// becomes a function's body. before is the offset of the text's end in it.
func unfinished(text, insert string, declaration bool) (whole string, before int, ok bool) {
	closing, inText := closers(text)
	open, end := "func main() {\n", "\n}"
	if declaration {
		open, end = "", ""
	}
	return open + text + insert + closing + end + "\n", len(open) + len(text), !inText
}

// lastStatement is the text with the lines before its last one as far as they are whole statements. It is shorter than
// text, which ends at the cursor.
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
