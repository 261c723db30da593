package concepts

import (
	"fmt"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

// BenchmarkScore scores one model of the paper's size: 193 concepts, 7 languages, 12 images, 768 numbers, 1000
// bootstrap resamples.
func BenchmarkScore(b *testing.B) {
	rng := near.Rand(b, 5)
	set := Set{Model: "m", Images: map[Cell][]Image{}, Words: map[Cell][]float32{}}
	for k := range 193 {
		set.Words[Cell{English, fmt.Sprint(k)}] = vector(rng, nil, 1, 512)
		for l := range 7 {
			for i := range 12 {
				v := vector(rng, nil, 1, 768)
				c := Cell{[]string{English, "es", "de", "zh", "ja", "he", "id"}[l], fmt.Sprint(k)}
				set.Images[c] = append(set.Images[c], Image{fmt.Sprint(i), v, v[:512]})
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = must.Get(ComputeConceptScores(set, Options{M: 100, Intervals: metrics.Intervals{Resamples: 1000}}))(b)
	}
}
