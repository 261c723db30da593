package tokenizers

import (
	"math"
	"sort"
	"unicode/utf8"
)

// unigram cuts a word where the sum of its tokens' log probabilities is highest: Kudo 2018, arXiv 1804.10959.
type unigram struct {
	vocab   map[string]int32
	scores  []float64
	trie    []node
	labels  []byte
	unknown int32
	penalty float64 // score of a character that has no token
}

// node is a place in the trie: its children are labels[child:child+count], and nodes at the same places.
type node struct {
	child, id int32 // id −1 = no token ends here
	count     int16
}

// unknownPenalty is how much worse than the worst token an unknown character is.
const unknownPenalty = 10

func newUnigram(tokens []string, scores []float64, unknown int32) *unigram {
	m := &unigram{vocab: make(map[string]int32, len(tokens)), scores: scores, unknown: unknown}
	worst := math.Inf(1)
	for i, s := range scores {
		worst = math.Min(worst, s)
		m.vocab[tokens[i]] = int32(i)
	}
	m.penalty = worst - unknownPenalty
	names := make([]string, 0, len(m.vocab))
	for name := range m.vocab {
		if name != "" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	m.trie, m.labels = []node{{id: -1}}, []byte{0}
	m.grow(0, names, 0)
	return m
}

// grow gives the node at a place its children: the bytes at depth of the sorted names, which agree up to there.
func (m *unigram) grow(at int, names []string, depth int) {
	if len(names) > 0 && len(names[0]) == depth {
		m.trie[at].id = m.vocab[names[0]]
		names = names[1:]
	}
	var starts []int
	m.trie[at].child = int32(len(m.trie))
	for i, name := range names {
		if i == 0 || name[depth] != names[i-1][depth] {
			starts = append(starts, i)
			m.trie = append(m.trie, node{id: -1})
			m.labels = append(m.labels, name[depth])
		}
	}
	m.trie[at].count = int16(len(starts))
	first := int(m.trie[at].child)
	for k, from := range starts {
		to := len(names)
		if k+1 < len(starts) {
			to = starts[k+1]
		}
		m.grow(first+k, names[from:to], depth+1)
	}
}

// step is the child of a node by a byte; −1 = none.
func (m *unigram) step(at int32, c byte) int32 {
	n := m.trie[at]
	lo, hi := n.child, n.child+int32(n.count)
	for lo < hi {
		if mid := (lo + hi) / 2; m.labels[mid] < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < n.child+int32(n.count) && m.labels[lo] == c {
		return lo
	}
	return -1
}

func (m *unigram) id(token string) (int32, bool) { id, ok := m.vocab[token]; return id, ok }

// best is the best way to a place in a word.
type best struct {
	score float64
	from  int32 // −1 = none yet
	id    int32
}

func (m *unigram) tokenize(ids []int32, word string) ([]int32, int) {
	if id, ok := m.vocab[word]; ok && utf8.RuneCountInString(word) == 1 {
		return append(ids, id), m.count(id)
	}
	var space [128]best
	ends := space[:0]
	for range len(word) + 1 {
		ends = append(ends, best{from: -1})
	}
	better := func(to, from int, score float64, id int32) {
		if e := &ends[to]; e.from < 0 || score > e.score {
			*e = best{score, int32(from), id}
		}
	}
	for from, r := range word {
		here := ends[from].score
		size := utf8.RuneLen(r)
		single := false
		at := int32(0)
		for i := from; i < len(word); i++ {
			if at = m.step(at, word[i]); at < 0 {
				break
			}
			if id := m.trie[at].id; id >= 0 {
				better(i+1, from, here+m.scores[id], id)
				single = single || i+1-from == size
			}
		}
		if !single {
			better(from+size, from, here+m.penalty, m.unknown)
		}
	}
	return m.back(ids, word, ends)
}

// back reads the best way from its end; neighboring unknown characters are one token.
func (m *unigram) back(ids []int32, word string, ends []best) ([]int32, int) {
	mark, unknown := len(ids), 0
	for end := int32(len(word)); end > 0; {
		e := ends[end]
		from := e.from
		if e.id == m.unknown {
			for from > 0 && ends[from].id == m.unknown {
				from = ends[from].from
			}
			if id, ok := m.vocab[word[from:end]]; ok { // together they are a token that was too unlikely
				e.id = id
			}
		}
		unknown += m.count(e.id)
		ids = append(ids, e.id)
		end = from
	}
	for i, j := mark, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids, unknown
}

func (m *unigram) count(id int32) int {
	if id == m.unknown {
		return 1
	}
	return 0
}
