package tokens

import (
	"context"
	"fmt"
	"math"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Options are the options of [Scores].
type Options struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"text" values:"text,clip_text" help:"vector of the texts"`
	Text   string   `json:"text,omitempty" help:"column of the texts, for tokens per character; empty = not computed"`
}

// Row is a row of [Scores]: the counts of a group of texts.
type Row struct {
	Group metrics.Group
	Summary
}

var tokens = metrics.Define(metrics.Definition[Options, Row]{
	Name: "tokens", Title: "tokens per word, unknown tokens and truncated texts of a text encoder, by language",
	Version: 1, Unit: "tokens; shares of tokens", Range: "[0, ∞); [0, 1]",
	Direction: "higher means that the encoder covers the language less well",
	Inputs: []metrics.Input{{Role: "in", About: "embedded texts, with the counts VECTOR_tokens, VECTOR_words, " +
		"VECTOR_unknown and VECTOR_cut next to their vectors"}},
	Compute: compute,
})

// Scores is the metric tokens: a row for each group of Options.By, in order of appearance. texts is a table of
// gomlxmodels.EmbedText. Rows without counts (refused, failed, skipped) are left out and counted in n_left_out.
func Scores(texts datasets.Table, options ...Options) datasets.Table {
	return tokens.Of(texts, options...)
}

func compute(_ context.Context, call *metrics.Call, o Options) ([]Row, error) {
	in := tabular.Read(call, "in")
	var counts [4][]float64
	for i, name := range []string{"tokens", "words", "unknown", "cut"} {
		counts[i] = in.Numbers(o.Vector + "_" + name)
	}
	if in.Err != nil {
		return nil, fmt.Errorf("%w: embed the texts first (antipode embed --vector %s --text COLUMN)", in.Err,
			o.Vector)
	}
	texts, groups := in.Texts(o.Text), in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	var rows []Row
	for _, g := range groups {
		var list []Text
		for _, row := range g.Rows {
			t := Text{Tokens: counts[0][row], Words: counts[1][row], Unknown: counts[2][row], Cut: counts[3][row],
				Characters: math.NaN()}
			if texts != nil {
				t.Characters = float64(utf8.RuneCountInString(texts[row]))
			}
			list = append(list, t)
		}
		rows = append(rows, Row{g.By, Summarize(list)})
	}
	return rows, nil
}
