package concepts

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
)

// SimilarityOptions are the options of [SimilarPairs], [DistinctVectors] and [NearestConcepts].
type SimilarityOptions struct {
	Vector string `json:"vector,omitempty" default:"text" help:"vector column of the texts"`
}

// MatrixOptions are the options of [SimilarityMatrix].
type MatrixOptions struct {
	Vector string `json:"vector,omitempty" default:"text" help:"vector column of the texts"`
	Pairs  int    `json:"pairs,omitempty" default:"12" min:"1" help:"the concepts of this many most similar pairs"`
}

// pairRow is a row of [SimilarPairs].
type pairRow struct {
	Pair    string  `column:"pair"`
	A       string  `column:"a"`
	B       string  `column:"b"`
	Cosine  float64 `column:"cosine" range:"[-1, 1]"`
	OneWord string  `column:"one_word_in" help:"languages with one word for both concepts"`
}

// matrixRow is a row of [SimilarityMatrix].
type matrixRow struct {
	Concept string  `column:"concept"`
	Other   string  `column:"other"`
	Cosine  float64 `column:"cosine" range:"[-1, 1]"`
	N       int     `column:"n" unit:"pairs"`
}

// distinctRow is a row of [DistinctVectors].
type distinctRow struct {
	Language string `column:"language"`
	Words    int    `column:"n_words" unit:"words" help:"different words"`
	Vectors  int    `column:"n_vectors" unit:"vectors" help:"different vectors"`
	Lost     int    `column:"n_lost" unit:"words" help:"n_words − n_vectors"`
	Largest  int    `column:"n_largest" unit:"concepts" help:"in the largest group with one vector"`
	Examples string `column:"examples" help:"up to eight concepts of the largest group"`
}

// nearestRow is a row of [NearestConcepts].
type nearestRow struct {
	Language string  `column:"language"`
	Own      float64 `column:"own" range:"[-1, 1]" help:"mean cosine with the English text of the same concept"`
	Others   float64 `column:"others" range:"[-1, 1]" help:"mean cosine with the English texts of other concepts"`
	Nearest  float64 `column:"nearest_share" range:"[0, 1]" help:"share of texts closest to their own concept's"`
	Concepts int     `column:"n_concepts" unit:"concepts"`
}

var inTexts = []datasets.Input{{Role: "in", Columns: cellColumns[1:],
	About: "texts by language and concept, with vectors; English is en"}}

var similarPairs = datasets.Define(datasets.Operation[SimilarityOptions, pairRow]{
	Name: "similar-pairs", Version: 1, Title: "pairs of concepts by the similarity of their English texts",
	Citation: "measure of this project", Inputs: inTexts,
	Compute: func(_ context.Context, call *datasets.Call, o SimilarityOptions) (out []pairRow, err error) {
		all, english, err := readTexts(call, o.Vector)
		if err != nil {
			return nil, err
		}
		for _, p := range rankPairs(english) {
			var in []string
			for _, t := range all {
				if word := t.words[p.a]; word != "" && word == t.words[p.b] {
					in = append(in, t.language)
				}
			}
			out = append(out, pairRow{p.a + " / " + p.b, p.a, p.b, p.cosine, strings.Join(in, ", ")})
		}
		return out, nil
	},
})

// SimilarPairs is the table operation similar-pairs: all pairs of concepts by the cosine of their English texts, most
// similar first. texts has language, concept, a vector of each text and optionally word; one_word_in lists the
// languages in which both concepts have one word.
func SimilarPairs(texts datasets.Table, options ...SimilarityOptions) datasets.Table {
	return similarPairs.Of(texts, options...)
}

var similarityMatrix = datasets.Define(datasets.Operation[MatrixOptions, matrixRow]{
	Name: "similarity-matrix", Version: 1,
	Title:    "similarity of the concepts of the most similar pairs, each with each",
	Citation: "measure of this project", Inputs: inTexts,
	Compute: func(_ context.Context, call *datasets.Call, o MatrixOptions) (out []matrixRow, err error) {
		_, english, err := readTexts(call, o.Vector)
		if err != nil {
			return nil, err
		}
		var names []string
		pairs := rankPairs(english)
		for _, p := range pairs[:min(o.Pairs, len(pairs))] {
			names = append(names, p.a, p.b)
		}
		names = unique(names, cmp.Compare[string])
		for i := range names { // move the concept closest to names[i] next to it
			for j := i + 2; j < len(names); j++ {
				if english.cosine(names[i], names[j]) > english.cosine(names[i], names[i+1]) {
					names[i+1], names[j] = names[j], names[i+1]
				}
			}
		}
		for _, a := range names {
			for _, b := range names {
				out = append(out, matrixRow{a, b, english.cosine(a, b), 1})
			}
		}
		return out, nil
	},
})

// SimilarityMatrix is the table operation similarity-matrix: the cosine of the English texts of every two concepts of
// the most similar pairs. Each concept is followed by the closest of those left, so that groups of similar concepts
// are blocks of a heat table. texts is that of [SimilarPairs].
func SimilarityMatrix(texts datasets.Table, options ...MatrixOptions) datasets.Table {
	return similarityMatrix.Of(texts, options...)
}

var distinctVectors = datasets.Define(datasets.Operation[SimilarityOptions, distinctRow]{
	Name: "distinct-vectors", Version: 2, Title: "number of different words and of different vectors by language",
	Citation: "measure of this project", Inputs: []datasets.Input{{Role: "in", About: inTexts[0].About,
		Columns: append(slices.Clone(cellColumns[1:]), datasets.Columns("word:text")...)}},
	Compute: func(_ context.Context, call *datasets.Call, o SimilarityOptions) (out []distinctRow, err error) {
		all, _, err := readTexts(call, o.Vector)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			var groups [][]string
			words := map[string]bool{}
			for _, name := range t.names {
				if t.words[name] == "" {
					continue
				}
				words[t.words[name]] = true
				i := slices.IndexFunc(groups, func(g []string) bool { return t.cosine(g[0], name) > 0.9999 })
				if i < 0 {
					groups = append(groups, []string{name})
				} else {
					groups[i] = append(groups[i], name)
				}
			}
			if len(groups) == 0 {
				continue
			}
			largest := slices.MaxFunc(groups, func(a, b []string) int { return len(a) - len(b) })
			out = append(out, distinctRow{t.language, len(words), len(groups), len(words) - len(groups), len(largest),
				strings.Join(largest[:min(8, len(largest))], ", ")})
		}
		return out, nil
	},
})

// DistinctVectors is the table operation distinct-vectors: how many different words the concepts have in each
// language, and how many different vectors an encoder returns for them (cosine above 0.9999 = the same vector). Fewer
// vectors than words means that the encoder does not distinguish some words. texts has language, concept, word and a
// vector; a blank word is left out.
func DistinctVectors(texts datasets.Table, options ...SimilarityOptions) datasets.Table {
	return distinctVectors.Of(texts, options...)
}

var nearestConcepts = datasets.Define(datasets.Operation[SimilarityOptions, nearestRow]{
	Name: "nearest-concepts", Version: 1,
	Title:    "similarity of texts to the English texts of their own and of other concepts",
	Citation: "measure of this project", Inputs: inTexts,
	Compute: func(_ context.Context, call *datasets.Call, o SimilarityOptions) (out []nearestRow, err error) {
		all, english, err := readTexts(call, o.Vector)
		if err != nil {
			return nil, err
		}
		for _, t := range all {
			row, others := nearestRow{Language: t.language}, 0
			for _, name := range t.names {
				if english.vectors[name] == nil {
					continue
				}
				best, nearest := math.Inf(-1), ""
				for _, other := range english.names {
					c := dot(t.vectors[name], english.vectors[other])
					if c > best {
						best, nearest = c, other
					}
					if other == name {
						row.Own += c
					} else {
						row.Others, others = row.Others+c, others+1
					}
				}
				if nearest == name {
					row.Nearest++
				}
				row.Concepts++
			}
			n := float64(row.Concepts)
			row.Own, row.Nearest, row.Others = row.Own/n, row.Nearest/n, row.Others/float64(others)
			out = append(out, row)
		}
		return out, nil
	},
})

// NearestConcepts is the table operation nearest-concepts: for each language the mean cosine of its texts with the
// English text of the same concept, that with the English texts of other concepts, and the share of texts whose
// closest English text is that of their own concept. texts is that of [SimilarPairs].
func NearestConcepts(texts datasets.Table, options ...SimilarityOptions) datasets.Table {
	return nearestConcepts.Of(texts, options...)
}

type conceptTexts struct {
	language string
	names    []string // concepts in table order
	vectors  map[string][]float64
	words    map[string]string
}

func (t *conceptTexts) cosine(a, b string) float64 { return dot(t.vectors[a], t.vectors[b]) }

// readTexts returns the texts by language, in the order of languages, and the English ones. Rows without a vector are
// left out.
func readTexts(call *datasets.Call, vector string) (all []*conceptTexts, english *conceptTexts, err error) {
	in := tabular.Read(call, "in")
	vectors, concepts, groups := in.Vectors(vector), in.Texts("concept"), in.Groups([]string{"language"})
	if in.Err != nil {
		return nil, nil, in.Err
	}
	words, width := in.Frame.Texts("word"), 0
	for _, g := range groups {
		t := &conceptTexts{language: g.By[0], vectors: map[string][]float64{}, words: map[string]string{}}
		for _, i := range g.Rows {
			if vectors[i] == nil {
				continue
			}
			if t.vectors[concepts[i]] != nil {
				return nil, nil, table.BadRow{Row: in.Frame.RowNumber(i), ID: concepts[i], Column: "concept",
					Reason: "another row has the same language and concept; select one text per concept"}
			}
			width = cmp.Or(width, len(vectors[i]))
			u, err := unit([][]float32{vectors[i]}, width)
			if err != nil {
				return nil, nil, table.BadRow{Row: in.Frame.RowNumber(i), ID: concepts[i], Column: vector,
					Reason: err.Error()}
			}
			t.names, t.vectors[concepts[i]] = append(t.names, concepts[i]), u[0]
			if words != nil {
				t.words[concepts[i]] = words[i]
			}
		}
		if len(t.names) > 0 {
			all = append(all, t)
		}
		if t.language == English && len(t.names) > 0 {
			english = t
		}
	}
	if english == nil {
		return nil, nil, fmt.Errorf("no text has language %s", English)
	}
	slices.SortFunc(all, func(a, b *conceptTexts) int { return compareLanguages(a.language, b.language) })
	return all, english, nil
}

type rankedPair struct {
	a, b   string
	cosine float64
}

// rankPairs returns all pairs of concepts, most similar first.
func rankPairs(t *conceptTexts) (out []rankedPair) {
	for i, b := range t.names {
		for _, a := range t.names[:i] {
			out = append(out, rankedPair{a, b, t.cosine(a, b)})
		}
	}
	slices.SortStableFunc(out, func(p, q rankedPair) int { return cmp.Compare(q.cosine, p.cosine) })
	return out
}
