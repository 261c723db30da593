package bpe

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// late are the combining marks that came after Unicode 9, the version by which the tokenizers library composes: to it they
// are plain characters, before and after which nothing is reordered or composed.
var late = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x07fd, Hi: 0x07fd, Stride: 1}, {Lo: 0x0898, Hi: 0x089f, Stride: 1}, {Lo: 0x08ca, Hi: 0x08d3, Stride: 1}, {Lo: 0x09fe, Hi: 0x09fe, Stride: 1},
		{Lo: 0x0c3c, Hi: 0x0c3c, Stride: 1}, {Lo: 0x0d3b, Hi: 0x0d3c, Stride: 1}, {Lo: 0x0eba, Hi: 0x0eba, Stride: 1}, {Lo: 0x1715, Hi: 0x1715, Stride: 1},
		{Lo: 0x1abf, Hi: 0x1ace, Stride: 1}, {Lo: 0x1df6, Hi: 0x1dfa, Stride: 1}, {Lo: 0xa82c, Hi: 0xa82c, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10d24, Hi: 0x10d27, Stride: 1}, {Lo: 0x10eab, Hi: 0x10eac, Stride: 1}, {Lo: 0x10efd, Hi: 0x10eff, Stride: 1}, {Lo: 0x10f46, Hi: 0x10f50, Stride: 1},
		{Lo: 0x10f82, Hi: 0x10f85, Stride: 1}, {Lo: 0x11070, Hi: 0x11070, Stride: 1}, {Lo: 0x1133b, Hi: 0x1133b, Stride: 1}, {Lo: 0x1145e, Hi: 0x1145e, Stride: 1},
		{Lo: 0x11839, Hi: 0x1183a, Stride: 1}, {Lo: 0x1193d, Hi: 0x1193e, Stride: 1}, {Lo: 0x11943, Hi: 0x11943, Stride: 1}, {Lo: 0x119e0, Hi: 0x119e0, Stride: 1},
		{Lo: 0x11a34, Hi: 0x11a34, Stride: 1}, {Lo: 0x11a47, Hi: 0x11a47, Stride: 1}, {Lo: 0x11a99, Hi: 0x11a99, Stride: 1}, {Lo: 0x11d42, Hi: 0x11d42, Stride: 1},
		{Lo: 0x11d44, Hi: 0x11d45, Stride: 1}, {Lo: 0x11d97, Hi: 0x11d97, Stride: 1}, {Lo: 0x11f41, Hi: 0x11f42, Stride: 1}, {Lo: 0x16ff0, Hi: 0x16ff1, Stride: 1},
		{Lo: 0x1e08f, Hi: 0x1e08f, Stride: 1}, {Lo: 0x1e130, Hi: 0x1e136, Stride: 1}, {Lo: 0x1e2ae, Hi: 0x1e2ae, Stride: 1}, {Lo: 0x1e2ec, Hi: 0x1e2ef, Stride: 1},
		{Lo: 0x1e4ec, Hi: 0x1e4ef, Stride: 1},
	},
}

// compose is the tokenizers library's NFC.
func compose(text string) string {
	var b strings.Builder
	from := 0
	for i, r := range text {
		if unicode.Is(late, r) {
			b.WriteString(norm.NFC.String(text[from:i]))
			b.WriteRune(r)
			from = i + len(string(r))
		}
	}
	return b.String() + norm.NFC.String(text[from:])
}

// normal composes a text, makes each run of white space one space and letters small, each by itself.
func normal(text string) string {
	var b strings.Builder
	space := false
	for _, r := range compose(text) {
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		if r == 'İ' { // the one letter whose small form is two characters
			b.WriteString("i\u0307")
			continue
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
