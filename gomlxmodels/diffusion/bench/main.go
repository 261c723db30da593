// Command bench times Stable Diffusion 1.5's UNet and decoder at 512×512 pixels against diffusers, side by side on the processor in
// float32, with the peak memory of both.
//
//	PYTHON=python3 go run ./gomlxmodels/diffusion/bench [-size 512] [-repeat 3]
//
// It needs a Python with torch, transformers and diffusers, 2 GB of disk, and memory for both sides, 5 and 6 GB and more. Both hold the same random
// pipeline of 1.5's size, use the same number of threads and take turns at sampling a picture in three steps. Timed are the last
// step, which is the UNet's answer to prompt and negative prompt as one batch of two with the sampler's sums, and the way from
// latents to pixels; loading, compiling, texts and noise are not. The peer runs under inference_mode with channels last. The
// pictures of both are compared in the end.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"flag"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/diffusion"
	"antipode/internal/bench/peer"
)

//go:embed peer.py
var peerSource string

var (
	size   = flag.Int("size", 512, "side of the picture, in pixels")
	repeat = flag.Int("repeat", 3, "pictures of each side")
	seed   = flag.Uint64("seed", 1, "seed of networks and noise")
)

const steps = 3

func main() { peer.Main(run) }

func run(dir string) error {
	b, err := peer.Start(dir, peerSource, strconv.FormatUint(*seed, 10), strconv.Itoa(*size), strconv.Itoa(steps))
	if err != nil {
		return err
	}
	defer b.Stop()
	d, err := device.Open(device.XLACPU, "")
	if err != nil {
		return err
	}
	m, err := diffusion.Open(filepath.Join(dir, "pipeline"), diffusion.OpenOptions{})
	if err != nil {
		return err
	}
	s, err := diffusion.NewSampler(d.Backend, m, diffusion.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	begin := time.Now()
	if _, err := sample(s); err != nil { // loads, compiles, warms up
		return err
	}
	first := time.Since(begin).Seconds()
	warm, err := b.Once("unet")
	if err != nil {
		return err
	}
	fmt.Printf("first picture: antipode %.1f s with loading and compiling, %s %.1f s a step\n", first, b.Name, warm)
	var ours, theirs []times
	for range *repeat {
		a, err := sample(s)
		if err != nil {
			return err
		}
		t := times{}
		if t.unet, err = b.Once("unet"); err == nil {
			t.decoder, err = b.Once("decoder")
		}
		if err != nil {
			return err
		}
		ours, theirs = append(ours, *a), append(theirs, t)
	}
	for _, part := range []struct {
		name string
		of   func(times) float64
	}{{"UNet, prompt and negative prompt", func(t times) float64 { return t.unet }}, {"decoder", func(t times) float64 { return t.decoder }}} {
		err := peer.Turns(fmt.Sprintf("Stable Diffusion 1.5, %d×%d, %s", *size, *size, part.name), "call", 1, *repeat,
			told(ours, part.of), "antipode, "+d.Kind, told(theirs, part.of), b.Name)
		if err != nil {
			return err
		}
		fmt.Printf("  medians: %.2f s against %.2f s\n", median(ours, part.of), median(theirs, part.of))
	}
	got := make([]float32, 0, 3**size**size)
	for i, v := range ours[0].pixels {
		if i%4 < 3 {
			got = append(got, float32(v))
		}
	}
	memory, err := peer.Floats(filepath.Join(dir, "memory.f32"))
	if err != nil {
		return err
	}
	fmt.Printf("  peak memory of the process: antipode %s, %s %.0f MiB\n", peak(), b.Name, memory[0])
	return near(got, filepath.Join(dir, "picture.f32"))
}

// times are the seconds of a picture's last step and of its decoding.
type times struct {
	unet, decoder float64
	pixels        []uint8
}

// sample makes the picture.
func sample(s *diffusion.Sampler) (*times, error) {
	var t times
	last := time.Now()
	request := diffusion.Request{Prompt: "a small house by the sea", Negative: "blurry", Seed: *seed, Steps: steps, Width: *size, Height: *size}
	list, err := s.Generate(context.Background(), []diffusion.Request{request}, func(p diffusion.Progress) {
		seconds := time.Since(last).Seconds()
		if p.Picture != nil {
			t.decoder = seconds
		} else {
			t.unet = seconds
		}
		last = time.Now()
	})
	if err != nil {
		return nil, err
	}
	t.pixels = list[0].Image.Pix
	return &t, nil
}

// told gives what was measured, one after the other.
func told(list []times, of func(times) float64) func() (float64, error) {
	return func() (float64, error) {
		t := list[0]
		list = list[1:]
		return of(t), nil
	}
}

func median(list []times, of func(times) float64) float64 {
	var v []float64
	for _, t := range list {
		v = append(v, of(t))
	}
	return peer.Quantile(v, 0.5)
}

// near holds the picture to the peer's.
func near(got []float32, file string) error {
	want, err := peer.Floats(file)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d values, the peer has %d", len(got), len(want))
	}
	worst := float32(0)
	for i, v := range got {
		worst = max(worst, v-want[i], want[i]-v)
	}
	fmt.Printf("  worst difference of the pictures: %.0f/255\n", worst)
	if worst > 2 {
		return fmt.Errorf("the two sides do not make the same picture")
	}
	return nil
}

// peak is the most memory this process has held, where the system says it.
func peak() string {
	text, _ := os.ReadFile("/proc/self/status")
	if m := regexp.MustCompile(`VmHWM:\s*(\d+) kB`).FindSubmatch(text); m != nil {
		kB, _ := strconv.Atoi(string(m[1]))
		return fmt.Sprintf("%d MiB", kB>>10)
	}
	return "unknown"
}
