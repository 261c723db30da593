// Command bench times sentence embedding against sentence-transformers, side by side on the processor in float32.
//
//	go run ./gomlxmodels/textenc/bench [-model mpnet] [-n 128] [-repeat 5] [-tokens 512]
//
// It needs a Python with torch, transformers and sentence-transformers: python3, or the one that PYTHON names. Both sides hold
// the same random network and the same random texts of 8 to 64 tokens, use the same number of threads and take turns
// (A B A B …). Timed is the way from token ids to vectors of n texts; loading, compiling and tokenizing are not. The peer sorts
// texts by length, as it always does, and runs under inference_mode with the best of batch 8, 16, 32 and 64, found before. The
// vectors of both are compared in the end.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/textenc"
	"antipode/internal/bench/peer"
)

//go:embed peer.py
var peerSource string

var (
	shape  = flag.String("model", "mpnet", "shape of the network: mpnet, bert (768 wide, 12 layers), xlmr-large")
	n      = flag.Int("n", 128, "texts a run embeds")
	repeat = flag.Int("repeat", 5, "runs of each side")
	tokens = flag.Int("tokens", textenc.DefaultTokens, "tokens in a call of this project's encoder")
	short  = flag.Int("shortest", 8, "tokens of the shortest text")
	long   = flag.Int("longest", 64, "tokens of the longest text")
	seed   = flag.Uint64("seed", 1, "seed of network and texts")
)

func main() { peer.Main(run) }

func run(dir string) error {
	if *n < 1 || *repeat < 1 || *short < 3 || *long < *short || *long > 512 {
		return fmt.Errorf("-n %d, -repeat %d, -shortest %d, -longest %d: n and repeat must be at least 1, lengths from 3 to 512", *n, *repeat, *short, *long)
	}
	r := rand.New(rand.NewPCG(*seed, 1))
	texts := make([][]int32, *n)
	for i := range texts {
		texts[i] = make([]int32, *short+r.IntN(*long-*short+1))
		for j := range texts[i] {
			texts[i][j] = int32(5 + r.IntN(30000))
		}
	}
	text, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "texts.json"), text, 0o600); err != nil {
		return err
	}
	b, err := peer.Start(dir, peerSource, strconv.FormatUint(*seed, 10), *shape)
	if err != nil {
		return err
	}
	defer b.Stop()
	start := time.Now()
	d, err := device.Open(device.XLACPU, "")
	if err != nil {
		return err
	}
	m, err := textenc.Open(dir, textenc.OpenOptions{})
	if err != nil {
		return err
	}
	e, err := textenc.NewEncoder(d.Backend, m, textenc.Options{Tokens: *tokens})
	if err != nil {
		return err
	}
	defer e.Close()
	var last []textenc.Embedding
	once := func() (seconds float64, err error) {
		start := time.Now()
		last, err = e.EncodeIDs(context.Background(), texts)
		return time.Since(start).Seconds(), err
	}
	if _, err := once(); err != nil { // loads, compiles, warms up
		return err
	}
	loading := time.Since(start)

	best, err := b.Best([]int{8, 16, 32, 64}, "run")
	if err != nil {
		return err
	}
	err = peer.Turns(fmt.Sprintf("sentence embedding, %s, texts of %d to %d tokens", *shape, *short, *long), "texts", *n, *repeat,
		once, fmt.Sprintf("antipode, %s, %d tokens a call (loading, compiling and the first run %.1f s)", d.Kind, *tokens, loading.Seconds()),
		func() (float64, error) { return b.Once("run", best) }, fmt.Sprintf("%s, best batch %d", b.Name, best))
	if err != nil {
		return err
	}
	var got []float32
	for _, e := range last {
		got = append(got, e.Vector...)
	}
	return peer.Same("vectors", got, filepath.Join(dir, "peer.f32"))
}
