package concepts

import (
	"fmt"
	"slices"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// words are three concepts in two languages: boat and ship are similar in English and have one word in German,
// where boat and moon have one vector.
func words() *table.Frame {
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("language", []string{"en", "en", "en", "de", "de", "de"}),
		table.TextColumn("concept", []string{"boat", "moon", "ship", "boat", "moon", "ship"}),
		table.TextColumn("word", []string{"boat", "moon", "ship", "Schiff", "Mond", "Schiff"}),
		table.VectorColumn("text", [][]float32{{1, 0}, {0, 2}, {4, 3}, {3, 0}, {1, 0}, {3, 4}}),
	}}
}

func TestSimilarPairs(t *testing.T) {
	f := tabulartest.Evaluate(t, "similar-pairs", words(), nil)
	got := fmt.Sprint(f.Texts("pair"), f.Texts("one_word_in"))
	must.Equal(t, got, "[boat / ship moon / ship boat / moon] [de  ]")
	for i, want := range []float64{0.8, 0.6, 0} {
		must.Near(t, f.Numbers("cosine")[i], want, 1e-12, "pair", i)
	}
}

// TestSimilarityMatrix: the concepts of the most similar pair, each with each, and in the order of similarity.
func TestSimilarityMatrix(t *testing.T) {
	f := tabulartest.Evaluate(t, "similarity-matrix", words(), map[string]string{"pairs": "1"})
	must.Equal(t, fmt.Sprint(f.Texts("concept"), f.Texts("other")), "[boat boat ship ship] [boat ship boat ship]")
	f = tabulartest.Evaluate(t, "similarity-matrix", words(), nil)
	must.Equal(t, fmt.Sprint(f.Texts("other")[:3]), "[boat ship moon]")
}

func TestDistinctVectors(t *testing.T) {
	f := tabulartest.Evaluate(t, "distinct-vectors", words(), nil)
	got := fmt.Sprint(f.Texts("language"), f.Numbers("n_words"), f.Numbers("n_vectors"), f.Numbers("n_lost"),
		f.Numbers("n_largest"), f.Texts("examples"))
	must.Equal(t, got, "[en de] [3 2] [3 2] [0 0] [1 2] [boat boat, moon]")
	in := words()
	in.Texts("word")[0], in.Columns[0].Texts[1] = "", "fr"
	in.Texts("word")[1] = "" // the only word in French
	got = fmt.Sprint(tabulartest.Evaluate(t, "distinct-vectors", in, nil).Numbers("n_lost"))
	must.Equal(t, got, "[0 0]", "blank words")
	in.Columns = slices.Delete(in.Columns, 2, 3)
	must.Fail(tabulartest.Run("distinct-vectors", in, nil))(t, "word")
}

// TestNearestConcepts: of the German words, those of boat and of moon have the vector of the English boat, and that
// of ship is between ship (0.96) and moon (0.8).
func TestNearestConcepts(t *testing.T) {
	f := tabulartest.Evaluate(t, "nearest-concepts", words(), nil)
	for column, want := range map[string][]float64{"n_concepts": {3, 3}, "nearest_share": {1, 2. / 3},
		"own": {1, (1 + 0 + 0.96) / 3}, "others": {1.4 / 3, (0 + 0.8 + 1 + 0.8 + 0.6 + 0.8) / 6}} {
		for i, w := range want {
			must.Near(t, f.Numbers(column)[i], w, 1e-7, column, "of", f.Texts("language")[i])
		}
	}
}

func TestSimilarityErrors(t *testing.T) {
	for want, change := range map[string]func(f *table.Frame){
		`row 5 (id "boat")`:       func(f *table.Frame) { f.Texts("concept")[1] = "boat" }, // twice
		"no text has language en": func(f *table.Frame) { copy(f.Texts("language"), []string{"es", "es", "es"}) },
		"the vector has 1 values": func(f *table.Frame) { f.Vectors("text")[2] = []float32{1} },
	} {
		f := words()
		f.RowNumbers = []int{3, 5, 7, 9, 11, 13}
		change(f)
		must.Fail(compute("similar-pairs", map[string]*table.Frame{"in": f}))(t, want)
	}
}
