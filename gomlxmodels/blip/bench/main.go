// Command bench times BLIP of the base shape against transformers, side by side on the processor in float32.
//
//	PYTHON=python3 go run ./gomlxmodels/blip/bench [-pictures 8] [-tokens 20] [-repeat 3]
//
// It needs a Python with torch and transformers. Both sides hold the same random network, use the same number of threads and take turns.
// Both write greedily, the same number of tokens of every picture, in one batch, and never end before. Timed are the prefill, from prepared
// pixels to the first token's logits, and what comes after them. Loading and compiling are not. The tokens of both are
// compared in the end.
package main

import (
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/device"
	"antipode/internal/bench/peer"
)

//go:embed peer.py
var peerSource string

var (
	pictures = flag.Int("pictures", 8, "pictures captioned together")
	tokens   = flag.Int("tokens", 20, "tokens written of each")
	repeat   = flag.Int("repeat", 3, "runs of each side")
	seed     = flag.Uint64("seed", 1, "seed of network and pictures")
)

// The parts of a run.
const (
	prefill = "first"
	rest    = "rest"
	all     = "all"
)

func main() { peer.Main(run) }

func run(dir string) error {
	if *pictures < 1 || *tokens < 2 {
		return fmt.Errorf("%d pictures, %d tokens: at least 1 and 2", *pictures, *tokens)
	}
	b, err := peer.Start(dir, peerSource, strconv.FormatUint(*seed, 10), strconv.Itoa(*pictures), strconv.Itoa(*tokens))
	if err != nil {
		return err
	}
	defer b.Stop()
	d, err := device.Open(device.XLACPU, "")
	if err != nil {
		return err
	}
	m, err := blip.Open(dir)
	if err != nil {
		return err
	}
	c, err := blip.NewCaptioner(d.Backend, m, captioner.Options{Batch: *pictures})
	if err != nil {
		return err
	}
	defer c.Close()
	requests, err := read(filepath.Join(dir, "pixels.f32"))
	if err != nil {
		return err
	}
	var last [][]decode.Text
	ours := func(part string) (float64, error) {
		begin := time.Now()
		var first time.Time
		set := decode.Settings{MaxTokens: *tokens, MinTokens: *tokens, Trace: func(step int, _ [][]float32) {
			if step == 0 {
				first = time.Now()
			}
		}}
		if last, err = c.Caption(context.Background(), requests, set); err != nil {
			return 0, err
		}
		end := time.Now()
		return map[string]time.Duration{prefill: first.Sub(begin), rest: end.Sub(first), all: end.Sub(begin)}[part].Seconds(), nil
	}
	theirs := func(part string) (float64, error) { return b.Once(part, *tokens) }
	first, err := ours(all) // loads, compiles, warms up
	if err == nil {
		_, err = theirs(all)
	}
	if err != nil {
		return err
	}
	type side struct {
		once  func(string) (float64, error)
		times map[string][]float64 // by part
	}
	us, them := side{ours, map[string][]float64{}}, side{theirs, map[string][]float64{}}
	of := func(s side, part string) func() (float64, error) {
		return func() (float64, error) {
			v, err := s.once(part)
			s.times[part] = append(s.times[part], v)
			return v, err
		}
	}
	name := fmt.Sprintf("antipode, %s (compiling and the first run %.1f s)", d.Kind, first)
	for _, part := range []struct {
		part, title, unit string
		n                 int
		what              string // whose time is told
		of                int    // so many in a run
	}{
		{prefill, "prefill", "pictures", *pictures, "prefill of the batch", 1},
		{rest, "tokens after the first", "tokens", *pictures * (*tokens - 1), "token of the whole batch", *tokens - 1},
		{all, fmt.Sprintf("captions of %d tokens", *tokens), "captions", *pictures, "batch of captions", 1},
	} {
		title := fmt.Sprintf("BLIP base, 384 pixels, batch %d, greedy: %s", *pictures, part.title)
		if err := peer.Turns(title, part.unit, part.n, *repeat, of(us, part.part), name, of(them, part.part), b.Name); err != nil {
			return err
		}
		ms := func(s side) float64 {
			list := slices.Sorted(slices.Values(s.times[part.part]))
			return 1000 * list[len(list)/2] / float64(part.of)
		}
		fmt.Printf("  one %s: %.1f ms, transformers' %.1f ms (medians)\n", part.what, ms(us), ms(them))
	}
	return compare(filepath.Join(dir, "tokens.json"), last)
}

// compare counts captions that are alike; float32 may decide a near tie of a random network otherwise.
func compare(file string, got [][]decode.Text) error {
	var want [][]int32
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &want)
	}
	if err != nil || len(want) != len(got) {
		return fmt.Errorf("%d captions, the peer has %d: %w", len(got), len(want), err)
	}
	alike := 0
	for i := range got {
		if slices.Equal(got[i][0].Tokens, want[i]) {
			alike++
		}
	}
	fmt.Printf("  %d of %d captions are alike, token for token\n", alike, len(got))
	if 2*alike < len(got) {
		return fmt.Errorf("the two sides do not compute the same")
	}
	return nil
}

// read gives the peer's pictures.
func read(file string) (out []captioner.Request, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	flat := make([]float32, len(raw)/4)
	for i := range flat {
		flat[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	for p := range slices.Chunk(flat, len(flat) / *pictures) {
		out = append(out, captioner.Request{Pixels: p, Prompt: []int32{int32(blip.DefaultConfig().Text.StartToken)}})
	}
	return out, nil
}
