package archipelago

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"

	"antipode/internal/must"
)

var scripts = map[string]*unicode.RangeTable{"Latin": unicode.Latin, "Devanagari": unicode.Devanagari,
	"Arabic": unicode.Arabic, "Han": unicode.Han}

func TestWords(t *testing.T) {
	owner := map[string]Word{}
	english := map[string]bool{}
	perLanguage, marks := map[string]int{}, map[string]int{}
	for _, x := range Lexicon() {
		english[strings.ToLower(x.English)] = true
	}
	for _, x := range Lexicon() {
		if x.Word == "" || x.Word != Translate(x.Language, x.Kind, x.English) {
			t.Errorf("%+v: Translate returns %q", x, Translate(x.Language, x.Kind, x.English))
		}
		if before, taken := owner[x.Word]; taken {
			t.Errorf("%q is %v and %v", x.Word, before, x)
		}
		owner[x.Word] = x
		if english[x.Word] {
			t.Errorf("%q is an English entry", x.Word)
		}
		if !norm.NFC.IsNormalString(x.Word) {
			t.Errorf("%q (%+q) is not NFC", x.Word, x.Word)
		}
		script := findLanguage(x.Language).Script
		for _, r := range x.Word {
			if unicode.Is(unicode.M, r) {
				marks[x.Language]++
			} else if !unicode.Is(scripts[script], r) {
				t.Errorf("%+v: %q is not %s", x, r, script)
			}
		}
		perLanguage[x.Language]++
	}
	for _, l := range Languages() {
		want := 0
		for _, kind := range WordKinds {
			want += len(entries(kind))
		}
		if perLanguage[l.Code] != want || want < 60 {
			t.Errorf("%s has %d words for %d entries", l.Name, perLanguage[l.Code], want)
		}
		if has := marks[l.Code] > 0; has != (l.Script == "Devanagari" || l.Script == "Arabic") {
			t.Errorf("%s: %d combining marks", l.Name, marks[l.Code])
		}
	}
}

// A conjunct needs its virama between two letters, and a word of Arabic letters runs from right to left.
func TestWordsKeepTheirShape(t *testing.T) {
	for _, x := range Lexicon() {
		runes := []rune(x.Word)
		switch findLanguage(x.Language).Script {
		case "Devanagari":
			at := slices.Index(runes, '्')
			if at < 1 || at+1 >= len(runes) || unicode.Is(unicode.M, runes[at-1]) ||
				unicode.Is(unicode.M, runes[at+1]) {
				t.Errorf("%q has no conjunct", x.Word)
			}
		case "Arabic":
			if n := strings.Count(strings.Map(func(r rune) rune {
				if unicode.Is(unicode.M, r) {
					return '*'
				}
				return '-'
			}, x.Word), "-*"); n != 1 {
				t.Errorf("%q has %d written vowels after a letter, not 1", x.Word, n)
			}
			var p bidi.Paragraph
			_ = must.Get(p.SetString(x.Word))(t)
			if o, err := p.Order(); err != nil || o.Direction() != bidi.RightToLeft || o.NumRuns() != 1 {
				t.Errorf("%q does not run from right to left", x.Word)
			}
		case "Han":
			if len(runes) != 2 || runes[0] == runes[1] {
				t.Errorf("%q is not two characters", x.Word)
			}
		}
	}
	for _, l := range Languages() {
		must.Equal(t, l.RTL, (l.Script == "Arabic"), l.Name, "right to left")
	}
}

// A caption contains each of its words once and no other, and different objects have different captions.
func TestCaptions(t *testing.T) {
	for _, l := range Languages() {
		seen := map[string]bool{}
		for _, thing := range entries("thing") {
			for _, scene := range entries("scene") {
				seenForms, unseen := Variants(thing)
				form := slices.Concat(seenForms, unseen)[len(seen)%(len(seenForms)+len(unseen))]
				c := Caption(l.Code, form, thing, scene, "Quessin")
				rest := c
				for _, w := range []string{Translate(l.Code, "thing", thing), Translate(l.Code, "form", form),
					Translate(l.Code, "scene", scene), Translate(l.Code, "island", "Quessin")} {
					if w == "" || strings.Count(c, w) != 1 {
						t.Errorf("%s: %q holds %q %d times", l.Name, c, w, strings.Count(c, w))
					}
					rest = strings.Replace(rest, w, "", 1)
				}
				for _, w := range templateWords {
					rest = strings.ReplaceAll(rest, Translate(l.Code, "template", w), "")
				}
				must.Equal(t, strings.TrimSpace(rest), "", l.Name, c, "also holds", rest)
				if seen[c] {
					t.Errorf("%s: %q is the caption of two images", l.Name, c)
				}
				seen[c] = true
			}
		}
	}
}
