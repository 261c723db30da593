package captiontest

import (
	"fmt"
	"slices"
	"testing"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
)

// Alone samples five captions of each image at several batch positions and with different other images. They must be
// bit-identical.
func Alone(t *testing.T, c *textgen.Captioner, images [][]float32, start int32) {
	s := textgen.Options{MaxTokens: 10, Sample: true, Number: 5, TopP: 0.9}
	var requests []textgen.ImageRequest
	for i, p := range images {
		r := textgen.ImageRequest{Pixels: p, Image: fmt.Sprint(i), Prompt: []int32{start}}
		for k := range s.Number {
			r.Seeds = append(r.Seeds, uint64(50*i+k))
		}
		requests = append(requests, r)
	}
	t.Helper()
	whole := must.Get(c.Caption(t.Context(), requests, s))(t)
	captions := 0
	last := len(images) - 1
	for _, order := range [][]int{{0}, {1}, {last}, {last, 0, 1}, {1, last, 0, 1}} {
		var list []textgen.ImageRequest
		for _, i := range order {
			list = append(list, requests[i])
		}
		again := must.Get(c.Caption(t.Context(), list, s))(t)
		for at, i := range order {
			for k, text := range again[at] {
				captions++
				if want := whole[i][k]; !slices.Equal(text.Tokens, want.Tokens) || text.LogProb != want.LogProb {
					t.Errorf("image %d in %v, caption %d: %+v, among all %+v", i, order, k, text, want)
				}
			}
		}
	}
	t.Logf("%d captions sampled again at other batch positions: bit-identical", captions)
}
