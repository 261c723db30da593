package tokenizers

import (
	"strconv"
	"strings"
	"unicode"
)

// The tokenizers library and the crates below it follow other versions of Unicode than Go's package unicode (15.0):
// Unicode 8 for BERT's marks, controls and punctuation, 9 for composition and for StripAccents, 16 for the letters
// and numbers of regular expressions, 17 for small letters and grapheme clusters. The tables hold what differs, found
// by asking tokenizers 0.23.3 for each character.
var (
	lateControl = ranges("890-891 8e2 110cd 13430-1343f")
	latePunct   = ranges("61d 9fd a76 c77 c84 1b7d-1b7e 2e43-2e4f 2e52-2e5d 10ead 10f55-10f59 10f86-10f89 " +
		"1144b-1144f 1145a-1145b 1145d 11660-1166c " +
		"116b9 1183b 11944-11946 119e2 11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11b00-11b09 11c41-11c45 11c70-11c71 " +
		"11ef7-11ef8 11f43-11f4f " +
		"11fff 12ff1-12ff2 16e97-16e9a 16fe2 1e95e-1e95f")
	lateAccent = ranges("7fd 898-89f 8ca-8e1 9fe afa-aff b55 c04 c3c d00 d3b-d3c d81 eba ece 180f 1885-1886 " +
		"1abf-1ace 1df6-1dfb a82c a8c5 a8ff a9bd " +
		"10d24-10d27 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070 11073-11074 110c2 111c9 111cf 1123e 11241 " +
		"1133b 11438-1143f " +
		"11442-11444 11446 1145e 1182f-11837 11839-1183a 1193b-1193c 1193e 11943 119d4-119d7 119da-119db 119e0 " +
		"11a01-11a0a 11a33-11a38 " +
		"11a3b-11a3e 11a47 11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a99 11c30-11c36 11c38-11c3d 11c3f 11c92-11ca7 " +
		"11caa-11cb0 " +
		"11cb2-11cb3 11cb5-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95 11d97 11ef3-11ef4 " +
		"11f00-11f01 " +
		"11f36-11f3a 11f40 11f42 13440 13447-13455 16f4f 16fe4 1cf00-1cf2d 1cf30-1cf46 1e000-1e006 1e008-1e018 " +
		"1e01b-1e021 1e023-1e024 " +
		"1e026-1e02a 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e944-1e94a")
	lateMark = ranges("7fd 898-89f 8ca-8d3 9fe afa-aff b55 c04 c3c cf3 d00 d3b-d3c d81 eba ece 1715 180f 1abf-1ace " +
		"1cf7 1df6-1dfa a82c a8ff " +
		"10d24-10d27 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070 11073-11074 110c2 11145-11146 111c9 " +
		"111ce-111cf 11241 1133b " +
		"1145e 1182c-1183a 11930-11935 11937-11938 1193b-1193e 11940 11942-11943 119d1-119d7 119da-119e0 119e4 " +
		"11a01-11a0a 11a33-11a39 " +
		"11a3b-11a3e 11a47 11a51-11a5b 11a8a-11a99 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d8a-11d8e " +
		"11d90-11d91 11d93-11d97 " +
		"11ef3-11ef6 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 13440 13447-13455 16f4f 16f7f-16f87 16fe4 16ff0-16ff1 " +
		"1cf00-1cf2d " +
		"1cf30-1cf46 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef")
	newLetter = ranges("1c89-1c8a a7cb-a7cd a7da-a7dc 105c0-105f3 10d4a-10d65 10d6f-10d85 10ec2-10ec4 11380-11389 " +
		"1138b 1138e 11390-113b5 113b7 113d1 " +
		"113d3 11bc0-11be0 13460-143fa 16100-1611d 16d40-16d6c 18cff 1e5d0-1e5ed 1e5f0 2ebf0-2ee5d")
	newNumber = ranges("10d40-10d49 116d0-116e3 11bf0-11bf9 16130-16139 16d70-16d79 1ccf0-1ccf9 1e5f1-1e5fa")
	newDigit  = ranges("11de0-11de9 16ff4-16ff6")
	newWord   = ranges("897 10d40-10d49 10d69-10d6d 10efc 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2 " +
		"113e1-113e2 116d0-116e3 " +
		"11bf0-11bf9 11f5a 1611e-16139 16d70-16d79 1ccf0-1ccf9 1e5ee-1e5ef 1e5f1-1e5fa")
	newMark = ranges("897 1acf-1add 1ae0-1aeb")
	// lateCompose have no class or decomposition in Unicode 9: next to them nothing is reordered or composed.
	lateCompose = ranges("7fd 898-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1ace 1df6-1dfa a82c 10d24-10d27 " +
		"10eab-10eac 10efd-10eff 10f46-10f50 " +
		"10f82-10f85 11070 1133b 1145e 11839-1183a 11930 11938 1193d-1193e 11943 119e0 11a34 11a47 11a99 11d42 " +
		"11d44-11d45 11d97 11f41-11f42 " +
		"16ff0-16ff1 1e08f 1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef")
	// lateCompat are compatibility characters that came later: NFKC and NFKD leave them.
	lateCompat = ranges("32ff a7f2-a7f4 ab69 10781-10785 10787-107b0 107b2-107ba 1e030-1e06d 1f16c 1fbf0-1fbf9")
)

// ranges reads a table from hexadecimal ranges in order.
func ranges(text string) *unicode.RangeTable {
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
