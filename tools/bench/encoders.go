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
	about: "DINOv2-B/14 and SigLIP-B/16 (images and texts of 64 tokens), against transformers, and FID's Inception v3, " +
		"against torch-fidelity",
	ints: map[string]int{"n": 16, "texts": 64, "repeat": 5, "batch": vit.DefaultBatch, "seed": 1},
	run: func(s *session) error {
		n, texts, batch := s.int("n"), s.int("texts"), s.int("batch")
		if err := s.begin(n, texts); err != nil {
			return err
		}
		pixels, err := s.rows("pixels.f32", n)
		if err != nil {
			return err
		}
		large, err := s.rows("inception.f32", n)
		if err != nil {
			return err
		}
		var ids [][]int32
		if err := s.json("texts.json", &ids); err != nil {
			return err
		}
		var prepared []*vit.Prepared
		for _, p := range pixels {
			prepared = append(prepared, &vit.Prepared{Pixels: p})
		}
		ctx, backend := context.Background(), s.device.Backend
		images := func(name, command string, encode func() ([][]float32, error)) error {
			return s.compare(encoding{part{name, "images", n}, fmt.Sprintf("batch %d", batch), command,
				[]int{4, 8, 16}, encode})
		}

		dino, err := vit.Open(filepath.Join(s.dir, "dinov2"))
		if err != nil {
			return err
		}
		encoder, err := vit.NewEncoder(backend, dino, vit.Options{Batch: batch})
		if err != nil {
			return err
		}
		defer encoder.Close()
		if err := images("DINOv2-B/14 at 224 pixels", "dinov2", func() ([][]float32, error) {
			return vectorsOf(func(v vit.Embedding) []float32 { return v.Full })(encoder.Encode(ctx, prepared))
		}); err != nil {
			return err
		}

		siglip, err := clip.Open(filepath.Join(s.dir, "siglip"))
		if err != nil {
			return err
		}
		towers, err := clip.NewEncoder(backend, siglip, clip.Options{Batch: batch})
		if err != nil {
			return err
		}
		defer towers.Close()
		projected := vectorsOf(func(v clip.Embedding) []float32 { return v.Projected })
		if err := images("SigLIP-B/16, image tower", "image", func() ([][]float32, error) {
			return projected(towers.EncodeImages(ctx, pixels))
		}); err != nil {
			return err
		}
		if err := s.compare(encoding{part{"SigLIP-B/16, text tower", "texts", texts},
			fmt.Sprintf("%d tokens per call", clip.DefaultTokens), "text", []int{4, 8, 16, 32},
			func() ([][]float32, error) { return projected(towers.EncodeTokens(ctx, ids)) }}); err != nil {
			return err
		}

		fid, err := inception.Open(filepath.Join(s.dir, "inception"))
		if err != nil {
			return err
		}
		network, err := inception.NewEncoder(backend, fid, inception.Options{Batch: batch})
		if err != nil {
			return err
		}
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
