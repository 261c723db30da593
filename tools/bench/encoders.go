package main

import (
	"context"
	"fmt"
	"path/filepath"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/inception"
	"antipode/gomlxmodels/vit"
)

// encodersBenchmark measures the way from prepared pixels, or token ids, to vectors of whole images and texts.
var encodersBenchmark = benchmark{
	about: "DINOv2-B/14 and SigLIP-B/16 (images, texts of 64 tokens) against transformers, FID's Inception v3 " +
		"against torch-fidelity",
	ints: map[string]int{"n": 16, "texts": 64, "repeat": 5, "batch": vit.DefaultBatch, "seed": 1},
	run: func(s *session) error {
		n, texts, batch := s.int("n"), s.int("texts"), s.int("batch")
		check(s.begin(n, texts))
		pixels := must(s.rows("pixels.f32", n))
		large := must(s.rows("inception.f32", n))
		var ids [][]int32
		check(s.json("texts.json", &ids))
		var prepared []*vit.Prepared
		for _, p := range pixels {
			prepared = append(prepared, &vit.Prepared{Pixels: p})
		}
		ctx, backend := context.Background(), s.device.Backend
		images := func(name, command string, encode func() ([][]float32, error)) error {
			return s.compare(encoding{part{name, "images", n}, fmt.Sprintf("batch %d", batch), command,
				[]int{4, 8, 16}, encode})
		}

		dino := must(vit.Open(filepath.Join(s.dir, "dinov2")))
		encoder := must(vit.NewEncoder(backend, dino, vit.Options{Batch: batch}))
		defer encoder.Close()
		check(images("DINOv2-B/14 at 224 pixels", "dinov2", func() ([][]float32, error) {
			return vectorsOf(func(v vit.Embedding) []float32 { return v.Full })(encoder.Encode(ctx, prepared))
		}))

		siglip := must(clip.Open(filepath.Join(s.dir, "siglip")))
		towers := must(clip.NewEncoder(backend, siglip, clip.Options{Batch: batch}))
		defer towers.Close()
		projected := vectorsOf(func(v clip.Embedding) []float32 { return v.Projected })
		check(images("SigLIP-B/16, image tower", "image", func() ([][]float32, error) {
			return projected(towers.EncodeImages(ctx, pixels))
		}))
		check(s.compare(encoding{part{"SigLIP-B/16, text tower", "texts", texts},
			fmt.Sprintf("%d tokens per call", clip.DefaultTokens), "text", []int{4, 8, 16, 32},
			func() ([][]float32, error) { return projected(towers.EncodeTokens(ctx, ids)) }}))

		fid := must(inception.Open(filepath.Join(s.dir, "inception")))
		network := must(inception.NewEncoder(backend, fid, inception.Options{Batch: batch}))
		defer network.Close()
		return images("Inception v3 of FID", "inception", func() ([][]float32, error) {
			return vectorsOf(func(v inception.Embedding) []float32 { return v.Pooled })(network.Encode(ctx, large))
		})
	},
}

// vectorsOf returns a function that takes the results of an encoder and returns a vector of each.
func vectorsOf[E any](of func(E) []float32) func([]E, error) ([][]float32, error) {
	return func(list []E, err error) ([][]float32, error) {
		var out [][]float32
		for _, v := range list {
			out = append(out, of(v))
		}
		return out, err
	}
}
