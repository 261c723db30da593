package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/textgen"
)

// blipBenchmark measures the prefill, from prepared pixels to the logits of the first token, the tokens after it, and
// whole captions.
var blipBenchmark = benchmark{
	about: "captions of BLIP base, greedy, -tokens each, all images in one batch, against transformers; " +
		"-peer openvino, openvino-bfloat16 and onnxruntime compute the images' features there",
	ints:  map[string]int{"n": 8, "tokens": 20, "repeat": 3, "seed": 1},
	texts: map[string]string{"peer": "transformers", "precision": "float32"},
	run: func(s *session) error {
		n, tokens := s.int("n"), max(2, s.int("tokens"))
		check(s.begin(n, tokens, s.text("peer")))
		m := must(blip.Open(s.dir))
		c := must(blip.NewCaptioner(s.device.Backend, m, textgen.CaptionerOptions{Batch: n,
			DType: precisions[s.text("precision")]}))
		defer c.Close()
		pixels := must(s.rows("pixels.f32", n))
		var requests []textgen.ImageRequest
		for _, p := range pixels {
			requests = append(requests,
				textgen.ImageRequest{Pixels: p, Prompt: []int32{int32(m.Config().Text.StartToken)}})
		}
		var captions [][]textgen.Text
		ours := func() ([]float64, error) {
			begin := time.Now()
			var first time.Time
			options := textgen.Options{MaxTokens: tokens, MinTokens: tokens, Trace: func(step int, _ [][]float32) {
				if step == 0 {
					first = time.Now()
				}
			}}
			captions = must(c.Caption(context.Background(), requests, options))
			return []float64{first.Sub(begin).Seconds(), time.Since(first).Seconds(), time.Since(begin).Seconds()}, nil
		}
		title := fmt.Sprintf("BLIP base, 384 pixels, batch %d, greedy: ", n)
		check(s.parts([]part{
			{title + "images to the first token", "images", n},
			{title + "tokens after the first", "tokens", n * (tokens - 1)},
			{fmt.Sprintf("%scaptions of %d tokens", title, tokens), "captions", n},
		}, side{"antipode, " + s.device.Kind + ", " + s.text("precision"), ours}))
		var want [][]int32
		check(s.json("tokens.json", &want))
		equal := 0
		for i := range captions {
			if slices.Equal(captions[i][0].Tokens, want[i]) {
				equal++
			}
		}
		fmt.Printf("  %d of %d captions are equal, token for token\n", equal, n)
		if 2*equal < n { // near ties of a random network may be decided differently
			return fmt.Errorf("the captions of the two sides differ")
		}
		return nil
	},
}
