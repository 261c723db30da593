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
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/textenc"
	"antipode/internal/near"
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

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if *n < 1 || *repeat < 1 || *short < 3 || *long < *short || *long > 512 {
		return fmt.Errorf("-n %d, -repeat %d, -shortest %d, -longest %d: n and repeat must be at least 1, lengths from 3 to 512", *n, *repeat, *short, *long)
	}
	dir, err := os.MkdirTemp("", "antipode-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
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
	b, err := startPeer(dir)
	if err != nil {
		return err
	}
	defer b.stop()
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

	best, bestSeconds := 0, math.Inf(1)
	for _, size := range []int{8, 16, 32, 64} {
		if size > *n && size > 8 {
			break
		}
		for range 2 { // the first warms up
			s, err := b.once(size)
			if err != nil {
				return err
			}
			if s < bestSeconds {
				best, bestSeconds = size, s
			}
		}
	}
	var ours, theirs []float64
	for range *repeat {
		s, err := once()
		if err != nil {
			return err
		}
		ours = append(ours, float64(*n)/s)
		if s, err = b.once(best); err != nil {
			return err
		}
		theirs = append(theirs, float64(*n)/s)
	}
	fmt.Printf("sentence embedding, %s, float32, %d texts of %d to %d tokens a run, %d threads, %d runs each, taking turns\n", *shape, *n, *short, *long, runtime.GOMAXPROCS(0), *repeat)
	report := func(name string, v []float64, more string) {
		fmt.Printf("%-52s median %6.1f texts/s   p5 %6.1f   p95 %6.1f   %s\n", name, quantile(v, 0.5), quantile(v, 0.05), quantile(v, 0.95), more)
	}
	report("antipode, "+d.Kind, ours, fmt.Sprintf("%d tokens a call (loading, compiling and first run %.1f s apart)", *tokens, loading.Seconds()))
	report(b.name, theirs, fmt.Sprintf("best batch %d (loading %.1f s apart)", best, b.loading))
	fmt.Printf("texts per second: antipode / sentence-transformers = %.2f\n", quantile(ours, 0.5)/quantile(theirs, 0.5))
	return compare(dir, last)
}

// compare looks whether both sides computed the same.
func compare(dir string, last []textenc.Embedding) error {
	raw, err := os.ReadFile(filepath.Join(dir, "peer.f32"))
	if err != nil {
		return err
	}
	want := make([]float32, len(raw)/4)
	for i := range want {
		want[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	var got []float32
	for _, e := range last {
		got = append(got, e.Vector...)
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, the peer has %d", len(got), len(want))
	}
	worst, _ := near.Worst(got, want)
	fmt.Printf("worst difference of the vectors: %.2g of their scale\n", worst/near.Scale(want))
	if worst > 1e-3*near.Scale(want) {
		return fmt.Errorf("the two sides do not compute the same")
	}
	return nil
}

// peer is side B.
type peer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	name    string
	loading float64
}

func startPeer(dir string) (*peer, error) {
	script := filepath.Join(dir, "peer.py")
	if err := os.WriteFile(script, []byte(peerSource), 0o600); err != nil {
		return nil, err
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	threads := strconv.Itoa(runtime.GOMAXPROCS(0))
	p := &peer{cmd: exec.Command(python, script, dir, threads, strconv.FormatUint(*seed, 10), *shape)}
	p.cmd.Env = append(os.Environ(), "OMP_NUM_THREADS="+threads)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.loading, err = p.read()
	return p, err
}

func (p *peer) read() (seconds float64, err error) {
	var line struct {
		Seconds float64
		Name    string
	}
	if !p.out.Scan() {
		return 0, fmt.Errorf("the peer ended")
	}
	if err := json.Unmarshal(p.out.Bytes(), &line); err != nil {
		return 0, fmt.Errorf("the peer said %q", p.out.Text())
	}
	if line.Name != "" {
		p.name = line.Name
	}
	return line.Seconds, nil
}

func (p *peer) once(batch int) (seconds float64, err error) {
	if _, err := fmt.Fprintln(p.in, "run", batch); err != nil {
		return 0, err
	}
	return p.read()
}

func (p *peer) stop() {
	p.in.Close()
	_ = p.cmd.Wait()
}

// quantile interpolates between the values next to it.
func quantile(values []float64, p float64) float64 {
	v := slices.Sorted(slices.Values(values))
	at := p * float64(len(v)-1)
	low := int(at)
	if low+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[low] + (at-float64(low))*(v[low+1]-v[low])
}
