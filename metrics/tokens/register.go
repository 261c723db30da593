package tokens

import (
	"context"
	"fmt"
	"math"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const name = "tokens"

func init() {
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: name, Title: "how a text encoder's vocabulary meets each language: tokens a word, unknown tokens, texts cut short", Unit: "tokens; shares of tokens",
			Range: "[0, ∞); [0, 1]", Direction: "more tokens a word, and any unknown or cut, is a language the encoder knows less"},
		Version: 1,
		Inputs:  []metrics.Input{{Role: "in", About: "texts that were embedded: the counts VECTOR_tokens, VECTOR_words, VECTOR_unknown, VECTOR_cut stand beside their vectors"}},
		Options: []metrics.Option{
			{Name: "vector", Default: "text", About: "the vector whose counts are meant", Values: []string{"text", "clip_text"}},
			{Name: "text", Default: "", About: "the column of the texts themselves, for tokens a character; \"\" = not counted"},
		},
		Columns: func(a metrics.Args) []client.ColumnSpec {
			var specs []string
			for _, by := range a.By {
				specs = append(specs, "="+by)
			}
			return tabular.Specs(append(specs, "tokens_per_word", "tokens_per_character", "unknown_share", "cut_share", "n_texts", "n_texts_unknown", "n_texts_cut", "n_left_out", "n_tokens", "n_words")...)
		},
		Compute: compute,
	})
}

// Vector names the vector whose counts are meant: "text" (the default) or "clip_text".
func Vector(name string) metrics.Setting { return tabular.Set("vector", name) }

// Characters names the column of the texts, so that tokens are also counted by character.
func Characters(column string) metrics.Setting { return tabular.Set("text", column) }

// Table is the metric tokens: one row for each group of [metrics.By], in order of appearance. texts is a table that
// gomlxmodels.EmbedText gave. Rows without counts (refused, failed, skipped) are left out and counted.
func Table(texts datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of(name, texts, settings)
}

func compute(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	vector := call.Options["vector"]
	var counts [4][]float64
	for i, what := range []string{"tokens", "words", "unknown", "cut"} {
		c, err := f.Need(vector+"_"+what, client.Number)
		if err != nil {
			return nil, fmt.Errorf("%w: embed the texts first (antipode embed --vector %s --text COLUMN)", err, vector)
		}
		counts[i] = c.Numbers
	}
	var texts []string
	if column := call.Options["text"]; column != "" {
		c, err := f.Need(column, client.Text)
		if err != nil {
			return nil, err
		}
		texts = c.Texts
	}
	groups, err := tabular.Groups(f, call.By)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, g := range groups {
		var list []Text
		for _, row := range g.Rows {
			if math.IsNaN(counts[0][row]) {
				continue
			}
			t := Text{Tokens: counts[0][row], Words: counts[1][row], Unknown: counts[2][row], Cut: counts[3][row], Characters: math.NaN()}
			if texts != nil {
				t.Characters = float64(utf8.RuneCountInString(texts[row]))
			}
			list = append(list, t)
		}
		s := Summarise(list)
		rows = append(rows, append(g.Cells(), s.PerWord, s.PerCharacter, s.UnknownShare, s.CutShare,
			float64(s.Texts), float64(s.TextsUnknown), float64(s.TextsCut), float64(len(g.Rows)-s.Texts), s.Tokens, s.Words))
	}
	return tabular.Result(name, call, rows)
}
