package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"antipode/gomlxmodels/neighbors"
	"antipode/metrics/prdc"
)

// neighborsBenchmark measures one computation from vectors in memory to the scores. Memory is the peak resident size
// during a run above the resident size before the first.
var neighborsBenchmark = benchmark{
	about: "precision and coverage of -n real and -n generated vectors, against package prdc",
	ints:  map[string]int{"n": 10000, "size": 768, "k": 3, "repeat": 5, "seed": 1},
	run: func(s *session) error {
		n, d, k := s.int("n"), s.int("size"), s.int("k")
		sets := twoSets(s, n, d)
		check(s.write("real.f32", sets.Real...))
		check(s.write("generated.f32", sets.Generated...))
		check(s.begin(d, k))
		f := neighbors.New(s.device.Backend, neighbors.Options{})
		defer f.Close()
		compute := func(s prdc.Sets) (*prdc.Result, error) {
			return prdc.Compute(context.Background(), s, prdc.Options{K: k}, f)
		}
		few := min(n, 1024) // of a block's size: compiles everything
		must(compute(prdc.Sets{Real: sets.Real[:few], Generated: sets.Generated[:few]}))
		var result *prdc.Result
		var peak, theirPeak float64
		var last reply
		measured := side{"antipode, " + s.device.Kind, func() ([]float64, error) {
			seconds, mib, err := peaked(func() (err error) {
				result, err = compute(sets)
				return err
			})
			peak = max(peak, mib)
			return []float64{seconds}, err
		}}
		title := fmt.Sprintf("precision and coverage, N = M = %d, d = %d, k = %d", n, d, k)
		check(s.turns([]part{{title, "scores", 1}}, measured,
			side{s.peer.name, func() (_ []float64, err error) {
				last, err = s.peer.do("run")
				theirPeak = max(theirPeak, last.MiB)
				return last.Seconds, err
			}}))
		fmt.Printf("  peak memory above the inputs: antipode %.0f MiB, peer %.0f MiB\n", peak, theirPeak)
		fmt.Printf("  precision %.4f, coverage %.4f\n", result.Precision, result.Coverage)
		if math.Abs(result.Precision-last.Precision) > 1e-6 || math.Abs(result.Coverage-last.Coverage) > 1e-6 {
			return fmt.Errorf("the scores differ: precision %v and %v, coverage %v and %v", result.Precision,
				last.Precision, result.Coverage, last.Coverage)
		}
		return nil
	},
}

// twoSets returns random vectors; the generated ones are shifted and a little narrower.
func twoSets(s *session, n, d int) (sets prdc.Sets) {
	r := rand.New(rand.NewPCG(uint64(s.int("seed")), 1))
	for range n {
		sets.Real = append(sets.Real, noise(r, d))
	}
	for range n {
		row := noise(r, d)
		for i, v := range row {
			row[i] = 0.02 + 0.99*v
		}
		sets.Generated = append(sets.Generated, row)
	}
	return sets
}

// peaked runs f and returns its seconds and the peak memory above what the process had before.
func peaked(f func() error) (seconds, mib float64, err error) {
	debug.FreeOSMemory()
	before := must(memory("self", "VmRSS:"))
	check(os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // resets the peak
	begin := time.Now()
	check(f())
	seconds = time.Since(begin).Seconds()
	peak, err := memory("self", "VmHWM:")
	return seconds, peak - before, err
}

// memory reads a size of a process, "self" or its number, in MiB.
func memory(process, field string) (float64, error) {
	file := filepath.Join("/proc", process, "status")
	status, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(status), field)
	if !found {
		return 0, fmt.Errorf("%s has no %s", file, field)
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib / 1024, err
}
