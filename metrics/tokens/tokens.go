// Package tokens measures how well the vocabulary of a text encoder covers the languages of a table: tokens per word,
// unknown tokens, truncated texts. An encoder that splits a language into many tokens, or has none of its letters, can
// cause differences that an audit of languages finds.
//
// [Scores] scores a table of embedded texts; [Summarize] is the pure function. [Losses] divides what a language loses
// against English between the tokenizer, refusals and the generator; [Attribute] is the pure function.
package tokens

import "math"

// Text counts the tokens of a text.
type Text struct {
	Tokens     float64 // of the whole text, without special tokens
	Words      float64 // sequences of characters that are not white space; a Chinese or Thai sentence is one
	Unknown    float64 // tokens for characters that the vocabulary lacks
	Cut        float64 // tokens beyond the model's context length
	Characters float64 // code points; NaN = not counted
}

// Summary describes the texts of a group. Ratios with denominator 0 are NaN.
type Summary struct {
	Texts, TextsCut, TextsUnknown int
	Tokens, Words                 float64

	PerWord      float64 // tokens per word; for scripts without spaces use PerCharacter
	PerCharacter float64 // tokens per code point; NaN if the characters of a text were not counted
	UnknownShare float64 // of the tokens, in [0, 1]
	CutShare     float64 // of the tokens, in [0, 1]
}

// Summarize computes ratios of sums over the texts, so a long text has more weight than a short one.
func Summarize(texts []Text) Summary {
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
