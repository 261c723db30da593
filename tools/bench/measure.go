package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"antipode/internal/near"
)

// part is one measured part of a run, n units of work.
type part struct {
	title, unit string
	n           int
}

// side is one of the two sides: run returns the seconds of each part.
type side struct {
	name string
	run  func() ([]float64, error)
}

// timed is a side that measures the whole of f.
func timed(name string, f func() error) side {
	return side{name, func() ([]float64, error) {
		begin := time.Now()
		err := f()
		return []float64{time.Since(begin).Seconds()}, err
	}}
}

// encoding is the way from inputs to vectors.
type encoding struct {
	part
	size    string // of a call of the device
	command string // of the peer, which runs it with its best of the batch sizes
	batches []int
	encode  func() ([][]float32, error)
}

// compare measures both sides of an encoding, and compares their vectors.
func (s *session) compare(e encoding) error {
	var vectors [][]float32
	encode := func() (err error) {
		vectors, err = e.encode()
		return err
	}
	check(encode()) // loads, compiles and warms up
	theirs := must(s.batched(e.command, e.batches...))
	ours := timed(fmt.Sprintf("antipode, %s, %s", s.device.Kind, e.size), encode)
	check(s.turns([]part{e.part}, ours, theirs))
	return s.same(vectors, s.either(1e-3, 0.1))
}

// parts measures ours against the peer's command run, after a run of each that loads, compiles and warms up.
func (s *session) parts(list []part, ours side) error {
	theirs := s.command("run")
	theirs.name = s.peer.name
	return s.warmed(list, ours, theirs)
}

// command is the side of the peer that runs a command, which is also its name.
func (s *session) command(name string) side {
	return side{name, func() ([]float64, error) {
		r, err := s.peer.do(name)
		s.last = r
		return r.Seconds, err
	}}
}

// warmed measures the sides after a run of each.
func (s *session) warmed(list []part, sides ...side) error {
	for _, side := range sides {
		must(side.run())
	}
	return s.turns(list, sides...)
}

// turns runs both sides alternately and prints a table for each part.
func (s *session) turns(parts []part, sides ...side) error {
	rows := make([][]row, len(parts))
	for p := range parts {
		for _, side := range sides {
			rows[p] = append(rows[p], row{name: side.name})
		}
	}
	for range s.int("repeat") {
		for i, side := range sides {
			seconds := must(side.run())
			for p := range parts {
				rows[p][i].seconds = append(rows[p][i].seconds, seconds[p])
			}
		}
	}
	for p, part := range parts {
		printTable(part, rows[p])
	}
	return nil
}

// row is one line of a table.
type row struct {
	name    string
	seconds []float64
}

// printTable prints the rows of one part: units per second, and the median of a run's seconds.
func printTable(p part, rows []row) {
	fmt.Printf("%s, %d %s per run, %d threads, %d runs\n", p.title, p.n, p.unit, runtime.GOMAXPROCS(0),
		len(rows[0].seconds))
	width := 0
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.name))
	}
	fmt.Printf("  %-*s  %10s  %10s  %10s  %10s\n", width, "", p.unit+"/s", "p5", "p95", "s per run")
	for _, r := range rows {
		var rates []float64
		for _, s := range r.seconds {
			rates = append(rates, float64(p.n)/s)
		}
		fmt.Printf("  %-*s  %10.2f  %10.2f  %10.2f  %10.3f\n", width, r.name, quantile(rates, 0.5),
			quantile(rates, 0.05),
			quantile(rates, 0.95), quantile(r.seconds, 0.5))
	}
	for _, r := range rows[1:] {
		fmt.Printf("  ratio of the medians, antipode / %s: %.2f\n", strings.Fields(r.name)[0],
			quantile(r.seconds, 0.5)/quantile(rows[0].seconds, 0.5))
	}
}

// quantile interpolates linearly.
func quantile(values []float64, p float64) float64 {
	v := slices.Sorted(slices.Values(values))
	at := p * float64(len(v)-1)
	low := int(at)
	if low+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[low] + (at-float64(low))*(v[low+1]-v[low])
}

// floats reads a file of the temporary folder: float32, little-endian.
func (s *session) floats(file string) ([]float32, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, file))
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out, err
}

// write writes such a file.
func (s *session) write(file string, rows ...[]float32) error {
	var raw []byte
	for _, row := range rows {
		for _, v := range row {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	}
	return os.WriteFile(filepath.Join(s.dir, file), raw, 0o600)
}

// rows reads such a file as n rows.
func (s *session) rows(file string, n int) ([][]float32, error) {
	flat, err := s.floats(file)
	if err != nil || len(flat) < n {
		return nil, fmt.Errorf("%s: %d numbers: %w", file, len(flat), err)
	}
	return slices.Collect(slices.Chunk(flat, len(flat)/n)), nil
}

// either returns what two sides may differ by: more if one of them computes in bfloat16.
func (s *session) either(exact, rounded float64) float64 {
	for _, flag := range []string{"peer", "precision"} {
		if of := s.texts[flag]; of != nil && strings.HasSuffix(*of, "bfloat16") {
			return rounded
		}
	}
	return exact
}

// same compares rows with the peer's last results, which must differ by at most a fraction of their scale.
func (s *session) same(got [][]float32, fraction float64) error {
	want := must(s.floats("peer.f32"))
	flat := slices.Concat(got...)
	if len(flat) != len(want) {
		return fmt.Errorf("%d numbers, the peer has %d", len(flat), len(want))
	}
	worst, _ := near.Worst(flat, want)
	fmt.Printf("  worst difference of the results: %.2g of their scale\n", worst/near.Scale(want))
	if worst > fraction*near.Scale(want) {
		return fmt.Errorf("the results of the two sides differ")
	}
	return nil
}
