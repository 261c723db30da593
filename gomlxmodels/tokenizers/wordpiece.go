package tokenizers

import "unicode/utf8"

// wordPiece is greedy longest match: Wu et al. 2016, arXiv 1609.08144, as BERT uses it.
type wordPiece struct {
	vocab   map[string]int32 // whole tokens
	inside  map[string]int32 // tokens that go on a word, without their prefix
	unknown int32
	most    int // characters; a longer word is unknown
}

func (m *wordPiece) id(token string) (int32, bool) { id, ok := m.vocab[token]; return id, ok }

func (m *wordPiece) tokenize(ids []int32, word string) ([]int32, int) {
	if len(word) > m.most && utf8.RuneCountInString(word) > m.most {
		return append(ids, m.unknown), 1
	}
	mark := len(ids)
	vocab := m.vocab
	for word != "" {
		end := len(word)
		for end > 0 {
			if id, ok := vocab[word[:end]]; ok {
				ids = append(ids, id)
				break
			}
			_, n := utf8.DecodeLastRuneInString(word[:end])
			end -= n
		}
		if end == 0 {
			return append(ids[:mark], m.unknown), 1
		}
		word, vocab = word[end:], m.inside
	}
	return ids, 0
}
