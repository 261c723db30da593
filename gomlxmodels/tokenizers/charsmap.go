package tokenizers

import (
	"encoding/binary"
	"errors"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsMap is SentencePiece's precompiled map of characters: a double-array trie from byte sequences to places in a
// text of replacements that end in NUL.
type charsMap struct {
	trie []uint32
	text string
}

func newCharsMap(blob []byte) (*charsMap, error) {
	bad := errors.New("the normalizer Precompiled has a broken precompiled_charsmap")
	if len(blob) < 4 {
		return nil, bad
	}
	size := binary.LittleEndian.Uint32(blob)
	blob = blob[4:]
	if size%4 != 0 || uint64(size) > uint64(len(blob)) || size == 0 {
		return nil, bad
	}
	m := &charsMap{trie: make([]uint32, size/4), text: string(blob[size:])}
	if !utf8.ValidString(m.text) {
		return nil, bad
	}
	for i := range m.trie {
		m.trie[i] = binary.LittleEndian.Uint32(blob[4*i:])
	}
	return m, nil
}

// find is what the shortest sequence of the map that a text begins with becomes. The library takes the shortest, too.
func (m *charsMap) find(text string) (string, bool) {
	for _, to := range m.matches(text) {
		return to, true
	}
	return "", false
}

// matches are the sequences of the map that a text begins with, from the shortest: their length, and what they become.
func (m *charsMap) matches(text string) iter.Seq2[int, string] {
	offset := func(unit uint32) uint32 { return unit >> 10 << ((unit & (1 << 9)) >> 6) }
	return func(yield func(int, string) bool) {
		node := offset(m.trie[0])
		for i := range len(text) {
			c := uint32(text[i])
			if c == 0 {
				return
			}
			node ^= c
			if uint64(node) >= uint64(len(m.trie)) {
				return
			}
			unit := m.trie[node]
			if unit&(1<<31|0xff) != c {
				return
			}
			node ^= offset(unit)
			if unit>>8&1 == 0 {
				continue
			}
			if uint64(node) >= uint64(len(m.trie)) {
				return
			}
			at := int(m.trie[node] & (1<<31 - 1))
			if at > len(m.text) {
				return
			}
			to, _, _ := strings.Cut(m.text[at:], "\x00")
			if !yield(i+1, to) {
				return
			}
		}
	}
}

// normal replaces what a text's grapheme clusters of up to five bytes begin with (the rest of the cluster is lost, as
// in the library), and what each character of longer ones begins with.
func (m *charsMap) normal(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for text != "" {
		var cluster string
		cluster, text = firstCluster(text)
		if len(cluster) < 6 {
			if to, ok := m.find(cluster); ok {
				b.WriteString(to)
				continue
			}
		}
		for i, r := range cluster {
			if to, ok := m.find(cluster[i : i+utf8.RuneLen(r)]); ok {
				b.WriteString(to)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// firstCluster cuts the first grapheme cluster off a text.
func firstCluster(text string) (cluster, rest string) {
	if text[0] < 0x80 && text[0] != '\r' && (len(text) == 1 || text[1] < 0x80) {
		return text[:1], text[1:] // ASCII before ASCII stands for itself, but for CR and LF
	}
	cluster, rest, _, _ = uniseg.FirstGraphemeClusterInString(text, -1)
	for rest != "" {
		r, _ := utf8.DecodeRuneInString(rest)
		if first, _ := utf8.DecodeRuneInString(cluster); !unicode.Is(newMark, r) || unicode.IsControl(first) {
			break
		}
		more, _, _, _ := uniseg.FirstGraphemeClusterInString(rest, -1)
		n := len(cluster) + len(more)
		cluster, rest = text[:n], text[n:]
	}
	return cluster, rest
}
