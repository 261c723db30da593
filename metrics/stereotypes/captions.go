package stereotypes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"antipode/metrics/interval"
)

// Caption is one caption of an image of an identity. The text may be empty, very long, or not UTF-8.
type Caption struct{ Identity, Image, Text string }

// Vocabulary is what captions are searched for.
type Vocabulary struct {
	Attributes  []string           // equal ones count once, spellings of one word each; each needs a letter or digit
	Stereotypes map[[2]string]bool // identity, attribute: the pairs of St(id); nil = not known
}

// Matching defines the "string match" of the paper. The zero value matches whole words in lower case.
//
// Captions and attributes are normalized to Unicode NFC first. A word is a run of letters, marks and digits; joiners
// are removed and anything else, including a hyphen, separates words. An attribute of several words matches them in
// sequence.
type Matching struct {
	Match  string `json:"match" default:"words" values:"words,substring" help:"match whole words, or anywhere in the text"`
	Case   string `json:"case" default:"lower" values:"lower,keep" help:"convert to lower case or keep the case"`
	Plural string `json:"plural" default:"keep" values:"keep,drop-s" help:"drop-s ignores the last s of a word, not of ss"`
}

// choice checks a closed option; the first value is also the empty one.
func choice(name string, value *string, values ...string) error {
	if *value == "" {
		*value = values[0]
	}
	if !slices.Contains(values, *value) {
		return fmt.Errorf("stereotypes: %s %q; use one of %v", name, *value, values)
	}
	return nil
}

// check fills in defaults and validates.
func (m *Matching) check() error {
	return cmp.Or(choice("match", &m.Match, "words", "substring"), choice("case", &m.Case, "lower", "keep"),
		choice("plural", &m.Plural, "keep", "drop-s"))
}

func (m Matching) normal(text string) string {
	if m.Case == "lower" {
		text = strings.ToLower(text)
	}
	return norm.NFC.String(text)
}

// words splits normalized text into words.
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

// matcher finds attributes in text with a trie of their words.
type matcher struct {
	Matching
	attributes []string // sorted, each once
	texts      []string // normalized, for "substring"
	word       map[string]int
	next       map[[2]int]int // node and word → node of the trie; 0 is its root
	ends       map[int][]int  // attributes that end at a node
}

func newMatcher(attributes []string, m Matching) (*matcher, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if m.Match == "substring" && m.Plural == "drop-s" {
		return nil, fmt.Errorf("stereotypes: plural %q needs whole words; a substring finds plurals already", m.Plural)
	}
	out := &matcher{Matching: m, attributes: slices.Compact(slices.Sorted(slices.Values(attributes))),
		word: map[string]int{}, next: map[[2]int]int{}, ends: map[int][]int{}}
	for a, attribute := range out.attributes {
		text := m.normal(attribute)
		words := m.words(text)
		if len(words) == 0 {
			return nil, fmt.Errorf("stereotypes: the attribute %q has no letter or digit", attribute)
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

// find calls found for each occurrence of an attribute in a text and returns the number of words of the text.
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

// hit is an attribute found in the captions of an image; attribute is an index into searched.attributes.
type hit struct{ attribute, times, captions int }

// captioned counts the captions of one image.
type captioned struct {
	captions, words, any, stereo int
	hits                         []hit
}

type searched struct {
	identity   string
	images     []captioned // by name
	attributes []int       // indices into the vocabulary, in the order of discovery
	boot       *interval.Bootstrap
}

// document is one caption, or one image, with how often each attribute of the vocabulary occurs in it.
type document struct {
	identity, image string
	words           int
	times           map[int]int
}

// collect counts documents by identity and image, by which they are sorted. names are the attributes.
func collect(documents []document, names []string, stereotypes map[[2]string]bool) (out []*searched) {
	var last document
	local := map[int]int{}
	for i, d := range documents {
		if i == 0 || d.identity != last.identity {
			out = append(out, &searched{identity: d.identity})
			clear(local)
		}
		s := out[len(out)-1]
		if len(s.images) == 0 || d.image != last.image {
			s.images = append(s.images, captioned{})
		}
		last = d
		p := &s.images[len(s.images)-1]
		p.captions++
		p.words += d.words
		stereo := false
		for _, a := range slices.Sorted(maps.Keys(d.times)) {
			if _, known := local[a]; !known {
				local[a] = len(s.attributes)
				s.attributes = append(s.attributes, a)
			}
			at := slices.IndexFunc(p.hits, func(h hit) bool { return h.attribute == local[a] })
			if at < 0 {
				at = len(p.hits)
				p.hits = append(p.hits, hit{attribute: local[a]})
			}
			p.hits[at].times += d.times[a]
			p.hits[at].captions++
			stereo = stereo || stereotypes[[2]string{d.identity, names[a]}]
		}
		if len(d.times) > 0 {
			p.any++
		}
		if stereo {
			p.stereo++
		}
	}
	return out
}

// search finds the attributes in captions.
func search(captions []Caption, m *matcher) []document {
	captions = slices.Clone(captions)
	slices.SortStableFunc(captions, func(a, b Caption) int {
		return cmp.Or(cmp.Compare(a.Identity, b.Identity), cmp.Compare(a.Image, b.Image), cmp.Compare(a.Text, b.Text))
	})
	out := make([]document, len(captions))
	for i, c := range captions {
		times := map[int]int{}
		out[i] = document{c.Identity, c.Image, m.find(c.Text, func(a, n int) { times[a] += n }), times}
	}
	return out
}
