// Package tokens measures how well the vocabulary of a text encoder covers the languages of a table: tokens per word,
// unknown tokens, truncated texts. An encoder that splits a language into many tokens, or has none of its letters, can
// cause differences that an audit of languages finds.
//
// [Scores] scores a table of embedded texts; [Summarize] is the pure function. [Losses] divides what a language loses
// against English between the tokenizer, refusals and the generator; [Attribute] is the pure function.
package tokens

import (
	"math"

	"antipode/metrics/internal/tabular"
)

// Text counts the tokens of a text.
type Text struct {
	Tokens     float64 // of the whole text, without special tokens; NaN = no counts
	Words      float64 // sequences of characters that are not white space; a Chinese or Thai sentence is one
	Unknown    float64 // tokens for characters that the vocabulary lacks
	Cut        float64 // tokens beyond the model's context length
	Characters float64 // code points; NaN = not counted
}

// Summary describes the texts of a group. Ratios with denominator 0 are NaN.
type Summary struct {
	PerWord      float64 `column:"tokens_per_word" unit:"tokens" range:"[0, ∞)"`      // for scripts with spaces
	PerCharacter float64 `column:"tokens_per_character" unit:"tokens" range:"[0, ∞)"` // NaN = a text is not counted
	UnknownShare float64 `column:"unknown_share" unit:"share of tokens" range:"[0, 1]"`
	CutShare     float64 `column:"cut_share" unit:"share of tokens" range:"[0, 1]"`
	Texts        int     `column:"n_texts" unit:"texts"`
	TextsUnknown int     `column:"n_texts_unknown" unit:"texts"`
	TextsCut     int     `column:"n_texts_cut" unit:"texts"`
	LeftOut      int     `column:"n_left_out" unit:"texts" help:"rows without counts"`
	Tokens       float64 `column:"n_tokens" unit:"tokens"`
	Words        float64 `column:"n_words" unit:"words"`
}

// Summarize computes ratios of sums over the texts, so a long text has more weight than a short one.
func Summarize(texts []Text) (s Summary) {
	var unknown, cut, characters float64
	for _, t := range texts {
		if math.IsNaN(t.Tokens) {
			s.LeftOut++
			continue
		}
		s.Texts++
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
	s.PerWord, s.PerCharacter = tabular.Ratio(s.Tokens, s.Words), tabular.Ratio(s.Tokens, characters)
	s.UnknownShare, s.CutShare = tabular.Ratio(unknown, s.Tokens), tabular.Ratio(cut, s.Tokens)
	return s
}
