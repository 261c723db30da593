// Command bench times CLIP ViT-B/32's two towers against transformers, side by side on the processor in float32.
//
//	PYTHON=python3 go run ./gomlxmodels/clip/bench [-pictures 32] [-texts 256] [-repeat 5]
//
// It needs a Python with torch and transformers. Both sides hold the same random network, use the same number of threads and
// take turns. Timed is the way from prepared pixels, or token ids, to vectors; loading and compiling are not. The peer runs
// under inference_mode with its best batch, and sorts texts by length. The vectors of both are compared in the end.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/device"
	"antipode/internal/bench/peer"
)

//go:embed peer.py
var peerSource string

var (
	pictures = flag.Int("pictures", 32, "pictures a run embeds")
	texts    = flag.Int("texts", 256, "texts a run embeds")
	repeat   = flag.Int("repeat", 5, "runs of each side")
	batch    = flag.Int("batch", clip.DefaultBatch, "pictures in a call of this project's encoder")
	tokens   = flag.Int("tokens", clip.DefaultTokens, "tokens of texts in a call of this project's encoder")
	seed     = flag.Uint64("seed", 1, "seed of network and inputs")
)

func main() { peer.Main(run) }

func run(dir string) error {
	b, err := peer.Start(dir, peerSource, strconv.FormatUint(*seed, 10), strconv.Itoa(*pictures), strconv.Itoa(*texts))
	if err != nil {
		return err
	}
	defer b.Stop()
	d, err := device.Open(device.XLACPU, "")
	if err != nil {
		return err
	}
	m, err := clip.Open(dir)
	if err != nil {
		return err
	}
	e, err := clip.NewEncoder(d.Backend, m, clip.Options{Batch: *batch, Tokens: *tokens})
	if err != nil {
		return err
	}
	defer e.Close()
	flat, err := peer.Floats(filepath.Join(dir, "pixels.f32"))
	if err != nil {
		return err
	}
	var pixels [][]float32
	for i := range *pictures {
		pixels = append(pixels, flat[i*len(flat) / *pictures:(i+1)*len(flat) / *pictures])
	}
	var ids [][]int32
	raw, err := os.ReadFile(filepath.Join(dir, "texts.json"))
	if err == nil {
		err = json.Unmarshal(raw, &ids)
	}
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, tower := range []struct {
		name, unit string
		n          int
		size       string
		batches    []int
		encode     func() ([]clip.Embedding, error)
	}{
		{"image", "pictures", *pictures, fmt.Sprintf("batch %d", *batch), []int{4, 8, 16, 32}, func() ([]clip.Embedding, error) { return e.EncodeImages(ctx, pixels) }},
		{"text", "texts", *texts, fmt.Sprintf("%d tokens a call", *tokens), []int{8, 16, 32, 64, 128}, func() ([]clip.Embedding, error) { return e.EncodeTokens(ctx, ids) }},
	} {
		best, err := b.Best(tower.batches, tower.name)
		if err != nil {
			return err
		}
		begin := time.Now()
		if _, err := tower.encode(); err != nil { // loads, compiles, warms up
			return err
		}
		first := time.Since(begin).Seconds()
		var last []clip.Embedding
		ours := func() (float64, error) {
			begin := time.Now()
			last, err = tower.encode()
			return time.Since(begin).Seconds(), err
		}
		err = peer.Turns("CLIP ViT-B/32, "+tower.name+" tower", tower.unit, tower.n, *repeat,
			ours, fmt.Sprintf("antipode, %s, %s (loading, compiling and the first run %.1f s)", d.Kind, tower.size, first),
			func() (float64, error) { return b.Once(tower.name, best) }, fmt.Sprintf("%s, best batch %d", b.Name, best))
		if err != nil {
			return err
		}
		var got []float32
		for _, v := range last {
			got = append(got, v.Projected...)
		}
		if err := peer.Same("vectors", got, filepath.Join(dir, tower.name+".f32")); err != nil {
			return err
		}
	}
	return nil
}
