// Command bench times CLIPSeg in rd64-refined's shape (ViT-B/16, pictures of 352 pixels) against transformers, side by side on
// the processor in float32.
//
//	PYTHON=python3 go run ./gomlxmodels/clipseg/bench [-n 8] [-repeat 5] [-batch 4]
//
// It needs a Python with torch and transformers. Both sides hold the same random network and one prompt, whose vector is
// computed once, use the same number of threads and take turns. Timed is the way from prepared pixels to logits; loading and
// compiling are not. The peer runs under inference_mode with its best batch, once as the library has it and once without the
// layers that change nothing, which this project never runs. The logits of both are compared in the end.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/device"
	"antipode/internal/bench/peer"
)

//go:embed peer.py
var peerSource string

var (
	n      = flag.Int("n", 8, "pictures a run segments")
	repeat = flag.Int("repeat", 5, "runs of each side")
	batch  = flag.Int("batch", clipseg.DefaultBatch, "pictures in a call of this project's encoder")
	seed   = flag.Uint64("seed", 1, "seed of network and pictures")
)

func main() { peer.Main(run) }

func run(dir string) error {
	b, err := peer.Start(dir, peerSource, strconv.FormatUint(*seed, 10), strconv.Itoa(*n))
	if err != nil {
		return err
	}
	defer b.Stop()
	d, err := device.Open(device.XLACPU, "")
	if err != nil {
		return err
	}
	m, err := clipseg.Open(dir)
	if err != nil {
		return err
	}
	e, err := clipseg.NewEncoder(d.Backend, m, clipseg.Options{Batch: *batch})
	if err != nil {
		return err
	}
	defer e.Close()
	flat, err := peer.Floats(filepath.Join(dir, "pixels.f32"))
	if err != nil {
		return err
	}
	pictures := make([]clipseg.Picture, *n)
	for i := range pictures {
		pictures[i] = clipseg.Picture{Pixels: flat[i*len(flat) / *n : (i+1)*len(flat) / *n], Prompts: [][]int32{{49406, 320, 2368, 49407}}}
	}
	var maps [][]clipseg.Map
	ours := func() (float64, error) {
		begin := time.Now()
		maps, err = e.Segment(context.Background(), pictures)
		return time.Since(begin).Seconds(), err
	}
	first, err := ours() // loads, compiles, warms up
	if err != nil {
		return err
	}
	for _, mode := range []string{"whole", "cut"} {
		best, err := b.Best([]int{1, 2, 4, 8}, mode)
		if err != nil {
			return err
		}
		err = peer.Turns("CLIPSeg rd64-refined, 352 pixels, peer "+mode, "pictures", *n, *repeat,
			ours, fmt.Sprintf("antipode, %s, batch %d (loading, compiling and the first run %.1f s)", d.Kind, *batch, first),
			func() (float64, error) { return b.Once(mode, best) }, fmt.Sprintf("%s, best batch %d", b.Name, best))
		if err != nil {
			return err
		}
	}
	var got []float32
	for _, m := range maps {
		got = append(got, m[0].Logits...)
	}
	return peer.Same("logits", got, filepath.Join(dir, "logits.f32"))
}
