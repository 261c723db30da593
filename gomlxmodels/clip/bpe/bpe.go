package bpe

import (
	"container/heap"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// Encoding is a text as tokens.
type Encoding struct {
	IDs     []int // start, the text, end
	Pieces  int   // tokens of the whole text without start and end; more than len(IDs)−2 where it was cut short
	Unknown int   // how many of Pieces stand for something that has no token
}

var (
	special = regexp.MustCompile(regexp.QuoteMeta(Start) + "|" + regexp.QuoteMeta(End))
	// words cuts a text of plain white space; what it leaves out is white space.
	words = regexp.MustCompile(special.String() + `|'s|'t|'re|'ve|'m|'ll|'d|\p{L}+|\p{N}|[^ \p{L}\p{N}]+`)
)

// Encode turns a text into token ids. Where they are more than limit, start and end included, the last of the text are left
// out; limit 0 = none, else at least 2. The special tokens written out in a text count as such. Each byte that is not valid
// UTF-8 counts as U+FFFD.
func (t *Tokenizer) Encode(text string, limit int) (Encoding, error) {
	if limit != 0 && limit < 2 {
		return Encoding{}, fmt.Errorf("tokenizer: a limit of %d tokens has no room for start and end", limit)
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	e := Encoding{IDs: []int{t.start}}
	from := 0
	for _, at := range special.FindAllStringIndex(text, -1) {
		t.plain(&e, text[from:at[0]])
		e.IDs = append(e.IDs, t.vocab[text[at[0]:at[1]]])
		from = at[1]
	}
	t.plain(&e, text[from:])
	e.Pieces = len(e.IDs) - 1
	if limit > 0 && len(e.IDs) > limit-1 {
		e.IDs = e.IDs[:limit-1]
	}
	e.IDs = append(e.IDs, t.end)
	return e, nil
}

// plain appends the tokens of a text without special tokens.
func (t *Tokenizer) plain(e *Encoding, text string) {
	for _, word := range words.FindAllString(normal(text), -1) {
		if word != Start && word != End { // which were written in capitals
			t.word(e, word)
			continue
		}
		t.word(e, "<|")
		t.word(e, word[2:len(word)-2])
		t.word(e, "|>")
	}
}

// shown are the characters byte-level vocabularies write for the 256 bytes: printable ones as they are, the others from U+0100 on.
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

// part is a token of a word being joined, in a list.
type part struct {
	id         int // −1 = joined to the one before
	prev, next int // −1 = none
}

// pair is two neighbouring parts that can be joined: the left one and what they become.
type pair struct {
	merge
	left int
	ids  [2]int
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

// word appends the tokens of one word.
func (t *Tokenizer) word(e *Encoding, word string) {
	parts := make([]part, len(word))
	for i := range len(word) {
		name := shown[word[i]]
		next := i + 1
		if next == len(word) {
			name, next = name+wordEnd, -1
		}
		id, ok := t.vocab[name]
		if !ok {
			id = t.end
			e.Unknown++
		}
		parts[i] = part{id, i - 1, next}
	}
	var queue pairs
	offer := func(left int) {
		if left < 0 || parts[left].next < 0 {
			return
		}
		ids := [2]int{parts[left].id, parts[parts[left].next].id}
		if m, ok := t.merges[ids]; ok {
			heap.Push(&queue, pair{m, left, ids})
		}
	}
	for i := range parts {
		offer(i)
	}
	for len(queue) > 0 {
		p := heap.Pop(&queue).(pair)
		left := &parts[p.left]
		if left.id != p.ids[0] || left.next < 0 || parts[left.next].id != p.ids[1] {
			continue // one of them was joined to another meanwhile
		}
		right := &parts[left.next]
		left.id, right.id = p.id, -1
		left.next = right.next
		if left.next >= 0 {
			parts[left.next].prev = p.left
		}
		offer(left.prev)
		offer(p.left)
	}
	for _, p := range parts {
		if p.id >= 0 {
			e.IDs = append(e.IDs, p.id)
		}
	}
}
