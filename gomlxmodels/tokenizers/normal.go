package tokenizers

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer turns a text into the form that its vocabulary is written in.
type normalizer func(string) string

// normalSpec is a normalizer of tokenizer.json.
type normalSpec struct {
	Type        string       `json:"type"`
	Clean       *bool        `json:"clean_text"`
	Chinese     *bool        `json:"handle_chinese_chars"`
	Accents     *bool        `json:"strip_accents"`
	Lower       *bool        `json:"lowercase"`
	Normalizers []normalSpec `json:"normalizers"`
	Pattern     pattern      `json:"pattern"`
	Content     string       `json:"content"`
	Prepend     string       `json:"prepend"`
	Left        bool         `json:"strip_left"`
	Right       bool         `json:"strip_right"`
	Charsmap    []byte       `json:"precompiled_charsmap"`
}

// pattern is a text or a regular expression of tokenizer.json.
type pattern struct {
	String *string
	Regex  *string
}

func (s *normalSpec) build() (normalizer, error) {
	switch s.Type {
	case "BertNormalizer":
		return bertNormal(on(s.Clean), on(s.Chinese), s.Accents != nil && *s.Accents || s.Accents == nil && on(s.Lower),
			on(s.Lower)), nil
	case "Lowercase":
		return lowercase, nil
	case "NFC":
		return form(norm.NFC, lateCompose), nil
	case "NFD":
		return form(norm.NFD, lateCompose), nil
	case "NFKC":
		return form(norm.NFKC, lateCompose, lateCompat), nil
	case "NFKD":
		return form(norm.NFKD, lateCompose, lateCompat), nil
	case "StripAccents":
		return func(text string) string { return without(text, isMark) }, nil
	case "Strip":
		return func(text string) string {
			if s.Left {
				text = strings.TrimLeftFunc(text, unicode.IsSpace)
			}
			if s.Right {
				text = strings.TrimRightFunc(text, unicode.IsSpace)
			}
			return text
		}, nil
	case "Prepend":
		return func(text string) string {
			if text == "" {
				return ""
			}
			return s.Prepend + text
		}, nil
	case "Replace":
		return s.replace()
	case "Precompiled":
		m, err := newCharsMap(s.Charsmap)
		if err != nil {
			return nil, err
		}
		return m.normal, nil
	case "Sequence":
		var all []normalizer
		for i := range s.Normalizers {
			n, err := s.Normalizers[i].build()
			if err != nil {
				return nil, err
			}
			all = append(all, n)
		}
		return func(text string) string {
			for _, n := range all {
				text = n(text)
			}
			return text
		}, nil
	}
	return nil, fmt.Errorf("the normalizer %q is not supported", s.Type)
}

func on(b *bool) bool { return b == nil || *b }

// charClass matches the regular expressions [...] of characters of ASCII that mean the same in the library and in Go:
// without classes in the class, intersections and letters with a backslash.
var charClass = regexp.MustCompile(`^\[(?:[ -%'-Z_-~]|\\[^a-zA-Z0-9])(?:[ -%'-Z^-~]|&[^&\]]|\\[^a-zA-Z0-9])*\]$`)

func (s *normalSpec) replace() (normalizer, error) {
	switch p := s.Pattern; {
	case p.String != nil:
		if *p.String == "" {
			return nil, fmt.Errorf("the normalizer Replace has an empty pattern")
		}
		return func(text string) string { return strings.ReplaceAll(text, *p.String, s.Content) }, nil
	case p.Regex == nil:
		return nil, fmt.Errorf("the normalizer Replace has no pattern")
	case *p.Regex == " {2,}":
		runs := regexp.MustCompile(*p.Regex)
		return func(text string) string { return runs.ReplaceAllLiteralString(text, s.Content) }, nil
	case *p.Regex == `\s+`:
		return func(text string) string { return spaces(text, s.Content) }, nil
	case charClass.MatchString(*p.Regex):
		class, err := regexp.Compile(*p.Regex)
		if err != nil {
			break
		}
		return func(text string) string { return class.ReplaceAllLiteralString(text, s.Content) }, nil
	}
	return nil, fmt.Errorf("the normalizer Replace with the pattern %q is not supported", *s.Pattern.Regex)
}

// spaces puts another text in the place of each run of white space.
func spaces(text, with string) string {
	var b strings.Builder
	b.Grow(len(text))
	inside := false
	for _, r := range text {
		if !unicode.IsSpace(r) {
			inside = false
			b.WriteRune(r)
		} else if !inside {
			inside = true
			b.WriteString(with)
		}
	}
	return b.String()
}

func without(text string, drop func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if drop(r) {
			return -1
		}
		return r
	}, text)
}

// form is a normalization form; characters of the tables are plain ones to it.
func form(f norm.Form, late ...*unicode.RangeTable) normalizer {
	return func(text string) string {
		if isASCII(text) {
			return text
		}
		var b strings.Builder
		from := 0
		for i, r := range text {
			if r >= 0x700 && unicode.In(r, late...) {
				b.WriteString(f.String(text[from:i]))
				b.WriteRune(r)
				from = i + utf8.RuneLen(r)
			}
		}
		if from == 0 {
			return f.String(text)
		}
		b.WriteString(f.String(text[from:]))
		return b.String()
	}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// bertNormal cleans as BERT does: control characters out, white space plain, ideographs apart, accents off, letters
// small.
func bertNormal(clean, chinese, accents, small bool) normalizer {
	decompose := form(norm.NFD, lateCompose)
	return func(text string) string {
		plain := isASCII(text)
		if clean || chinese && !plain {
			var b strings.Builder
			b.Grow(len(text) + 8)
			for _, r := range text {
				switch {
				case clean && isControl(r):
				case clean && unicode.IsSpace(r):
					b.WriteByte(' ')
				case chinese && isChinese(r):
					b.WriteByte(' ')
					b.WriteRune(r)
					b.WriteByte(' ')
				default:
					b.WriteRune(r)
				}
			}
			text = b.String()
		}
		if accents && !plain {
			text = without(decompose(text), isAccent)
		}
		if small {
			text = lowercase(text)
		}
		return text
	}
}

// valid replaces each maximal part of an ill-formed character by U+FFFD: as many for a text cut in the middle of a
// character as Python and the Unicode standard (3.9, table 3-8) give.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(text)
			r = utf8.RuneError
		}
		b.WriteRune(r)
		text = text[n:]
	}
	return b.String()
}

// illFormed is the length of the longest start of a character that a text begins with, which does not go on as it must.
func illFormed(text string) int {
	lo, hi, more := byte(0x80), byte(0xbf), 0
	switch c := text[0]; {
	case 0xc2 <= c && c <= 0xdf:
		more = 1
	case c == 0xe0:
		lo, more = 0xa0, 2
	case c == 0xed:
		hi, more = 0x9f, 2
	case 0xe1 <= c && c <= 0xef:
		more = 2
	case c == 0xf0:
		lo, more = 0x90, 3
	case c == 0xf4:
		hi, more = 0x8f, 3
	case 0xf1 <= c && c <= 0xf3:
		more = 3
	}
	n := 1
	for ; n <= more && n < len(text) && lo <= text[n] && text[n] <= hi; n++ {
		lo, hi = 0x80, 0xbf
	}
	return n
}
