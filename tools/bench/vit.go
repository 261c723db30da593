package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"antipode/gomlxmodels/vit"
)

// vitBenchmark measures the way from prepared pixels to the three vectors of an image.
var vitBenchmark = benchmark{
	about: "decomposed embedding (full, object only, background only) with ViT-B/16, against timm's three masked " +
		"passes; -peer drop removes tokens, image by image, bfloat16 computes in bfloat16; openvino, " +
		"openvino-bfloat16 and onnxruntime run the three passes there",
	ints:  map[string]int{"n": 16, "repeat": 5, "batch": vit.DefaultBatch, "seed": 1},
	texts: map[string]string{"peer": "masked", "precision": "float32"},
	run: func(s *session) error {
		n, mode := s.int("n"), s.text("peer")
		images := must(ellipses(s, n))
		check(s.begin(n))
		m := must(vit.Open(s.dir))
		e := must(vit.NewEncoder(s.device.Backend, m, vit.Options{Batch: s.int("batch"),
			DType: precisions[s.text("precision")]}))
		defer e.Close()
		batches := slices.DeleteFunc([]int{4, 8, 16}, func(b int) bool { return b > max(n, 4) })
		return s.compare(encoding{part{"decomposed embedding, ViT-B/16, peer " + mode, "images", n},
			fmt.Sprintf("%s, batch %d", s.text("precision"), e.Batch()), mode, batches, func() ([][]float32, error) {
				list, err := e.Encode(context.Background(), images)
				var vectors [3][][]float32
				for _, v := range list {
					for i, of := range [][]float32{v.Full, v.ObjectOnly, v.BackgroundOnly} {
						vectors[i] = append(vectors[i], of)
					}
				}
				return slices.Concat(vectors[:]...), err
			}})
	},
}

// ellipses returns images of noise with elliptic masks that cover at least a quarter of most images, as GeoDE's objects
// do, and writes them for the peer.
func ellipses(s *session, n int) (images []*vit.Prepared, err error) {
	r := rand.New(rand.NewPCG(uint64(s.int("seed")), 1))
	var pixels [][]float32
	var objects []byte
	for range n {
		p := &vit.Prepared{Pixels: noise(r, 3*224*224), Object: make([]bool, 196)}
		cx, cy, rx, ry := 4+6*r.Float64(), 4+6*r.Float64(), 3+3*r.Float64(), 3+3*r.Float64()
		for i := range p.Object {
			dx, dy := (float64(i%14)-cx)/rx, (float64(i/14)-cy)/ry
			p.Object[i] = dx*dx+dy*dy < 1
			objects = append(objects, map[bool]byte{true: 1}[p.Object[i]])
		}
		images, pixels = append(images, p), append(pixels, p.Pixels)
	}
	check(s.write("pixels.f32", pixels...))
	return images, os.WriteFile(filepath.Join(s.dir, "objects.u8"), objects, 0o600)
}

// noise returns n normally distributed numbers.
func noise(r *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}
