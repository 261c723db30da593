package clipscore_test

import (
	"fmt"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/clipscore"
	"antipode/metrics/internal/tabulartest"
)

// CLIP's vectors of images and prompts are made by gomlxmodels.Embed and EmbedText.
func ExampleScores() {
	images := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("language", []string{"en", "en", "hi", "hi"}),
		table.TextColumn("prompt_id", []string{"p1", "p2", "p1", "p2"}),
		table.VectorColumn("clip_image", [][]float32{{3, 4}, {1, 0}, {0, 1}, nil}),
		table.VectorColumn("clip_text", [][]float32{{1, 0}, {1, 0}, {3, 4}, {1, 0}}),
	}})
	tabulartest.Show(clipscore.Scores(images, clipscore.Options{By: []string{"language"},
		Intervals: metrics.Intervals{Resamples: 500}}),
		"language", "clip_score", "clip_score_low", "clip_score_high", "n_used", "n_missing")
	// Output:
	// language  clip_score  clip_score_low  clip_score_high  n_used  n_missing
	// en                80              60              100       2          0
	// hi                80                                        1          1
}

func ExampleCosine() {
	cosine, err := clipscore.Cosine([]float32{3, 4}, []float32{1, 0})
	fmt.Printf("%.2f %v\n", cosine, err)
	// Output: 0.60 <nil>
}
