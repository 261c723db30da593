package complete

import (
	"errors"
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
// in its declaration, or below %%, is left out and open brackets are closed. Later declarations hide earlier ones of the
// same name. insert is put in at the offset. It fails where at is in a comment, a string or a line that is not Go.
func compose(cells []string, code string, at int, insert string) (source, bool) {
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
	var current string
	var before int
	var ok bool
	if i < len(texts) {
		current, before, ok = unfinished(texts[i][:at-offsets[i]], insert, startsDeclaration(texts[i]))
		p, _ := parsePiece(current, imports{})
		add(p, false)
	} else {
		current, before, ok = unfinished(c.body[:at-c.at], insert, false)
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

// unfinished completes a text that ends at the cursor: it adds insert, closes brackets, and blanks earlier lines that
// cannot be parsed. Text that is no declaration becomes a function's body. before is the offset of the text's end in it.
func unfinished(text, insert string, declaration bool) (whole string, before int, ok bool) {
	open, end := "func main() {\n", "\n}"
	if declaration {
		open, end = "", ""
	}
	for range 8 {
		closing, inText := closers(text)
		if inText {
			return "", 0, false
		}
		whole, before = open+text+insert+closing+end+"\n", len(open)+len(text)
		_, err := parser.ParseFile(token.NewFileSet(), "", clause+whole, parser.SkipObjectResolution)
		var errs scanner.ErrorList
		if !errors.As(err, &errs) {
			break
		}
		at := errs[0].Pos.Offset - len(clause) - len(open)
		line := strings.LastIndexByte(text, '\n') + 1 // the cursor's line begins here
		if at >= line || at < 0 {
			break
		}
		start := strings.LastIndexByte(text[:at], '\n') + 1
		stop := at + strings.IndexByte(text[at:], '\n')
		if strings.TrimSpace(text[start:stop]) == "" {
			break
		}
		text = text[:start] + blank(text[start:stop]) + text[stop:]
	}
	return whole, before, true
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
