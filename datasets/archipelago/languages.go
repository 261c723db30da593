package archipelago

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// English is the code of the source language of captions and prompts.
const English = "en"

// Language is an invented language. Its words are random; its script is real, and with it text shaping, direction and
// tokenization. ISO 639-3 reserves the codes qaa to qad for local use.
type Language struct {
	Code   string // language and ISO 15924 script: "qaa_Latn"
	Name   string
	Script string
	RTL    bool // written from right to left

	gap     string // between words
	caption string // the order of a caption's words; see [Caption]
	spell   func(r *rand.Rand) string
}

var languages = []Language{
	{"qaa_Latn", "Ulveck", "Latin", false, " ", "<a> T F S <of> I", spellLatin},
	{"qab_Deva", "Dhunvaji", "Devanagari", false, " ", "I <of> S F T <is>", spellDevanagari},
	{"qac_Arab", "Zuqeth", "Arabic", true, " ", "<a> T F <of> S <of> I", spellArabic},
	{"qad_Hani", "Xenlu", "Han", false, "", "I <of> S <of> F T", spellHan},
}

// Languages returns the invented languages, which are the same in every world.
func Languages() []Language { return slices.Clone(languages) }

// codes returns the languages of prompts, English first.
func codes() []string {
	return append([]string{English}, names(languages, func(l Language) string { return l.Code })...)
}

func findLanguage(code string) *Language {
	for i := range languages {
		if languages[i].Code == code {
			return &languages[i]
		}
	}
	return nil
}

// Word is an entry of the lexicon: the word of a language for an English entry.
type Word struct {
	Language string // code
	Kind     string // one of [WordKinds]
	English  string // the entry's name in English; for template words in angle brackets, "<a>"
	Word     string // in the language's script, NFC
}

// WordKinds are the kinds of entries, in the order of [Lexicon].
var WordKinds = []string{"thing", "scene", "island", "form", "people", "attribute", "occupation", "ceremony",
	"template"}

// templateWords are the function words of prompts and captions.
var templateWords = []string{"<a>", "<of>", "<is>", "<picture>", "<figure>", "<with>"}

// entries returns the English entries of a kind, nil for an unknown kind.
func entries(kind string) []string {
	switch kind {
	case "thing":
		return names(things, func(t thing) string { return t.name })
	case "scene":
		return names(scenes, func(s scene) string { return s.name })
	case "island":
		return names(islands, func(i island) string { return i.name })
	case "form":
		var out []string
		for i := range things {
			for _, f := range things[i].forms {
				if !slices.Contains(out, f) {
					out = append(out, f)
				}
			}
		}
		return out
	case "people":
		return PeopleNames()
	case "attribute":
		return AttributeNames()
	case "occupation":
		return OccupationNames()
	case "ceremony":
		return CeremonyNames()
	case "template":
		return templateWords
	}
	return nil
}

// lexicon holds the words by language, kind and English name.
var lexicon, lexiconOrder = makeLexicon()

func makeLexicon() (map[[3]string]string, []Word) {
	by, order := map[[3]string]string{}, []Word(nil)
	for i := range languages {
		l := &languages[i]
		taken := map[string]bool{}
		for _, kind := range WordKinds {
			for _, e := range entries(kind) {
				for n := uint64(0); ; n++ { // repeat until the word is unique in its language
					w := l.spell(stream(hashed("lexicon", l.Code, kind, e), n))
					if !taken[w] {
						taken[w] = true
						by[[3]string{l.Code, kind, e}] = w
						order = append(order, Word{l.Code, kind, e, w})
						break
					}
				}
			}
		}
	}
	return by, order
}

// Lexicon returns all words of all invented languages. Every word is unique.
func Lexicon() []Word { return slices.Clone(lexiconOrder) }

// Translate returns the word of a language for an English entry of a kind, "" for an unknown entry.
func Translate(language, kind, english string) string {
	if language == English {
		return english
	}
	return lexicon[[3]string{language, kind, english}]
}

func pickRune(r *rand.Rand, from []rune) rune { return from[r.IntN(len(from))] }

// spellLatin returns two open syllables and an ending that, to our knowledge, no word of a living language has.
func spellLatin(r *rand.Rand) string {
	onsets := []string{"v", "dz", "zv", "gw", "m", "zh", "vr", "kh", "th", "l", "n", "q"}
	vowels, ends := []rune("aeiouûôë"), []string{"vzek", "lquë", "mzho", "rvûk", "ndzë", "lwex"}
	var b strings.Builder
	for range 2 {
		b.WriteString(onsets[r.IntN(len(onsets))])
		b.WriteRune(pickRune(r, vowels))
	}
	b.WriteString(ends[r.IntN(len(ends))])
	return b.String()
}

// spellDevanagari returns three syllables, the second with a conjunct. Vowel signs appear before, above and after
// letters.
func spellDevanagari(r *rand.Rand) string {
	letters, signs := []rune("झढठघछञणफभथ"), []rune("ाििीुूेैोौ")
	var b strings.Builder
	for i := range 3 {
		b.WriteRune(pickRune(r, letters))
		if i == 1 {
			b.WriteRune('्')
			b.WriteRune(pickRune(r, []rune("वलयर")))
		}
		b.WriteRune(pickRune(r, signs))
	}
	if r.IntN(2) == 0 {
		b.WriteRune('ं')
	}
	return b.String()
}

// spellArabic returns four or five joined letters with one short vowel mark. Emphatic letters of Arabic alternate with
// letters that other languages added to the script, which, to our knowledge, no living language does.
func spellArabic(r *rand.Rand) string {
	emphatic, added, marks := []rune("ظضثصقغخ"), []rune("ڤپچگ"), []rune("\u064e\u064f\u0650")
	n, at := 4+r.IntN(2), 1+r.IntN(3)
	var b strings.Builder
	for i := range n {
		b.WriteRune(pickRune(r, [][]rune{emphatic, added}[i%2]))
		if i == at {
			b.WriteRune(pickRune(r, marks))
		}
	}
	return b.String()
}

// spellHan returns two characters, a plant and a vessel or bird, that form no common word.
func spellHan(r *rand.Rand) string {
	first, second := []rune("蘅荻蓼藜薇蕨茱萸蓟榛楸椴槭柘棣檗"), []rune("瓴瓿罍觚卣斛鹬鸢鹗鹭鹈鸬簋甑缶盂")
	return string([]rune{pickRune(r, first), pickRune(r, second)})
}

// join joins the words that are not empty.
func (l *Language) join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), l.gap)
}

// Caption returns the caption of an object in a language, "" for an unknown language; in English "a round lantern on
// the shore, Velmora".
func Caption(language, form, object, scene, island string) string {
	if language == English {
		sc := findScene(scene)
		if sc == nil {
			return ""
		}
		return fmt.Sprintf("a %s %s %s, %s", form, object, sc.where, island)
	}
	l := findLanguage(language)
	if l == nil {
		return ""
	}
	var words []string
	for _, slot := range strings.Fields(l.caption) {
		switch slot {
		case "T":
			slot = Translate(language, "thing", object)
		case "F":
			slot = Translate(language, "form", form)
		case "S":
			slot = Translate(language, "scene", scene)
		case "I":
			slot = Translate(language, "island", island)
		default:
			slot = Translate(language, "template", slot)
		}
		words = append(words, slot)
	}
	return l.join(words...)
}

// ConceptPrompt returns the prompt for one word, "" for an unknown language or concept; in English "a picture of
// lantern", without an article before the word, as in CoCo-CroLa's template.
func ConceptPrompt(language, concept string) string {
	word := ConceptWord(language, concept)
	if language == English && word != "" {
		return "a picture of " + word
	}
	l := findLanguage(language)
	if l == nil || word == "" {
		return ""
	}
	return l.join(Translate(language, "template", "<picture>"), Translate(language, "template", "<of>"), word)
}

// CreativePrompt is a prompt of several concepts in one language, as in section 5.6 of CoCo-CroLa.
type CreativePrompt struct {
	ID       string // a or b, the same in all languages
	Language string // [English] or a code of [Languages]
	Prompt   string
	Concepts []string // of [ConceptNames]
}

// CreativePrompts returns two prompts of an object in a scene, in English and each language.
func CreativePrompts() (out []CreativePrompt) {
	for i, object := range []string{"kite", "lantern"} {
		forms, _ := Variants(object)
		scene := []string{"shore", "meadow"}[i]
		for _, code := range codes() {
			out = append(out, CreativePrompt{ID: string(rune('a' + i)), Language: code,
				Prompt:   Caption(code, forms[0], object, scene, islands[0].name),
				Concepts: []string{object, scene}})
		}
	}
	return out
}

// ConceptWord returns the word of a language for a concept of [ConceptNames], "" if it has none.
func ConceptWord(language, concept string) string {
	for _, kind := range []string{"thing", "scene"} {
		if slices.Contains(entries(kind), concept) {
			return Translate(language, kind, concept)
		}
	}
	return ""
}
