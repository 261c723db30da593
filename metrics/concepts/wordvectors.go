package concepts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics/internal/tabular"
)

// WordVectorOptions are the options of [WordVectors].
type WordVectorOptions struct {
	Concepts []string `json:"concepts,omitempty" required:"true" help:"text columns that name the concepts in an image"`
	Vector   string   `json:"vector,omitempty" default:"full" help:"vector column of the images"`
}

// wordVectorRow is a row of the result of [WordVectors].
type wordVectorRow struct {
	ID       string    `column:"id"`
	Concept  string    `column:"concept"`
	Language string    `column:"language"`
	Vector   []float32 `column:"clip_text"`
}

var wordVectors = datasets.Define(datasets.Operation[WordVectorOptions, wordVectorRow]{
	Name: "word-vectors", Version: 1,
	Title:    "vectors of concept words from images: a stand-in for a text encoder",
	Citation: "stand-in of this project",
	Inputs:   []datasets.Input{{Role: "in", About: "images with vectors and text columns that name what they show"}},
	Compute:  computeWordVectors,
})

// WordVectors returns a vector for each concept's English word: the sum of the vectors of the images that show the
// concept. It replaces the text encoder where there is no joint encoder of texts and images; with CLIP use
// gomlxmodels.EmbedText.
func WordVectors(images datasets.Table, options ...WordVectorOptions) datasets.Table {
	return wordVectors.Of(images, options...)
}

func computeWordVectors(_ context.Context, call *datasets.Call, o WordVectorOptions) (out []wordVectorRow, err error) {
	in := tabular.Read(call, "in")
	vectors := in.Vectors(o.Vector)
	sums := map[string][]float32{}
	for _, name := range o.Concepts {
		for i, concept := range in.Texts(name) {
			v := vectors[i]
			if v == nil {
				continue
			}
			if sums[concept] == nil {
				sums[concept] = make([]float32, len(v))
			}
			if len(sums[concept]) != len(v) {
				return nil, fmt.Errorf("row %d: the vector has %d numbers, others have %d", i+1, len(v),
					len(sums[concept]))
			}
			for j, x := range v {
				sums[concept][j] += x
			}
		}
	}
	if in.Err != nil {
		return nil, in.Err
	}
	for concept, v := range sums {
		out = append(out, wordVectorRow{ID: concept, Concept: concept, Language: English, Vector: v})
	}
	slices.SortFunc(out, func(a, b wordVectorRow) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}
