package letters

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/language"
	"golang.org/x/text/unicode/bidi"
)

// Families are the Noto families by script: as the file of the data set of fonts and CSS name them.
var Families = map[language.Script]string{
	language.Devanagari: "Devanagari", language.Bengali: "Bengali", language.Gurmukhi: "Gurmukhi",
	language.Gujarati: "Gujarati",
	language.Oriya:    "Oriya", language.Tamil: "Tamil", language.Telugu: "Telugu", language.Kannada: "Kannada",
	language.Malayalam: "Malayalam", language.Ol_Chiki: "Ol Chiki", language.Meetei_Mayek: "Meetei Mayek",
	language.Arabic: "Arabic", language.Hebrew: "Hebrew", language.Thai: "Thai", language.Han: "SC",
	language.Bopomofo: "SC",
	language.Hiragana: "JP", language.Katakana: "JP", language.Hangul: "KR",
}

// Family returns the Noto family for a character in a run of a script, or "".
func Family(script language.Script, east string, r rune) string {
	// ideographs, their punctuation and wide forms
	if script == language.Han || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF {
		return east
	}
	return Families[script]
}

// Eastern is the family for ideographs: Japanese next to kana, Korean next to Hangul, else simplified Chinese.
func Eastern(text string) string {
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) }):
		return "JP"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Hangul, r) }):
		return "KR"
	}
	return "SC"
}

// CSS lists the font families for the scripts of a text that Liberation Sans lacks, in order of preference; "" where it
// lacks none. For a script without a family the browser chooses.
func CSS(text string) string {
	var out []string
	add := func(family string) {
		if name := "'Noto Sans " + family + "'"; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, r := range text {
		switch family := Families[language.LookupScript(r)]; family {
		case "", "Hebrew":
		case "SC", "JP", "KR":
			add(Eastern(text))
			add("CJK " + Eastern(text)) // as most Linux systems name it
		default:
			add(family)
		}
	}
	return strings.Join(out, ",")
}

// RightToLeft reports whether a line begins at the right: whether its first letter outside isolated parts is of a
// right-to-left script (UAX 9, rules P2 and P3).
func RightToLeft(text string) bool {
	depth := 0
	for _, r := range text {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.LRI, bidi.RLI, bidi.FSI:
			depth++
		case bidi.PDI:
			depth = max(0, depth-1)
		case bidi.L:
			if depth == 0 {
				return false
			}
		case bidi.R, bidi.AL:
			if depth == 0 {
				return true
			}
		}
	}
	return false
}
