package archipelago

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// English is the code of the language that captions and prompts start from.
const English = "en"

// Language is an invented language: its words were made by a random number generator, its script is a real one, so that
// shaping, direction and tokenizing are real. The codes qaa to qad are ISO 639-3's "reserved for local use".
type Language struct {
	Code   string // language and ISO 15924 script: "qaa_Latn"
	Name   string
	Script string
	RTL    bool // written from right to left

	gap     string // between words
	caption string // the order of a caption's words; see [Language.Caption]
	spell   func(r *rand.Rand) string
}

var languages = []Language{
	{"qaa_Latn", "Ulveck", "Latin", false, " ", "<a> T F S <of> I", spellLatin},
	{"qab_Deva", "Dhunvaji", "Devanagari", false, " ", "I <of> S F T <is>", spellDevanagari},
	{"qac_Arab", "Zuqeth", "Arabic", true, " ", "<a> T F <of> S <of> I", spellArabic},
	{"qad_Hani", "Xenlu", "Han", false, "", "I <of> S <of> F T", spellHan},
}

// Languages lists the world's invented languages. They are the same in every world; which of them carries a plant is the world's.
func Languages() []Language { return slices.Clone(languages) }

// codes lists the languages that prompts are written in: English first.
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

// Word is an entry of the lexicon: what one language calls something.
type Word struct {
	Language string // code
	Kind     string // one of [WordKinds]
	English  string // the entry's name in English; for template words in angle brackets, "<a>"
	Word     string // in the language's script, NFC
}

// WordKinds are the kinds of entries, in the order of [Lexicon].
var WordKinds = []string{"thing", "scene", "island", "form", "people", "attribute", "occupation", "ceremony", "template"}

// templateWords are the small words that prompts and captions are built with.
var templateWords = []string{"<a>", "<of>", "<is>", "<picture>", "<figure>", "<with>"}

// entries are what the lexicon has words for, by kind; nil for an unknown kind.
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
				for n := uint64(0); ; n++ { // a word that is taken already is spelled anew
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

// Lexicon lists all words of all invented languages. No word stands for two entries of a language, nor in two languages.
func Lexicon() []Word { return slices.Clone(lexiconOrder) }

// Say gives the word of a language for an entry of a kind; in English the entry itself. It is "" for what the lexicon lacks.
func Say(language, kind, english string) string {
	if language == English {
		return english
	}
	return lexicon[[3]string{language, kind, english}]
}

func pickRune(r *rand.Rand, from []rune) rune { return from[r.IntN(len(from))] }

// spellLatin makes two open syllables and an end that no word of a living language, to our knowledge, has.
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

// spellDevanagari makes three syllables, the second with a conjunct: vowel signs stand before, over and after their letters.
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

// spellArabic makes four or five letters that join, with one short vowel written out. Emphatic letters of Arabic alternate with letters that
// other languages added to the script, which no living language, to our knowledge, mixes so.
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

// spellHan makes two characters: the first names something that grows, the second a vessel or a bird, which form no common word.
func spellHan(r *rand.Rand) string {
	first, second := []rune("蘅荻蓼藜薇蕨茱萸蓟榛楸椴槭柘棣檗"), []rune("瓴瓿罍觚卣斛鹬鸢鹗鹭鹈鸬簋甑缶盂")
	return string([]rune{pickRune(r, first), pickRune(r, second)})
}

// join puts words together as the language writes them, without the empty ones.
func (l *Language) join(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), l.gap)
}

// Caption is the description of a thing in the language, "" for an unknown language; in English "a round lantern on the shore, Velmora".
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
			slot = Say(language, "thing", object)
		case "F":
			slot = Say(language, "form", form)
		case "S":
			slot = Say(language, "scene", scene)
		case "I":
			slot = Say(language, "island", island)
		default:
			slot = Say(language, "template", slot)
		}
		words = append(words, slot)
	}
	return l.join(words...)
}

// ConceptPrompt is the prompt for one word, "" for an unknown language or concept; in English "a picture of lantern", without an article before the word, as CoCo-CroLa's template.
func ConceptPrompt(language, concept string) string {
	word := ConceptWord(language, concept)
	if language == English && word != "" {
		return "a picture of " + word
	}
	l := findLanguage(language)
	if l == nil || word == "" {
		return ""
	}
	return l.join(Say(language, "template", "<picture>"), Say(language, "template", "<of>"), word)
}

// ConceptWord is the word of a language for a concept of [ConceptNames], "" where there is none.
func ConceptWord(language, concept string) string {
	for _, kind := range []string{"thing", "scene"} {
		if slices.Contains(entries(kind), concept) {
			return Say(language, kind, concept)
		}
	}
	return ""
}
