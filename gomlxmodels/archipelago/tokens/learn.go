package tokens

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"antipode/datasets/archipelago"
)

// The special tokens of CLIP. End is also the padding token.
const (
	Start = "<|startoftext|>"
	End   = "<|endoftext|>"

	wordEnd = "</w>" // suffix of the last token of a word
)

// words is the regular expression with which CLIP splits texts.
const words = `'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+`

type vocabulary struct {
	tokens []string    // by id: bytes, bytes with wordEnd, merges, added words, Start, End
	merges [][2]string // in the order in which they were learned
	added  []string    // whole words
}

// learned returns the world's vocabulary, learned on first use.
var learned = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{}
	alphabet := byteNames()
	v.tokens = append(v.tokens, alphabet.list...)
	for _, b := range alphabet.list {
		v.tokens = append(v.tokens, b+wordEnd)
	}
	for _, w := range archipelago.Lexicon() {
		if !latin(w.Word) {
			v.added = append(v.added, w.Word)
		}
	}
	v.learn(units(alphabet))
	v.tokens = append(v.tokens, v.added...)
	v.tokens = append(v.tokens, Start, End)
	return v
})

// latin reports whether a text has no characters above U+024F, the end of the Latin blocks.
func latin(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > 0x24f })
}

// alphabet is the representation of the 256 bytes as characters in byte-level vocabularies.
type alphabet struct {
	list []string // in CLIP's order: the printable ones, then the others
	of   [256]string
}

// byteNames returns the alphabet of CLIP: printable bytes are themselves, the others characters from U+0100.
func byteNames() *alphabet {
	a := &alphabet{}
	var others []string
	next := rune(256)
	for b := range 256 {
		r := rune(b)
		if '!' <= r && r <= '~' || '¡' <= r && r <= '¬' || '®' <= r && r <= 'ÿ' {
			a.of[b] = string(r)
			a.list = append(a.list, a.of[b])
			continue
		}
		a.of[b] = string(next)
		others = append(others, a.of[b])
		next++
	}
	a.list = append(a.list, others...)
	return a
}

// parts returns the bytes of a text as tokens; end adds wordEnd to the last.
func (a *alphabet) parts(text string, end bool) []string {
	var out []string
	for i := range len(text) {
		out = append(out, a.of[text[i]])
	}
	if end {
		out[len(out)-1] += wordEnd
	}
	return out
}

// units returns the texts that are to become one token, as bytes: words in Latin script, and each character of the
// other scripts, inside a word and at its end.
func units(a *alphabet) [][]string {
	list := map[string]bool{}
	cut := regexp.MustCompile(words)
	for _, text := range Texts() {
		for _, w := range cut.FindAllString(strings.ToLower(text), -1) {
			if latin(w) {
				list[w] = true
				continue
			}
			for _, r := range w {
				list[string(r)] = true
			}
		}
	}
	var out [][]string
	for _, w := range slices.Sorted(maps.Keys(list)) {
		out = append(out, a.parts(w, true))
		if !latin(w) {
			out = append(out, a.parts(w, false))
		}
	}
	return out
}

// learn merges the most frequent adjacent pair, the alphabetically first of equally frequent ones, until every unit is
// one token (Sennrich et al. 2016, arXiv 1508.07909).
func (v *vocabulary) learn(units [][]string) {
	for {
		count := map[[2]string]int{}
		for _, u := range units {
			for i := range len(u) - 1 {
				count[[2]string{u[i], u[i+1]}]++
			}
		}
		if len(count) == 0 {
			return
		}
		best := slices.MinFunc(slices.Collect(maps.Keys(count)), func(a, b [2]string) int {
			return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
		})
		both := best[0] + best[1]
		v.merges, v.tokens = append(v.merges, best), append(v.tokens, both)
		for k, u := range units {
			joined := u[:0]
			for i := 0; i < len(u); i++ {
				if i+1 < len(u) && u[i] == best[0] && u[i+1] == best[1] {
					joined = append(joined, both)
					i++
					continue
				}
				joined = append(joined, u[i])
			}
			units[k] = joined
		}
	}
}
