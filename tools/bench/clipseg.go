package main

import (
	"context"
	"fmt"

	"antipode/gomlxmodels/clipseg"
)

// clipsegBenchmark measures the way from prepared pixels to logits of one prompt, whose embedding is computed once.
var clipsegBenchmark = benchmark{
	about: "CLIPSeg in rd64-refined's shape (ViT-B/16, images of 352 pixels), against transformers; -peer cut " +
		"removes the layers that have no influence, which this project never runs",
	ints:  map[string]int{"n": 8, "repeat": 5, "batch": clipseg.DefaultBatch, "seed": 1},
	texts: map[string]string{"peer": "whole"},
	run: func(s *session) error {
		n, mode := s.int("n"), s.text("peer")
		check(s.begin(n))
		m := must(clipseg.Open(s.dir))
		e := must(clipseg.NewEncoder(s.device.Backend, m, clipseg.Options{Batch: s.int("batch")}))
		defer e.Close()
		pixels := must(s.rows("pixels.f32", n))
		images := make([]clipseg.Image, n)
		for i := range images {
			images[i] = clipseg.Image{Pixels: pixels[i], Prompts: [][]int32{{49406, 320, 2368, 49407}}}
		}
		return s.compare(encoding{part{"CLIPSeg rd64-refined, 352 pixels, peer " + mode, "images", n},
			fmt.Sprintf("batch %d", s.int("batch")), mode, []int{1, 2, 4, 8},
			func() (logits [][]float32, err error) {
				maps, err := e.Segment(context.Background(), images)
				for _, m := range maps {
					logits = append(logits, m[0].Logits)
				}
				return logits, err
			}})
	},
}
