package tokens

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

func frame() *table.Frame {
	nan := math.NaN()
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"a", "b", "c", "d"}),
		table.TextColumn("language", []string{"en", "xx", "en", "xx"}),
		table.TextColumn("caption", []string{"a dog", "कुत्ता", "dog", ""}),
		table.NumberColumn("text_tokens", []float64{2, 12, 1, nan}),
		table.NumberColumn("text_words", []float64{2, 1, 1, nan}),
		table.NumberColumn("text_unknown", []float64{0, 3, 0, nan}),
		table.NumberColumn("text_cut", []float64{0, 2, 0, nan}),
	}}
}

func TestTable(t *testing.T) {
	f := must.Get(tabulartest.Run("tokens", frame(), map[string]string{"text": "caption"}, "language"))(t)
	must.Equal(t, strings.Join(f.Texts("language"), " "), "en xx")
	for column, want := range map[string][2]float64{
		"tokens_per_word": {1, 12}, "tokens_per_character": {3.0 / 8, 2}, "unknown_share": {0, 0.25},
		"cut_share": {0, 2.0 / 12},
		"n_texts":   {2, 1}, "n_texts_unknown": {0, 1}, "n_texts_cut": {0, 1}, "n_left_out": {0, 1},
		"n_tokens": {3, 12},
		"n_words":  {3, 1},
	} {
		if got := f.Numbers(column); got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	f = must.Get(tabulartest.Run("tokens", frame(), nil))(t)
	near.Check(t, "without groups and texts", f.Numbers("tokens_per_character"), []float64{math.NaN()}, 0, 0)
	// without counts
	must.Fail(tabulartest.Run("tokens", frame(), map[string]string{"vector": "clip_text"}))(t, "embed the texts first")
}

// TestEmpty: ratios with denominator 0 are NaN.
func TestEmpty(t *testing.T) {
	if s := Summarize([]Text{{}}); s.Texts != 1 || !math.IsNaN(s.PerWord) || !math.IsNaN(s.UnknownShare) ||
		!math.IsNaN(s.CutShare) {
		t.Errorf("%+v", s)
	}
}
