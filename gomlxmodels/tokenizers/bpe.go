package tokenizers

import (
	"container/heap"
	"fmt"
	"unicode/utf8"
)

// bytePair is byte-pair encoding (Sennrich et al. 2016, arXiv 1508.07909) over the bytes of a word, or over its
// characters.
type bytePair struct {
	vocab   map[string]int32
	merges  map[[2]int32]merge
	bytes   bool      // words come as bytes; otherwise a word's characters are the first parts
	first   [256]part // of each byte inside a word
	last    [256]part // of each byte at the end of a word
	unknown int32     // −1 = what has no token is left out
	fuse    bool      // neighboring unknown parts are one
	inside  string    // prefix of tokens that go on a word
	end     string    // suffix of tokens that end a word
	whole   bool      // a word that is a token is that token, whatever the merges
	// the ids of "<0x00>" … "<0xFF>", for the bytes of a character that has no token; nil = it is unknown
	fallback []int32
}

// merge is what a pair of tokens becomes, and how early it does.
type merge struct {
	rank int
	id   int32
}

// part is a token of a word being joined, in a list.
type part struct {
	id         int32 // −1 = joined to the one before, or left out
	prev, next int32 // −1 = none
	unknown    bool
}

// shown are the characters byte-level vocabularies write for the 256 bytes: printable ones as they are, the others from
// U+0100 on.
var shown = func() (out [256]string) {
	next := rune(256)
	for b := range out {
		r := rune(b)
		if !(r >= '!' && r <= '~' || r >= '¡' && r <= '¬' || r >= '®' && r <= 'ÿ') {
			r, next = next, next+1
		}
		out[b] = string(r)
	}
	return out
}()

func (m *bytePair) id(token string) (int32, bool) { id, ok := m.vocab[token]; return id, ok }

// prepare looks the merges up in the vocabulary.
func (m *bytePair) prepare(merges [][2]string) error {
	m.merges = make(map[[2]int32]merge, len(merges))
	for i, pair := range merges {
		a, okA := m.vocab[pair[0]]
		b, okB := m.vocab[pair[1]]
		if okA = okA && okB && len(pair[1]) >= len(m.inside); okA {
			var both int32
			if both, okA = m.vocab[pair[0]+pair[1][len(m.inside):]]; okA {
				m.merges[[2]int32{a, b}] = merge{i, both}
			}
		}
		if !okA {
			return fmt.Errorf("merge %d: %q and %q, or both together, are not in the vocabulary", i+1, pair[0], pair[1])
		}
	}
	for b := range m.fallback {
		id, ok := m.vocab[byteToken(b)]
		if !ok {
			return fmt.Errorf("byte_fallback needs the token %s, which is not in the vocabulary", byteToken(b))
		}
		m.fallback[b] = id
	}
	for b := range shown {
		m.first[b] = m.part(shown[b])
		m.last[b] = m.part(shown[b] + m.end)
	}
	return nil
}

// byteToken is the token of a byte under byte_fallback.
func byteToken(b int) string { return fmt.Sprintf("<0x%02X>", b) }

func (m *bytePair) part(name string) part {
	if id, ok := m.vocab[name]; ok {
		return part{id: id}
	}
	return part{id: m.unknown, unknown: true}
}

// parts are the first parts of a word.
func (m *bytePair) parts(out []part, word string) []part {
	if m.bytes {
		for i := range len(word) - 1 {
			out = append(out, m.first[word[i]])
		}
		return append(out, m.last[word[len(word)-1]])
	}
	for i, r := range word {
		name := string(r)
		if i > 0 {
			name = m.inside + name
		}
		if i+utf8.RuneLen(r) == len(word) {
			name += m.end
		}
		p := m.part(name)
		for i := 0; p.unknown && m.fallback != nil && i < len(name); i++ {
			out = append(out, part{id: m.fallback[name[i]]})
		}
		if !p.unknown || m.fallback == nil {
			out = append(out, p)
		}
	}
	return out
}

func (m *bytePair) tokenize(ids []int32, word string) ([]int32, int) {
	if m.whole {
		name := word
		if m.bytes {
			name = show(word)
		}
		if id, ok := m.vocab[name]; ok {
			return append(ids, id), 0
		}
	}
	var space [48]part
	all := m.parts(space[:0], word)
	unknown, n := 0, 0
	for _, p := range all { // leave out what is nothing
		if p.unknown && (p.id < 0 || m.fuse && n > 0 && all[n-1].unknown) {
			continue
		}
		if p.unknown {
			unknown++
		}
		all[n] = p
		n++
	}
	all = all[:n]
	for i := range all {
		all[i].prev, all[i].next = int32(i-1), int32(i+1)
	}
	if n > 0 {
		all[n-1].next = -1
	}
	m.join(all)
	for _, p := range all {
		if p.id >= 0 {
			ids = append(ids, p.id)
		}
	}
	return ids, unknown
}

func show(word string) string {
	var b []byte
	for i := range len(word) {
		b = append(b, shown[word[i]]...)
	}
	return string(b)
}

// short words are merged by a scan of all pairs at each step; longer ones with a heap.
const short = 24

// join joins neighbors, the earliest merge first, of equal ones the leftmost.
func (m *bytePair) join(parts []part) {
	if len(parts) <= short {
		for len(parts) > 1 {
			best, at := merge{rank: -1}, int32(-1)
			for i := int32(0); parts[i].next >= 0; i = parts[i].next {
				if g, ok := m.merges[[2]int32{parts[i].id, parts[parts[i].next].id}]; ok &&
					(at < 0 || g.rank < best.rank) {
					best, at = g, i
				}
			}
			if at < 0 {
				return
			}
			take(parts, at, best.id)
		}
		return
	}
	var queue pairs
	offer := func(left int32) {
		if left < 0 || parts[left].next < 0 {
			return
		}
		ids := [2]int32{parts[left].id, parts[parts[left].next].id}
		if g, ok := m.merges[ids]; ok {
			heap.Push(&queue, pair{g, left, ids})
		}
	}
	for i := range parts {
		offer(int32(i))
	}
	for len(queue) > 0 {
		p := heap.Pop(&queue).(pair)
		left := &parts[p.left]
		if left.id != p.ids[0] || left.next < 0 || parts[left.next].id != p.ids[1] {
			continue // one of them was joined to another meanwhile
		}
		take(parts, p.left, p.id)
		offer(left.prev)
		offer(p.left)
	}
}

// take joins a part and its right neighbor.
func take(parts []part, at, id int32) {
	left := &parts[at]
	right := &parts[left.next]
	left.id, right.id = id, -1
	left.next, right.next = right.next, -1
	if left.next >= 0 {
		parts[left.next].prev = at
	}
}

// pair is two neighboring parts that can be joined: the left one and what they become.
type pair struct {
	merge
	left int32
	ids  [2]int32
}

// pairs is a heap: the earliest merge first, of equal ones the leftmost.
type pairs []pair

func (p pairs) Len() int      { return len(p) }
func (p pairs) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *pairs) Push(x any)   { *p = append(*p, x.(pair)) }
func (p pairs) Less(i, j int) bool {
	return p[i].rank < p[j].rank || p[i].rank == p[j].rank && p[i].left < p[j].left
}
func (p *pairs) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
