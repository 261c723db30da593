package gomlxmodels

import (
	"fmt"

	"antipode/datasets"
	"antipode/datasets/table"
)

// TokenizeOp is the operation of [Tokenize] in a plan.
const TokenizeOp = "tokenize"

// TokenizeOptions are the options of [Tokenize].
type TokenizeOptions struct {
	// Text is the text column; default "prompt".
	Text string `json:"text,omitempty" default:"prompt" help:"the text column to tokenize"`
}

// TokenizeArgs are the arguments of a tokenize stage in a plan.
type TokenizeArgs struct {
	Model string `json:"model"`
	TokenizeOptions
}

// TokenizeColumns returns the columns that [Tokenize] adds for a text column.
func TokenizeColumns(text string) []table.ColumnSpec {
	var out []table.ColumnSpec
	for _, name := range []string{"tokens", "words", "unknown", "partial", "cut", "special", "transliterated", "lost"} {
		out = append(out, table.ColumnSpec{Name: text + "_" + name, Kind: table.KindNumber})
	}
	return out
}

// Tokenize counts what becomes of a text column, the prompts, before a model sees it. It reads the tokenizer of a
// generator (a pipeline, DALL·E mini, minDALL-E) or of any folder with one, and no weights. Eight numbers are added,
// which start with the name of the column:
//
//   - prompt_tokens: tokens of the whole text, without the special tokens that the tokenizer puts around it;
//   - prompt_words: sequences of characters that are not white space;
//   - prompt_unknown: tokens for something that the vocabulary lacks;
//   - prompt_partial: tokens for a part of a character: bytes of it, as byte-level BPE and byte fallback write
//     characters without a token;
//   - prompt_cut: tokens beyond the model's context, which it does not see;
//   - prompt_special: special tokens written out in the text;
//   - prompt_transliterated: words that the model reads in ASCII letters instead (DALL·E mini);
//   - prompt_lost: words that have no transliteration, which it does not see.
func Tokenize(model string, t datasets.Table, options ...TokenizeOptions) datasets.Table {
	fail := func(err error) datasets.Table { return datasets.Extend(t).Fail(fmt.Errorf("Tokenize: %w", err)).Table }
	o, err := only(options, func(*TokenizeOptions) []string { return nil })
	if err != nil {
		return fail(err)
	}
	args := TokenizeArgs{TokenizeOptions: o}
	if args.Model, err = resolve(model); err != nil {
		return fail(err)
	}
	return datasets.Extend(t).Need("id", table.KindText).Need(o.Text, table.KindText).
		Derive(TokenizeOp, args, TokenizeColumns(o.Text)...).Table
}
