package main

import (
	"bufio"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"antipode/datasets/client"
)

// scripts are the peers, one file per benchmark, and peer.py with what they share.
//
//go:embed *.py
var scripts embed.FS

// peer is a running Python program that does the same work. It prints one JSON object per line: when it is ready, and
// after each command, a line of words that it reads from its standard input.
type peer struct {
	name string // libraries and versions
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
}

// reply is a line that a peer prints.
type reply struct {
	Name                string    // of the first line
	Seconds             []float64 // of each part of the work
	MiB                 float64   // peak memory
	Peaks               []float64 // of each part of the work, MiB
	Precision, Coverage float64   // of neighbors
	Values              []float64 // of scores
	Error               string    // of gpu
}

// start starts the peer. Its arguments are the temporary folder, the number of threads, the seed, and the given ones.
func (s *session) start(arguments ...any) error {
	for _, name := range []string{"peer.py", s.name + ".py"} {
		source := must(scripts.ReadFile(name))
		check(os.WriteFile(filepath.Join(s.dir, name), source, 0o600))
	}
	python := cmp.Or(os.Getenv("PYTHON"), "python3")
	threads := strconv.Itoa(runtime.GOMAXPROCS(0))
	args := []string{filepath.Join(s.dir, s.name+".py"), s.dir, threads, strconv.Itoa(s.int("seed"))}
	for _, a := range arguments {
		args = append(args, fmt.Sprint(a))
	}
	p := &peer{cmd: exec.Command(python, args...)}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return v == client.HugePagesSetting })
	p.cmd.Env = append(env, "OMP_NUM_THREADS="+threads, "HF_HUB_OFFLINE=1", "TQDM_DISABLE=1")
	p.cmd.Stderr = os.Stderr
	var err error
	p.in = must(p.cmd.StdinPipe())
	out := must(p.cmd.StdoutPipe())
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	s.peer = p
	ready, err := p.read()
	p.name = ready.Name
	return err
}

func (p *peer) read() (r reply, err error) {
	if !p.out.Scan() {
		return r, fmt.Errorf("peer: %s ended; PYTHON must name a Python that has its imports",
			filepath.Base(p.cmd.Args[1]))
	}
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		return r, fmt.Errorf("peer: %q is not a reply", p.out.Text())
	}
	return r, nil
}

// do runs a command.
func (p *peer) do(command ...any) (reply, error) {
	if _, err := fmt.Fprintln(p.in, command...); err != nil {
		return reply{}, fmt.Errorf("peer: %w", err)
	}
	return p.read()
}

// best is the batch size with which a command is fastest. Each runs twice; the first run warms up.
func (p *peer) best(command string, batches ...int) (int, error) {
	best, least := 0, 0.0
	for _, batch := range batches {
		for range 2 {
			r := must(p.do(command, batch))
			if best == 0 || r.Seconds[0] < least {
				best, least = batch, r.Seconds[0]
			}
		}
	}
	return best, nil
}

// batched is the side of a peer that runs a command with its best batch size.
func (s *session) batched(command string, batches ...int) (side, error) {
	best, err := s.peer.best(command, batches...)
	return side{fmt.Sprintf("%s, batch %d", s.peer.name, best), func() ([]float64, error) {
		r, err := s.peer.do(command, best)
		return r.Seconds, err
	}}, err
}

func (p *peer) stop() {
	p.in.Close()
	_ = p.cmd.Wait()
}
