// Command bench times precision and coverage of this project against package prdc of Python, side by side.
//
//	go run ./gomlxmodels/neighbours/bench [-n 10000] [-d 768] [-repeat 5]
//
// It needs a Python with prdc: python3, or the one that PYTHON names. Both sides hold the same random float32 sets and
// run in processes of their own that take turns (A B A B …). Timed is one full computation from vectors in memory to
// the scores; loading, compiling and a first small run are not, and are reported apart. Memory is the peak resident
// size during a run above the resident size before the first one, when inputs and libraries are loaded.
package main

import (
	"bufio"
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
)

//go:embed peer.py
var peerSource string

// line is what a side reports of one run. The first one has only Ready, the seconds it took to get ready.
type line struct {
	Device              string // of the first line of this project's side
	Ready, Seconds      float64
	MiB                 float64 // peak above the inputs
	Precision, Coverage float64
}

var (
	n      = flag.Int("n", 10000, "real and generated vectors")
	d      = flag.Int("d", 768, "numbers of a vector")
	k      = flag.Int("k", 3, "nearest neighbour")
	repeat = flag.Int("repeat", 5, "runs of each side")
	seed   = flag.Uint64("seed", 1, "seed of the sets")
	block  = flag.Int("block", 0, "rows of a block; 0 = the usual")
	ours   = flag.String("ours", "", "used by the program itself: be side A, on the sets in this folder")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	if *ours != "" {
		return serve(*ours)
	}
	dir, err := os.MkdirTemp("", "antipode-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := write(dir); err != nil {
		return err
	}
	peer := filepath.Join(dir, "peer.py")
	if err := os.WriteFile(peer, []byte(peerSource), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	threads := "OMP_NUM_THREADS=" + strconv.Itoa(runtime.GOMAXPROCS(0))
	a, err := start("antipode", threads, self, "-ours", dir, "-d", strconv.Itoa(*d), "-k", strconv.Itoa(*k), "-block", strconv.Itoa(*block))
	if err != nil {
		return err
	}
	defer a.stop()
	b, err := start("prdc", threads, python, peer, dir, strconv.Itoa(*d), strconv.Itoa(*k))
	if err != nil {
		return err
	}
	defer b.stop()
	for range *repeat {
		for _, s := range []*side{a, b} {
			if err := s.once(); err != nil {
				return err
			}
		}
	}
	fmt.Printf("precision and coverage, N = M = %d, d = %d, k = %d, device %s, %d threads, %d runs each, taking turns\n", *n, *d, *k, a.first.Device, runtime.GOMAXPROCS(0), *repeat)
	for _, s := range []*side{a, b} {
		s.print()
	}
	ma, mb := median(a.lines, seconds), median(b.lines, seconds)
	pa, pb := median(a.lines, mib), median(b.lines, mib)
	fmt.Printf("time: prdc / antipode = %.2f   memory: antipode / prdc = 1 / %.1f\n", mb/ma, pb/pa)
	if x, y := a.lines[0], b.lines[0]; math.Abs(x.Precision-y.Precision) > 1e-6 || math.Abs(x.Coverage-y.Coverage) > 1e-6 {
		return fmt.Errorf("the scores differ: precision %v and %v, coverage %v and %v", x.Precision, y.Precision, x.Coverage, y.Coverage)
	}
	return nil
}

// write makes the two sets: the generated one a little narrower and shifted.
func write(dir string) error {
	r := rand.New(rand.NewPCG(*seed, 1))
	for _, set := range []struct {
		name         string
		shift, scale float64
	}{{"real", 0, 1}, {"generated", 0.02, 0.99}} {
		buf := make([]byte, 0, *n**d*4)
		for range *n * *d {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(set.shift+set.scale*r.NormFloat64())))
		}
		if err := os.WriteFile(filepath.Join(dir, set.name+".f32"), buf, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// side is one of the two processes.
type side struct {
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	first line
	lines []line
}

func start(name, threads, program string, args ...string) (*side, error) {
	s := &side{name: name, cmd: exec.Command(program, args...)}
	s.cmd.Env = append(os.Environ(), threads)
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewScanner(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.first, err = s.read()
	return s, err
}

func (s *side) read() (l line, err error) {
	if !s.out.Scan() {
		return l, fmt.Errorf("%s ended", s.name)
	}
	if err := json.Unmarshal(s.out.Bytes(), &l); err != nil {
		return l, fmt.Errorf("%s said %q", s.name, s.out.Text())
	}
	return l, nil
}

func (s *side) once() error {
	if _, err := fmt.Fprintln(s.in, "run"); err != nil {
		return err
	}
	l, err := s.read()
	s.lines = append(s.lines, l)
	return err
}

func (s *side) stop() {
	s.in.Close()
	_ = s.cmd.Wait()
}

func (s *side) print() {
	fmt.Printf("%-9s median %7.3f s   p5 %7.3f   p95 %7.3f   peak above inputs %7.1f MiB   precision %.4f   coverage %.4f   (ready after %.1f s)\n", s.name,
		median(s.lines, seconds), quantile(s.lines, seconds, 0.05), quantile(s.lines, seconds, 0.95), median(s.lines, mib), s.lines[0].Precision, s.lines[0].Coverage, s.first.Ready)
}

func seconds(l line) float64 { return l.Seconds }
func mib(l line) float64     { return l.MiB }

func median(lines []line, of func(line) float64) float64 { return quantile(lines, of, 0.5) }

func quantile(lines []line, of func(line) float64, p float64) float64 {
	var v []float64
	for _, l := range lines {
		v = append(v, of(l))
	}
	slices.Sort(v)
	at := p * float64(len(v)-1)
	i := min(int(at), max(len(v)-2, 0))
	if len(v) == 1 {
		return v[0]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}
