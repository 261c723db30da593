package captiontest

import (
	"fmt"
	"slices"
	"testing"

	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
)

// Alone draws five captions of each picture at several places, with several neighbours: not a bit of them may differ.
func Alone(t *testing.T, c *captioner.Captioner, pictures [][]float32, start int32) {
	s := decode.Settings{MaxTokens: 10, Sample: true, Number: 5, TopP: 0.9}
	var requests []captioner.Request
	for i, p := range pictures {
		r := captioner.Request{Pixels: p, Picture: fmt.Sprint(i), Prompt: []int32{start}}
		for k := range s.Number {
			r.Seeds = append(r.Seeds, uint64(50*i+k))
		}
		requests = append(requests, r)
	}
	t.Helper()
	whole, err := c.Caption(t.Context(), requests, s)
	if err != nil {
		t.Fatal(err)
	}
	captions := 0
	last := len(pictures) - 1
	for _, order := range [][]int{{0}, {1}, {last}, {last, 0, 1}, {1, last, 0, 1}} {
		var list []captioner.Request
		for _, i := range order {
			list = append(list, requests[i])
		}
		again, err := c.Caption(t.Context(), list, s)
		if err != nil {
			t.Fatal(err)
		}
		for at, i := range order {
			for k, text := range again[at] {
				captions++
				if want := whole[i][k]; !slices.Equal(text.Tokens, want.Tokens) || text.LogProb != want.LogProb {
					t.Errorf("picture %d in %v, caption %d: %+v, among all %+v", i, order, k, text, want)
				}
			}
		}
	}
	t.Logf("%d captions drawn again at other places, among others: not a bit differs", captions)
}
