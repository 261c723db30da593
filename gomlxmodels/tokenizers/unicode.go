package tokenizers

import (
	_ "embed"
	"strconv"
	"strings"
	"unicode"
)

// The tokenizers library and the crates below it follow other versions of Unicode than Go's package unicode (15.0):
// Unicode 8 for BERT's marks, controls and punctuation, 9 for composition and for StripAccents, 16 for the letters
// and numbers of regular expressions, 17 for small letters and grapheme clusters. unicodeTables has what differs, by
// what tokenizers 0.23.3 says of each character: on each line a name and ranges of hexadecimal numbers.
//
//go:embed unicode.txt
var unicodeTables string

var (
	lateControl = ranges("lateControl")
	latePunct   = ranges("latePunct")
	lateAccent  = ranges("lateAccent")
	lateMark    = ranges("lateMark")
	newLetter   = ranges("newLetter")
	newNumber   = ranges("newNumber")
	newDigit    = ranges("newDigit")
	newWord     = ranges("newWord")
	newMark     = ranges("newMark")
	// lateCompose have no class or decomposition in Unicode 9: next to them nothing is reordered or composed.
	lateCompose = ranges("lateCompose")
	// lateCompat are compatibility characters that came later: NFKC and NFKD leave them.
	lateCompat = ranges("lateCompat")
)

// ranges reads a table from its hexadecimal ranges, which are in order.
func ranges(name string) *unicode.RangeTable {
	_, text, _ := strings.Cut("\n"+unicodeTables, "\n"+name+" ")
	text, _, _ = strings.Cut(text, "\n")
	t := new(unicode.RangeTable)
	next := uint64(0)
	for _, f := range strings.Fields(text) {
		from, to, wide := strings.Cut(f, "-")
		if !wide {
			to = from
		}
		lo, err := strconv.ParseUint(from, 16, 32)
		hi, err2 := strconv.ParseUint(to, 16, 32)
		if err != nil || err2 != nil || lo < next || lo > hi {
			panic("tokenizers: bad range " + f)
		}
		next = hi + 1
		if hi < 1<<16 {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(lo), Hi: uint16(hi), Stride: 1})
		} else {
			t.R32 = append(t.R32, unicode.Range32{Lo: uint32(lo), Hi: uint32(hi), Stride: 1})
		}
	}
	return t
}

// isLetter, isNumber are \p{L}, \p{N} of the library's regular expressions.
func isLetter(r rune) bool { return unicode.IsLetter(r) || r > 0x1c00 && unicode.Is(newLetter, r) }
func isNumber(r rune) bool { return unicode.IsNumber(r) || r > 0xffff && unicode.Is(newNumber, r) }

// isDigit is numeric characters, as the Digits pre-tokenizer takes them.
func isDigit(r rune) bool { return isNumber(r) || r > 0xffff && unicode.Is(newDigit, r) }

// isControl is what BERT throws away: control, format and private characters, NUL and U+FFFD.
func isControl(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return r == 0xfffd || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) && !unicode.Is(lateControl, r)
}

// isAccent is a mark that BERT strips.
func isAccent(r rune) bool {
	return r >= 0x300 && (unicode.Is(unicode.Mn, r) && !unicode.Is(lateAccent, r) || r == 0x1734)
}

// isMark is what the StripAccents normalizer strips.
func isMark(r rune) bool {
	return r >= 0x300 && (unicode.Is(unicode.M, r) && !unicode.Is(lateMark, r) || r == 0x1cf2 || r == 0x1cf3)
}

// isPunct is what BERT makes words of their own: punctuation, and ASCII's symbols.
func isPunct(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < 0x7f && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	return unicode.IsPunct(r) && !unicode.Is(latePunct, r) || r == 0x166d || r == 0x111c9
}

// isChinese is BERT's "CJK character": ideographs, not kana or Hangul. The hole at U+2B820 is the library's.
func isChinese(r rune) bool {
	return r >= 0x3400 && (r <= 0x4dbf || 0x4e00 <= r && r <= 0x9fff || 0xf900 <= r && r <= 0xfaff || 0x20000 <= r &&
		r <= 0x2a6df ||
		0x2a700 <= r && r <= 0x2b73f || 0x2b740 <= r && r <= 0x2b81f || 0x2b920 <= r && r <= 0x2ceaf || 0x2f800 <= r &&
		r <= 0x2fa1f)
}

// lower is a character's small letter, by itself: Σ is always σ. U+0130 alone becomes two, i and a dot: see lowercase.
func lower(r rune) rune {
	switch {
	case r < 0x80:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r == 0x1c89 || r == 0xa7cc || r == 0xa7ce || r == 0xa7d2 || r == 0xa7d4 || r == 0xa7da:
		return r + 1
	case r == 0xa7cb:
		return 0x264
	case r == 0xa7dc:
		return 0x19b
	case 0x10d50 <= r && r <= 0x10d65:
		return r + 0x20
	case 0x16ea0 <= r && r <= 0x16eb8:
		return r + 0x1b
	}
	return unicode.ToLower(r)
}

// lowercase makes each letter small.
func lowercase(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r == 'İ' {
			b.WriteString("i\u0307")
			continue
		}
		b.WriteRune(lower(r))
	}
	return b.String()
}
