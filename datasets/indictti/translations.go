package indictti

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Translation is a row of a table of translations: columns id, language, text and source.
type Translation struct {
	ID       string // of the prompt
	Language string // code
	Text     string
	Source   string // who or what translated it; may be empty
}

// Prompt is a prompt with its English caption.
type Prompt struct{ ID, Caption string }

// The problems of translations, as [CheckTranslations] reports them.
const (
	UnknownPrompt   = "unknown prompt"
	UnknownLanguage = "unknown language"
	Duplicate       = "duplicate"    // several translations of a prompt into a language
	Missing         = "missing"      // none
	Empty           = "empty"        // without a letter
	Untranslated    = "untranslated" // the English caption
	WrongScript     = "wrong script" // most letters are of another script than the language's
)

// Problem is a problem of the translations of a prompt into a language.
type Problem struct {
	ID, Language string
	Problem      string // one of the constants
	Detail       string
	Text         string // of the first translation
}

// NeedsTranslations reports whether the captions of a language come from translations: neither from the caption data
// set nor the English originals.
func (l Language) NeedsTranslations() bool {
	return l.Source != NLLB && l.Source != Original && l.Code != English
}

// CheckTranslations returns at most one problem for each prompt and language: first those of the translations, in
// their order, then the missing ones, by language and prompt. Translations are expected of every prompt into every
// language that needs them ([Language.NeedsTranslations]) or that occurs among them. Scripts without a Unicode range
// in [unicode.Scripts] are not checked.
func CheckTranslations(rows []Translation, prompts []Prompt, languages []Language) []Problem {
	type key struct{ id, language string }
	english, scripts := map[string]string{}, map[string]string{}
	for _, p := range prompts {
		english[p.ID] = p.Caption
	}
	for _, l := range languages {
		scripts[l.Code] = l.Script
	}
	count, expected := map[key]int{}, map[string]bool{}
	for _, t := range rows {
		count[key{t.ID, t.Language}]++
		expected[t.Language] = true
	}
	var out []Problem
	done := map[key]bool{}
	for _, t := range rows {
		k := key{t.ID, t.Language}
		if done[k] {
			continue
		}
		done[k] = true
		p := Problem{ID: t.ID, Language: t.Language, Text: t.Text}
		caption, knownPrompt := english[t.ID]
		script, knownLanguage := scripts[t.Language]
		switch {
		case !knownPrompt:
			p.Problem, p.Detail = UnknownPrompt, "the id is not that of a prompt"
		case !knownLanguage:
			p.Problem, p.Detail = UnknownLanguage, "the language is not one of the study; write it as in hin_Deva"
		case count[k] > 1:
			p.Problem, p.Detail = Duplicate, fmt.Sprintf("%d translations", count[k])
		default:
			p.Problem, p.Detail = problemOf(t, caption, script)
		}
		if p.Problem != "" {
			out = append(out, p)
		}
	}
	for _, l := range languages {
		if !l.NeedsTranslations() && !expected[l.Code] {
			continue
		}
		for _, p := range prompts {
			if count[key{p.ID, l.Code}] == 0 {
				out = append(out, Problem{ID: p.ID, Language: l.Code, Problem: Missing, Detail: "no translation"})
			}
		}
	}
	return out
}

// problemOf returns the problem of a text, "" for none.
func problemOf(t Translation, caption, script string) (problem, detail string) {
	text := plain(t.Text)
	letters := strings.Join(strings.Fields(text), "")
	if letters == "" {
		return Empty, "no letter"
	}
	if text == plain(caption) && t.Language != English {
		return Untranslated, "the English caption"
	}
	tables := unicodeScripts[script]
	if tables == nil {
		return "", ""
	}
	in, all := 0, 0
	for _, c := range letters {
		if unicode.IsLetter(c) {
			all++
			if slices.ContainsFunc(tables, func(name string) bool { return unicode.Is(unicode.Scripts[name], c) }) {
				in++
			}
		}
	}
	if 2*in <= all {
		return WrongScript, fmt.Sprintf("%d of %d letters are %s", in, all, strings.Join(tables, " or "))
	}
	return "", ""
}

// plain returns a text in lower case, without punctuation, and with single spaces.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c)
	}), " ")
}

// unicodeScripts are the names in [unicode.Scripts] of the scripts, by ISO 15924, of the languages of NLLB.
var unicodeScripts = map[string][]string{
	"Arab": {"Arabic"}, "Armn": {"Armenian"}, "Beng": {"Bengali"}, "Cyrl": {"Cyrillic"}, "Deva": {"Devanagari"},
	"Ethi": {"Ethiopic"}, "Geor": {"Georgian"}, "Grek": {"Greek"}, "Gujr": {"Gujarati"}, "Guru": {"Gurmukhi"},
	"Hang": {"Hangul"}, "Hans": {"Han"}, "Hant": {"Han"}, "Hebr": {"Hebrew"}, "Jpan": {"Han", "Hiragana", "Katakana"},
	"Khmr": {"Khmer"}, "Knda": {"Kannada"}, "Laoo": {"Lao"}, "Latn": {"Latin"}, "Mlym": {"Malayalam"},
	"Mtei": {"Meetei_Mayek"}, "Mymr": {"Myanmar"}, "Olck": {"Ol_Chiki"}, "Orya": {"Oriya"}, "Sinh": {"Sinhala"},
	"Taml": {"Tamil"}, "Telu": {"Telugu"}, "Tfng": {"Tifinagh"}, "Thai": {"Thai"}, "Tibt": {"Tibetan"},
}
