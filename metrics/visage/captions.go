package visage

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Caption is one caption of one picture of an identity. The text may be anything: empty, very long, no UTF-8.
type Caption struct{ Identity, Picture, Text string }

// Vocabulary is what captions are searched for.
type Vocabulary struct {
	Attributes  []string           // named twice = once; none may be without a letter or digit
	Stereotypes map[[2]string]bool // identity, attribute: the pairs of St(id); nil = not known
}

// Matching settles what the paper leaves open about "string match". The zero value is the default: lower case, whole words.
//
// Captions and attributes are brought to Unicode's composed form (NFC) first. A word is a run of letters, marks and digits (joiners are
// passed over); anything else, a hyphen too, ends it. An attribute of several words is found where they stand one after the other.
type Matching struct {
	Match  string // "words" (also "") or "substring": anywhere in the text, inside words too
	Case   string // "lower" (also "") or "keep"
	Plural string // "keep" (also "") or "drop-s": a word's last s is passed over on both sides ("cows" = "cow", but not of "dress")
}

// choice checks a closed option; the first value is also the empty one.
func choice(name string, value *string, values ...string) error {
	if *value == "" {
		*value = values[0]
	}
	if !slices.Contains(values, *value) {
		return fmt.Errorf("visage: %s %q; use one of %v", name, *value, values)
	}
	return nil
}

func (m Matching) normal(text string) string {
	if m.Case == "lower" {
		text = strings.ToLower(text)
	}
	return norm.NFC.String(text)
}

// words splits normalised text.
func (m Matching) words(text string) []string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c' || r == '\u200d':
			return -1
		case unicode.In(r, unicode.L, unicode.M, unicode.N):
			return r
		}
		return ' '
	}, text)
	words := strings.Fields(text)
	if m.Plural == "drop-s" {
		for i, w := range words {
			if len(w) > 2 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
				words[i] = w[:len(w)-1]
			}
		}
	}
	return words
}

// matcher finds attributes: those of n words among the n-grams of a caption.
type matcher struct {
	Matching
	attributes []string // sorted, each once
	texts      []string // normalised, for "substring"
	word       map[string]int
	next       map[[2]int]int // node and word → node of the trie; 0 is its root
	ends       map[int][]int  // attributes that end at a node
}

func newMatcher(attributes []string, m Matching) (*matcher, error) {
	for _, err := range []error{choice("match", &m.Match, "words", "substring"), choice("case", &m.Case, "lower", "keep"), choice("plural", &m.Plural, "keep", "drop-s")} {
		if err != nil {
			return nil, err
		}
	}
	if m.Match == "substring" && m.Plural == "drop-s" {
		return nil, fmt.Errorf("visage: plural %q needs whole words; a substring finds plurals already", m.Plural)
	}
	out := &matcher{Matching: m, attributes: slices.Compact(slices.Sorted(slices.Values(attributes))), word: map[string]int{}, next: map[[2]int]int{}, ends: map[int][]int{}}
	for a, attribute := range out.attributes {
		text := m.normal(attribute)
		words := m.words(text)
		if len(words) == 0 {
			return nil, fmt.Errorf("visage: the attribute %q has no letter or digit to look for", attribute)
		}
		out.texts = append(out.texts, text)
		node := 0
		for _, w := range words {
			if _, known := out.word[w]; !known {
				out.word[w] = len(out.word)
			}
			step := [2]int{node, out.word[w]}
			if out.next[step] == 0 {
				out.next[step] = len(out.next) + 1
			}
			node = out.next[step]
		}
		out.ends[node] = append(out.ends[node], a)
	}
	return out, nil
}

// find calls found with each occurrence of an attribute in a text, and gives the number of the text's words.
func (m *matcher) find(text string, found func(attribute, times int)) (words int) {
	text = m.normal(text)
	split := m.words(text)
	if m.Match == "substring" {
		for a, t := range m.texts {
			if n := strings.Count(text, t); n > 0 {
				found(a, n)
			}
		}
		return len(split)
	}
	ids := make([]int, len(split))
	for i, w := range split {
		id, known := m.word[w]
		if !known {
			id = -1
		}
		ids[i] = id
	}
	for i := range ids {
		for node, j := 0, i; j < len(ids) && ids[j] >= 0; j++ {
			if node = m.next[[2]int{node, ids[j]}]; node == 0 {
				break
			}
			for _, a := range m.ends[node] {
				found(a, 1)
			}
		}
	}
	return len(split)
}

// hit is an attribute found in the captions of a picture; attribute counts among those of the identity.
type hit struct{ attribute, times, captions int }

// captioned is one picture's captions, counted.
type captioned struct {
	captions, words, any, stereo int
	hits                         []hit
}

// searched is an identity's captions, counted: its pictures by name, its attributes in the vocabulary's order of first finding.
type searched struct {
	identity   string
	pictures   []captioned
	attributes []int // in the vocabulary
}

// search counts, by identity and picture, both in the order of their names.
func search(captions []Caption, m *matcher, stereotypes map[[2]string]bool) (out []*searched) {
	captions = slices.Clone(captions)
	slices.SortStableFunc(captions, func(a, b Caption) int {
		if c := strings.Compare(a.Identity, b.Identity); c != 0 {
			return c
		}
		if c := strings.Compare(a.Picture, b.Picture); c != 0 {
			return c
		}
		return strings.Compare(a.Text, b.Text)
	})
	local := map[int]int{}
	for i, c := range captions {
		newIdentity := i == 0 || c.Identity != captions[i-1].Identity
		if newIdentity {
			out = append(out, &searched{identity: c.Identity})
			clear(local)
		}
		s := out[len(out)-1]
		if newIdentity || c.Picture != captions[i-1].Picture {
			s.pictures = append(s.pictures, captioned{})
		}
		p := &s.pictures[len(s.pictures)-1]
		here := map[int]int{}
		p.captions++
		p.words += m.find(c.Text, func(a, times int) { here[a] += times })
		stereo := false
		for _, a := range slices.Sorted(maps.Keys(here)) {
			if _, known := local[a]; !known {
				local[a] = len(s.attributes)
				s.attributes = append(s.attributes, a)
			}
			at := slices.IndexFunc(p.hits, func(h hit) bool { return h.attribute == local[a] })
			if at < 0 {
				at = len(p.hits)
				p.hits = append(p.hits, hit{attribute: local[a]})
			}
			p.hits[at].times += here[a]
			p.hits[at].captions++
			stereo = stereo || stereotypes[[2]string{c.Identity, m.attributes[a]}]
		}
		if len(here) > 0 {
			p.any++
		}
		if stereo {
			p.stereo++
		}
	}
	return out
}
