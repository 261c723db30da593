package concepts_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/concepts"
	"antipode/metrics/internal/tabulartest"
)

// images is a table of two images of a dog and of the sea, in English and Spanish.
func images() concepts.Tables {
	f := &table.Frame{Columns: []table.Column{
		table.TextColumn("model", []string{"A", "A", "A", "A", "A", "A", "A", "A"}),
		table.TextColumn("language", []string{"en", "en", "es", "es", "en", "en", "es", "es"}),
		table.TextColumn("concept", []string{"dog", "dog", "dog", "dog", "sea", "sea", "sea", "sea"}),
		table.VectorColumn("full", [][]float32{{1, 0}, {3, 1}, {1, 0}, {2, 1}, {0, 1}, {0, 1}, {1, 0}, {1, 1}}),
		table.VectorColumn("clip_image", [][]float32{{1, 2}, {1, 2}, {2, 1}, {1, 1}, {1, 3}, {1, 3}, {1, 0}, {3, 1}}),
	}}
	words := &table.Frame{Columns: []table.Column{table.TextColumn("language", []string{"en", "en"}),
		table.TextColumn("concept", []string{"dog", "sea"}),
		table.VectorColumn("clip_text", [][]float32{{1, 2}, {0, 1}})}}
	return concepts.Tables{Images: datasets.FromFrame(f), Words: datasets.FromFrame(words)}
}

var show = tabulartest.Show

func ExampleConceptScores() {
	scores := concepts.ConceptScores(images(), concepts.ScoreOptions{Intervals: metrics.Intervals{Resamples: -1}})
	show(scores, "language", "concept", "inverse_distinctiveness", "self_consistency", "cross_consistency",
		"text_match", "possessed")
	// Output:
	// language  concept  inverse_distinctiveness  self_consistency  cross_consistency  text_match  possessed
	// en        dog                     0.158114          0.948683           0.948683         100  yes
	// en        sea                            0                 1                  1     94.8683  yes
	// es        dog                     0.947214          0.894427           0.958265     87.4342  yes
	// es        sea                     0.853553          0.707107           0.353553     15.8114  no
}

func ExampleLanguageMeans() {
	means := concepts.LanguageMeans(concepts.ConceptScores(images()),
		concepts.MeanOptions{Intervals: metrics.Intervals{Resamples: -1}})
	show(means.Where("model", "==", "A"), "language", "self_consistency", "cross_consistency", "text_match",
		"share_possessed", "n_used")
	// Output:
	// language  self_consistency  cross_consistency  text_match  share_possessed  n_used
	// en                0.974342           0.974342     97.4342                1       2
	// es                0.800767           0.655909     51.6228              0.5       2
	// Avg               0.887554           0.815125     74.5285             0.75       4
}

func ExampleLanguageCorrelations() {
	scores := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("model", []string{"A", "A", "A", "A", "A", "A"}),
		table.TextColumn("language", []string{"en", "en", "en", "es", "es", "es"}),
		table.TextColumn("concept", []string{"dog", "sea", "sun", "dog", "sea", "sun"}),
		table.NumberColumn("cross_consistency", []float64{0.9, 0.8, 0.7, 0.8, 0.6, 0.4}),
		table.NumberColumn("text_match", []float64{27, 26, 25, 26, 24, 22})}})
	show(concepts.LanguageCorrelations(scores,
		concepts.CorrelationOptions{Intervals: metrics.Intervals{Resamples: -1}}),
		"language_a", "language_b", "model", "pearson", "slope", "intercept", "n_used")
	// Output:
	// language_a  language_b  model  pearson  slope  intercept  n_used
	// en          es          all          1      2         -1       3
}

func ExampleScorePairs() {
	show(concepts.ScorePairs(concepts.ConceptScores(images())),
		"language_a", "language_b", "concept", "value_a", "value_b")
	// Output:
	// language_a  language_b  concept   value_a   value_b
	// en          es          dog      0.948683  0.958265
	// en          es          sea             1  0.353553
}

// The word dog has the sum of the vectors of the images that show a dog.
func ExampleWordVectors() {
	words := concepts.WordVectors(images().Images, concepts.WordVectorOptions{Concepts: []string{"concept"}})
	show(words, "id", "language", "clip_text")
	// Output:
	// id   language  clip_text
	// dog  en        2 float32
	// sea  en        2 float32
}

// texts is a table of two concepts in two languages, as gomlxmodels.EmbedText returns it.
func texts() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("language", []string{"en", "en", "de", "de"}),
		table.TextColumn("concept", []string{"boat", "ship", "boat", "ship"}),
		table.TextColumn("word", []string{"boat", "ship", "Schiff", "Schiff"}),
		table.VectorColumn("text", [][]float32{{1, 0}, {4, 3}, {3, 4}, {3, 4}}),
	}})
}

// German has one word for both concepts.
func ExampleSimilarPairs() {
	show(concepts.SimilarPairs(texts()), "pair", "cosine", "one_word_in")
	// Output:
	// pair         cosine  one_word_in
	// boat / ship     0.8  de
}

func ExampleSimilarityMatrix() {
	show(concepts.SimilarityMatrix(texts(), concepts.MatrixOptions{Pairs: 1}), "concept", "other", "cosine")
	// Output:
	// concept  other  cosine
	// boat     boat        1
	// boat     ship      0.8
	// ship     boat      0.8
	// ship     ship        1
}

func ExampleDistinctVectors() {
	show(concepts.DistinctVectors(texts()), "language", "n_words", "n_vectors", "n_lost", "examples")
	// Output:
	// language  n_words  n_vectors  n_lost  examples
	// en              2          2       0  boat
	// de              1          1       0  boat, ship
}

func ExampleNearestConcepts() {
	show(concepts.NearestConcepts(texts(), concepts.SimilarityOptions{Vector: "text"}))
	// Output:
	// language   own  others  nearest_share  n_concepts
	// en           1     0.8              1           2
	// de        0.78    0.78            0.5           2
}

// failed are the scores of two concepts that a model does not possess in Spanish.
func failed() datasets.Table {
	return datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("model", []string{"A", "A"}), table.TextColumn("language", []string{"es", "es"}),
		table.TextColumn("concept", []string{"dog", "sea"}), table.TextColumn("possessed", []string{"no", "no"}),
		table.NumberColumn("cross_consistency", []float64{0.3, 0.4}),
		table.NumberColumn("text_match", []float64{20, 21}),
		table.NumberColumn("self_consistency", []float64{0.9, 0.5}),
		table.NumberColumn("inverse_distinctiveness", []float64{0.3, 0.4})}})
}

// generated are images of three concepts: in Spanish those of dog show cats, and those of sea vary.
func generated() datasets.Table {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("model", nil), table.TextColumn("language", nil),
		table.TextColumn("concept", nil), table.VectorColumn("full", nil)}}
	for _, l := range []string{"en", "es"} {
		for i, c := range []string{"cat", "dog", "sea"} {
			for k := range 3 {
				v := make([]float32, 6)
				switch {
				case l == "es" && c == "sea":
					v[k+2] = 1
				case l == "es":
					i = 0
					fallthrough
				default:
					v[i], v[k+3] = 1, 0.3
				}
				for at, text := range []string{"A", l, c} {
					f.Columns[at].Texts = append(f.Columns[at].Texts, text)
				}
				f.Columns[3].Vectors = append(f.Columns[3].Vectors, v)
			}
		}
	}
	return datasets.FromFrame(f)
}

// The images of dog are consistent but show another concept; those of sea vary.
func ExampleFailures() {
	show(concepts.Failures(failed(), generated()), "model", "language", "concept", "kind", "nearest")
	// Output:
	// model  language  concept  kind                nearest
	// A      es        dog      specific collision  cat
	// A      es        sea      non-specific        cat
}

// A person labels the failure of sea as a generic collision.
func ExampleFailureCounts() {
	failures := concepts.Failures(failed(), generated())
	labels := datasets.FromRows([]map[string]any{{"model": "A", "language": "es", "concept": "sea",
		"kind": concepts.GenericCollision}})
	show(concepts.FailureCounts(failures, labels), "language", "kind", "n", "share", "n_by_hand", "n_changed")
	// Output:
	// language  kind                n  share  n_by_hand  n_changed
	// es        non-specific        0      0          0          0
	// es        specific collision  1    0.5          0          0
	// es        generic collision   1    0.5          1          1
}

func ExampleCompareTemplates() {
	scores := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("model", []string{"A / a photo of X", "A / X"}),
		table.TextColumn("language", []string{"en", "en"}), table.TextColumn("concept", []string{"dog", "dog"}),
		table.NumberColumn("cross_consistency", []float64{0.75, 0.5})}})
	show(concepts.CompareTemplates(scores).Where("score", "==", "cross_consistency"),
		"model", "template", "mean", "difference", "templates_range", "n_templates")
	// Output:
	// model  template      mean  difference  templates_range  n_templates
	// A      X              0.5      -0.125             0.25            2
	// A      a photo of X  0.75       0.125             0.25            2
}

func ExampleCreativePossession() {
	prompts := datasets.FromRows([]map[string]any{{"prompt_id": "p", "language": "es", "prompt": "un perro en el mar",
		"concepts": "dog, sea"}})
	show(concepts.CreativePossession(failed(), prompts), "prompt", "concept", "possessed", "all_possessed")
	// Output:
	// prompt              concept  possessed  all_possessed
	// un perro en el mar  dog      no         no
	// un perro en el mar  sea      no         no
}

func ExampleRanking() {
	show(concepts.Ranking(failed(), concepts.RankingOptions{Score: "self_consistency", Order: "ascending", Top: 5}),
		"language", "rank", "concept", "value", "n_ranked")
	// Output:
	// language  rank  concept  value  n_ranked
	// es           1  sea        0.5         2
	// es           2  dog        0.9         2
}

func ExamplePaperTable() {
	show(concepts.PaperTable(cococrola.Printed(), concepts.TableOptions{Languages: []string{"en", "ja"}}).Head(3))
	// Output:
	// model        EN Xc  EN Wc  JA Xc  JA Wc
	// DALL-E Mega     81     28     32     21
	// DALL-E Mini     78     27     31     21
	// SD 1.1          69     26     37     21
}

func ExamplePaperCells() {
	show(concepts.PaperCells(cococrola.Printed()).Head(2), "model", "language", "score", "printed", "value", "equal")
	// Output:
	// model        language  score  printed  value  equal
	// DALL-E Mega  en        Xc          81     81      1
	// DALL-E Mega  en        Wc          28     28      1
}

func ExampleColumnWins() {
	wins := concepts.ColumnWins(cococrola.Printed(), concepts.WinOptions{Round: "none"})
	show(wins.Where("n_wins", ">", 3), "model", "score", "n_wins", "n_shared", "languages")
	// Output:
	// model        score  n_wins  n_shared  languages
	// DALL-E Mega  Xc          4         0  en, es, de, id
	// DALL-E 2     Wc          4         3  es, de, zh, id
}

func ExampleComputeConceptScores() {
	set := concepts.Set{
		Model: "A",
		Images: map[concepts.Cell][]concepts.Image{
			{Language: "en", Concept: "dog"}: {{ID: "1", Vector: []float32{1, 0}}, {ID: "2", Vector: []float32{3, 4}}},
			{Language: "es", Concept: "dog"}: {{ID: "3", Vector: []float32{1, 0}}, {ID: "4", Vector: []float32{1, 0}}},
		},
	}
	scores, err := concepts.ComputeConceptScores(set, concepts.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range scores {
		fmt.Printf("%s: Sc %.1f, Xc %.1f\n", s.Language, s.Sc.Value, s.Xc.Value)
	}
	// Output:
	// en: Sc 0.6, Xc 0.6
	// es: Sc 1.0, Xc 0.8
}

func ExampleSelfConsistency() {
	sc, err := concepts.SelfConsistency([][]float32{{1, 0}, {3, 4}})
	fmt.Printf("%.1f %v\n", sc, err)
	// Output: 0.6 <nil>
}

func ExampleCrossConsistency() {
	xc, err := concepts.CrossConsistency([][]float32{{1, 0}}, [][]float32{{1, 0}, {3, 4}})
	fmt.Printf("%.1f %v\n", xc, err)
	// Output: 0.8 <nil>
}

func ExampleInverseDistinctiveness() {
	dt, err := concepts.InverseDistinctiveness([][]float32{{1, 0}}, [][]float32{{0, 1}, {4, 3}})
	fmt.Printf("%.1f %v\n", dt, err)
	// Output: 0.4 <nil>
}

func ExampleTextMatch() {
	wc, err := concepts.TextMatch([]float32{1, 0}, [][]float32{{3, 4}}, concepts.Cosine)
	fmt.Printf("%.0f %v\n", wc, err)
	// Output: 60 <nil>
}

func ExampleRule_Possessed() {
	possessed, err := concepts.PaperRule.Possessed(0.4, 27)
	fmt.Println(possessed, err)
	// Output: yes <nil>
}

func ExampleKindOf() {
	fmt.Println(concepts.KindOf(concepts.Failing{Self: 0.9, Nearest: 0.9, Reference: 0.85, Typical: 0.8,
		Base: 0.2}))
	// Output: specific collision
}
