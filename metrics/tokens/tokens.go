// Package tokens says how a model's vocabulary meets the languages of a table: tokens a word, unknown tokens, texts cut short.
// A text encoder that breaks a language into many tokens, or knows none of its letters, is a usual hidden cause of what an
// audit of languages finds.
package tokens

import "math"

// Text is one text as the tokenizer of an encoder saw it.
type Text struct {
	Tokens     float64 // of the whole text, without special tokens
	Words      float64 // runs of characters that are not white space; a sentence of Han or Thai is one
	Unknown    float64 // tokens that stand for something the vocabulary lacks
	Cut        float64 // tokens that did not fit the model's context
	Characters float64 // code points; NaN = not counted
}

// Summary is the texts of a group together. A share of nothing is NaN.
type Summary struct {
	Texts, TextsCut, TextsUnknown int
	Tokens, Words                 float64

	PerWord      float64 // tokens a word, in [0, ∞); for scripts without spaces use PerCharacter
	PerCharacter float64 // tokens a code point; NaN where a text's characters were not counted
	UnknownShare float64 // of the tokens, in [0, 1]
	CutShare     float64 // of the tokens, in [0, 1]
}

// Summarise adds up texts: every ratio is of sums, so a long text counts more than a short one.
func Summarise(texts []Text) Summary {
	s := Summary{Texts: len(texts)}
	var unknown, cut, characters float64
	for _, t := range texts {
		s.Tokens += t.Tokens
		s.Words += t.Words
		unknown += t.Unknown
		cut += t.Cut
		characters += t.Characters
		if t.Cut > 0 {
			s.TextsCut++
		}
		if t.Unknown > 0 {
			s.TextsUnknown++
		}
	}
	s.PerWord, s.PerCharacter = ratio(s.Tokens, s.Words), ratio(s.Tokens, characters)
	s.UnknownShare, s.CutShare = ratio(unknown, s.Tokens), ratio(cut, s.Tokens)
	return s
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
