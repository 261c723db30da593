package dallemini

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// romanized are Latin letters without a decomposition and punctuation, as Unidecode writes them.
var romanized = map[rune]string{
	'ß': "ss", 'æ': "ae", 'Æ': "AE", 'œ': "oe", 'Œ': "OE", 'ø': "o", 'Ø': "O", 'ł': "l", 'Ł': "L", 'đ': "d", 'Đ': "D",
	'ð': "d", 'Ð': "D", 'þ': "th", 'Þ': "Th", 'ı': "i", 'ħ': "h", 'Ħ': "H",
	'‘': "'", '’': "'", '‚': "'", '“': `"`, '”': `"`, '„': `"`, '«': "<<", '»': ">>", '‹': "<", '›': ">",
	'‐': "-", '‑': "-", '–': "-", '—': "--", '…': "...", '•': "*", '\u00a0': " ", '¡': "!", '¿': "?", '°': "deg",
	'€': "EUR", '£': "PS", '©': "(c)", '®': "(r)", '™': "(tm)", '×': "x", '÷': "/",
}

var (
	escape = regexp.MustCompile(`\x1b\[[\d;]*[a-zA-Z]`) // of terminals
	// garbled is UTF-8 that was decoded as Latin-1, which ftfy repairs
	garbled = regexp.MustCompile(`[ÂÃ][\x{80}-\x{bf}]|â€`)
)

// ascii converts a text to ASCII: letters lose their marks, and control characters are removed.
func ascii(text string) (string, error) {
	if garbled.MatchString(text) {
		return "", fmt.Errorf("%.40q was decoded with the wrong encoding (UTF-8 as Latin-1). Fix: encode the table in "+
			"UTF-8", text)
	}
	var out, unknown strings.Builder
	for _, r := range norm.NFC.String(escape.ReplaceAllString(text, "")) {
		base := []rune(norm.NFD.String(string(r)))
		switch with, ok := romanized[r]; {
		case ok:
			out.WriteString(with)
		case r == '\t' || r == '\n' || r == '\f' || r == '\r' || r >= ' ' && r <= '~':
			out.WriteRune(r)
		case r < ' ' || r == 0x7f:
		case base[0] < 0x80 && unicode.IsLetter(base[0]) && len(base) > 1 && r < 0x250 || marked(r, base):
			out.WriteRune(base[0])
		case !strings.ContainsRune(unknown.String(), r):
			unknown.WriteRune(r)
		}
	}
	if unknown.Len() > 0 {
		return "", fmt.Errorf("normalization does not support the characters %q. Fix: write the prompt in Latin "+
			"letters, or normalize it with the original's TextNormalizer and turn normalization off "+
			"(--text-normalize off)", unknown.String())
	}
	return out.String(), nil
}

// marked reports a letter of Latin Extended Additional (Vietnamese and others) with marks.
func marked(r rune, base []rune) bool {
	return r >= 0x1e00 && r <= 0x1eff && base[0] < 0x80 && len(base) > 1
}
