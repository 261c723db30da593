package tokenizers

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// addedToken is a token looked for as a whole before a text is cut into words.
type addedToken struct {
	content        string
	id             int32
	word           bool // only where no letter or digit touches it
	eatLeft, right bool // it takes the white space next to it along
}

// split calls give for each part of a text in order: an added token (id ≥ 0), or text between them (id −1) with its
// place. Of tokens that begin at one place the longest counts.
func split(tokens []addedToken, text string, give func(part string, id int32, at int)) {
	done := 0
	for i := 0; i < len(text) && len(tokens) > 0; {
		t := longest(tokens, text[i:])
		if t == nil {
			i++
			continue
		}
		start, end := i, i+len(t.content)
		i = end
		if t.word && (wordBefore(text[:start]) || wordAfter(text[end:])) {
			continue
		}
		if start < done { // white space that a token before took along
			continue
		}
		if t.eatLeft {
			start = max(done, len(strings.TrimRightFunc(text[:start], unicode.IsSpace)))
		}
		if t.right {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if done < start {
			give(text[done:start], -1, done)
		}
		give(text[start:end], t.id, start)
		done = end
	}
	if done < len(text) {
		give(text[done:], -1, done)
	}
}

// longest finds the longest token that a text begins with; nil = none.
func longest(tokens []addedToken, text string) *addedToken {
	var best *addedToken
	for i := range tokens {
		t := &tokens[i]
		if text[0] == t.content[0] && strings.HasPrefix(text, t.content) &&
			(best == nil || len(t.content) > len(best.content)) {
			best = t
		}
	}
	return best
}

func wordBefore(text string) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	return n > 0 && isWord(r)
}
func wordAfter(text string) bool { r, n := utf8.DecodeRuneInString(text); return n > 0 && isWord(r) }

// isWord is what may not touch a token that stands for a whole word: \w of the library's regular expressions.
func isWord(r rune) bool {
	return isLetter(r) || unicode.In(r, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic) ||
		r == 0x200c || r == 0x200d || unicode.Is(newWord, r)
}
