package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/clip"
)

// clipBenchmark measures the way from prepared pixels, or token ids, to vectors.
var clipBenchmark = benchmark{
	about: "CLIP ViT-B/32's towers of images and texts, against transformers, which sorts texts by length; " +
		"-peer openvino, openvino-bfloat16 and onnxruntime compute the images there, and no texts",
	ints: map[string]int{"n": 32, "texts": 256, "repeat": 5, "batch": clip.DefaultBatch, "tokens": clip.DefaultTokens,
		"seed": 1},
	texts: map[string]string{"peer": "transformers", "precision": "float32"},
	run: func(s *session) error {
		n, texts := s.int("n"), s.int("texts")
		check(s.begin(n, texts, s.text("peer")))
		m := must(clip.Open(s.dir))
		e := must(clip.NewEncoder(s.device.Backend, m, clip.Options{Batch: s.int("batch"), Tokens: s.int("tokens"),
			DType: precisions[s.text("precision")]}))
		defer e.Close()
		pixels := must(s.rows("pixels.f32", n))
		var ids [][]int32
		check(s.json("texts.json", &ids))
		ctx := context.Background()
		projected := func(list []clip.Embedding, err error) ([][]float32, error) {
			var out [][]float32
			for _, v := range list {
				out = append(out, v.Projected)
			}
			return out, err
		}
		check(s.compare(encoding{part{"CLIP ViT-B/32, image tower", "images", n},
			fmt.Sprintf("%s, batch %d", s.text("precision"), s.int("batch")), "image", []int{4, 8, 16, 32},
			func() ([][]float32, error) { return projected(e.EncodeImages(ctx, pixels)) }}))
		if s.text("peer") != "transformers" {
			return nil
		}
		return s.compare(encoding{part{"CLIP ViT-B/32, text tower", "texts", texts},
			fmt.Sprintf("%d tokens per call", s.int("tokens")), "text", []int{8, 16, 32, 64, 128},
			func() ([][]float32, error) { return projected(e.EncodeTokens(ctx, ids)) }})
	},
}

// json reads a file of the temporary folder.
func (s *session) json(file string, to any) error {
	raw := must(os.ReadFile(filepath.Join(s.dir, file)))
	return json.Unmarshal(raw, to)
}
