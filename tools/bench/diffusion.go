package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"antipode/gomlxmodels/diffusion"
)

// steps of an image.
const steps = 3

// diffusionBenchmark measures the last denoising step, the UNet's answer to prompt and negative prompt as a batch of
// two, and the way from latents to pixels.
var diffusionBenchmark = benchmark{
	about: "Stable Diffusion 1.5's UNet and decoder, against diffusers with channels last; needs 2 GB of disk and 12 " +
		"GB of memory for both sides; -peer openvino, openvino-bfloat16 and onnxruntime compute the two there",
	texts: map[string]string{"peer": "diffusers", "precision": "float32"},
	ints:  map[string]int{"size": 512, "repeat": 3, "seed": 1},
	run: func(s *session) error {
		size := s.int("size")
		check(s.begin(size, steps, s.text("peer")))
		m := must(diffusion.Open(filepath.Join(s.dir, "pipeline"), diffusion.OpenOptions{}))
		sampler := must(diffusion.NewSampler(s.device.Backend, m,
			diffusion.Options{DType: precisions[s.text("precision")]}))
		defer sampler.Close()
		request := diffusion.Request{Prompt: "a small house by the sea", Negative: "blurry",
			Seed:  uint64(s.int("seed")),
			Steps: steps, Width: size, Height: size}
		var pixels []uint8
		ours := func() ([]float64, error) {
			var unet, decoder float64
			last := time.Now()
			list, err := sampler.Generate(context.Background(), []diffusion.Request{request},
				func(p diffusion.Progress) {
					if seconds := time.Since(last).Seconds(); p.Result != nil {
						decoder = seconds
					} else {
						unet = seconds
					}
					last = time.Now()
				})
			if err == nil {
				pixels = list[0].Image.Pix
			}
			return []float64{unet, decoder}, err
		}
		title := fmt.Sprintf("Stable Diffusion 1.5, %d×%d: ", size, size)
		check(s.parts([]part{{title + "UNet, prompt and negative prompt", "steps", 1},
			{title + "decoder", "images", 1}}, side{"antipode, " + s.device.Kind + ", " + s.text("precision"), ours}))
		mine := must(memory("self", "VmHWM:"))
		fmt.Printf("  peak memory of the process: antipode %.0f MiB, peer %.0f MiB\n", mine, s.last.MiB)
		var rgb []float32
		for i, v := range pixels {
			if i%4 < 3 {
				rgb = append(rgb, float32(v))
			}
		}
		return s.same([][]float32{rgb}, s.either(2./128, 0.3)) // two levels of 255
	},
}
