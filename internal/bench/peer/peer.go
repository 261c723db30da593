// Package peer runs the other side of a timing: a Python program that does the same work and says how long it took, so that
// both sides can take turns.
//
// The program prints one JSON object a line, {"seconds": S}, with a "name" in its first line, which it prints once it is
// ready; then it reads commands from its input, a line each, does the work and answers.
package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"antipode/internal/near"
)

// Peer is a running program.
type Peer struct {
	Name  string  // libraries and versions
	Ready float64 // seconds it took to load
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
}

// Main is a timing's main function: it parses the flags, gives run a folder of its own, and ends the program with its error.
func Main(run func(dir string) error) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "antipode-bench")
	if err == nil {
		err = errors.Join(run(dir), os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Start writes the program's source into a folder and runs it there with the Python that PYTHON names, else python3; its
// arguments are the folder, the number of threads, and what is given.
func Start(dir, source string, arguments ...string) (*Peer, error) {
	script := filepath.Join(dir, "peer.py")
	if err := os.WriteFile(script, []byte(source), 0o600); err != nil {
		return nil, err
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	threads := strconv.Itoa(runtime.GOMAXPROCS(0))
	p := &Peer{cmd: exec.Command(python, append([]string{script, dir, threads}, arguments...)...)}
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
	p.Ready, err = p.read()
	return p, err
}

func (p *Peer) read() (float64, error) {
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
		p.Name = line.Name
	}
	return line.Seconds, nil
}

// Once has it do something and gives the seconds.
func (p *Peer) Once(command ...any) (float64, error) {
	if _, err := fmt.Fprintln(p.in, command...); err != nil {
		return 0, err
	}
	return p.read()
}

// Best is the setting with which the peer is quickest: each is run twice, the first run warms up.
func (p *Peer) Best(settings []int, command ...any) (int, error) {
	best, least := 0, 0.0
	for _, s := range settings {
		for range 2 {
			seconds, err := p.Once(append(slices.Clone(command), s)...)
			if err != nil {
				return 0, err
			}
			if best == 0 || seconds < least {
				best, least = s, seconds
			}
		}
	}
	return best, nil
}

// Stop ends the program.
func (p *Peer) Stop() {
	p.in.Close()
	_ = p.cmd.Wait()
}

// Turns times both sides in turns and prints medians, quantiles and the ratio, in units a second.
func Turns(title, unit string, n, repeat int, ours func() (float64, error), oursName string, theirs func() (float64, error), theirsName string) error {
	var a, b []float64
	for range repeat {
		for _, side := range []struct {
			once func() (float64, error)
			to   *[]float64
		}{{ours, &a}, {theirs, &b}} {
			s, err := side.once()
			if err != nil {
				return err
			}
			*side.to = append(*side.to, float64(n)/s)
		}
	}
	width := max(len(oursName), len(theirsName))
	fmt.Printf("%s, float32, %d %s a run, %d threads, %d runs each, taking turns\n", title, n, unit, runtime.GOMAXPROCS(0), repeat)
	for _, side := range []struct {
		name string
		v    []float64
	}{{oursName, a}, {theirsName, b}} {
		fmt.Printf("  %-*s  median %8.2f /s   p5 %8.2f   p95 %8.2f\n", width, side.name, Quantile(side.v, 0.5), Quantile(side.v, 0.05), Quantile(side.v, 0.95))
	}
	fmt.Printf("  ratio of the medians, antipode / %s: %.2f\n", strings.Fields(theirsName)[0], Quantile(a, 0.5)/Quantile(b, 0.5))
	return nil
}

// Floats reads what either side left in a file: float32, little-endian.
func Floats(file string) ([]float32, error) {
	raw, err := os.ReadFile(file)
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, err
}

// Same looks whether both sides computed the same: got within 1e-3 of the scale of what the peer left in the file.
func Same(what string, got []float32, file string) error {
	want, err := Floats(file)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d numbers, the peer has %d", len(got), len(want))
	}
	worst, _ := near.Worst(got, want)
	fmt.Printf("  worst difference of the %s: %.2g of their scale\n", what, worst/near.Scale(want))
	if worst > 1e-3*near.Scale(want) {
		return fmt.Errorf("the two sides do not compute the same")
	}
	return nil
}

// Quantile interpolates between the values next to it.
func Quantile(values []float64, p float64) float64 {
	v := slices.Sorted(slices.Values(values))
	at := p * float64(len(v)-1)
	low := int(at)
	if low+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[low] + (at-float64(low))*(v[low+1]-v[low])
}
