// Package ftfy repairs texts as the Python library of that name does.
package ftfy

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// cont are the characters that continue a character of UTF-8 which was decoded as Windows-1252.
const cont = "[\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"

var (
	escape = regexp.MustCompile("\x1b" + `\[[\d;]*[a-zA-Z]`) // of terminals
	// garbled is text in UTF-8 that was decoded as Windows-1252, which ftfy repairs: a mark or two letters of it.
	garbled = regexp.MustCompile("[ÂÃ][\u0080-\u00bf]|â€|(?:[Â-ß]" + cont + "|[à-ï]" + cont + "{2}|[ð-ô]" + cont +
		"{3}){2}")
	// plain are the characters that ftfy replaces one by one.
	plain = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n",
		"ʼ", "'", "‘", "'", "’", "'", "‚", "'", "‛", "'", "“", `"`, "”", `"`, "„", `"`, "‟", `"`,
		"Ĳ", "IJ", "ĳ", "ij", "ŉ", "'n", "Ǳ", "DZ", "ǲ", "Dz", "ǳ", "dz", "Ǆ", "DŽ", "ǅ", "Dž", "ǆ", "dž", "Ǉ", "LJ",
		"ǈ", "Lj", "ǉ", "lj", "Ǌ", "NJ", "ǋ", "Nj", "ǌ", "nj", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl",
		"ﬅ", "ſt", "ﬆ", "st", "\u3000", " ")
)

// FixText returns a text as fix_text does, but for garbled text, which is an error: without HTML's entities where it
// has no tags, with straight quotes, no ligatures of Latin letters, letters of normal width, no control characters, in
// NFC.
func FixText(text string) (string, error) {
	if !strings.Contains(text, "<") {
		text = html.UnescapeString(text)
	}
	if garbled.MatchString(text) {
		return "", fmt.Errorf("%.40q was decoded with the wrong encoding (UTF-8 as Latin-1). Fix: encode the table in "+
			"UTF-8", text)
	}
	text = strings.Map(func(r rune) rune {
		if r >= 0x80 && r < 0xa0 {
			return charmap.Windows1252.DecodeByte(byte(r))
		}
		return r
	}, text)
	text = escape.ReplaceAllString(plain.Replace(text), "")
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < ' ' && r != '\t' && r != '\n' && r != '\f', r == 0x7f, r >= 0x206a && r <= 0x206f, r == 0xfeff,
			r >= 0xfff9 && r <= 0xfffc: // control characters
		case r > 0xff00 && r < 0xfff0: // full and half width
			out.WriteString(norm.NFKC.String(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	return norm.NFC.String(out.String()), nil
}
