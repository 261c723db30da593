package concepts

import (
	"fmt"
	"math"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// TestScorePairs: pairs of languages in the paper's order; a concept without a score in one of them is left out.
func TestScorePairs(t *testing.T) {
	in := tab("SD es dog 0.2 20 no", "SD en dog 0.6 30 no", "SD en sea 0.9 10 yes", "SD es sea 0.4 10 yes",
		"SD de dog 0.5 20 yes")
	in.Column("cross_consistency").Numbers[3] = math.NaN()
	f := tabulartest.Evaluate(t, "cococrola-score-pairs", in, nil)
	var got []string
	for i := range f.Len() {
		got = append(got, fmt.Sprint(f.Texts("language_a")[i], " ", f.Texts("language_b")[i], " ",
			f.Texts("concept")[i],
			" ", f.Numbers("value_a")[i], " ", f.Numbers("value_b")[i]))
	}
	must.Equal(t, fmt.Sprint(got), "[en es dog 0.6 0.2 en de dog 0.6 0.5 es de dog 0.2 0.5]", got)
}

// TestWordVectors: the vector of a concept is the sum of those of the images that show it.
func TestWordVectors(t *testing.T) {
	images := &table.Frame{Columns: []table.Column{
		table.TextColumn("object", []string{"kite", "kite"}), table.TextColumn("scene", []string{"shore", "hill"}),
		table.VectorColumn("full", [][]float32{{1, 0}, {0, 2}}),
	}}
	f := tabulartest.Evaluate(t, "word-vectors", images, map[string]string{"concepts": "object,scene"})
	got := fmt.Sprint(f.Texts("concept"), f.Texts("language"), f.Vectors("clip_text"))
	must.Equal(t, got, "[hill kite shore] [en en en] [[0 2] [1 2] [1 0]]")
}
