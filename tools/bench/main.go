// Command bench measures this project against the libraries that people use today, side by side on one machine.
//
//	go run ./tools/bench NAME [flags]
//
// NAME is one of vit, clip, encoders, textenc, clipseg, blip, diffusion, langsam, owlsam2, neighbors, scores, decode,
// embed, cells, large, growth, inside and gpu; its flag -help lists the others with their defaults. All but cells,
// large, growth and inside have a peer, a Python program: they run it with the Python that PYTHON names, else python3
// (gpu: else none), which needs the peer's libraries (the imports of NAME.py).
//
// Both sides have the same random weights and inputs and the same number of threads, compute in float32, and take turns
// (A B A B …). This one uses huge pages of memory, as the backend does; the peer runs as its users run it. Loading and
// compiling are not measured. The peer runs with its best batch size, found before. In the end the results of both
// sides are compared. Every benchmark prints the same table: median, 5 % and 95 % quantile of all runs.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"antipode/datasets/client"
	"antipode/gomlxmodels/device"
	_ "antipode/gomlxmodels/device/xla"
)

// benchmark is one benchmark with the flags that it reads.
type benchmark struct {
	about string
	ints  map[string]int    // flags that are numbers, with their defaults
	texts map[string]string // flags that are texts, with their defaults
	run   func(*session) error
}

var benchmarks = map[string]benchmark{
	"vit": vitBenchmark, "clip": clipBenchmark, "textenc": textencBenchmark, "clipseg": clipsegBenchmark,
	"blip": blipBenchmark, "diffusion": diffusionBenchmark, "neighbors": neighborsBenchmark, "decode": decodeBenchmark,
	"cells": cellsBenchmark, "embed": embedBenchmark, "langsam": langsamBenchmark, "owlsam2": owlsam2Benchmark,
	"large": largeBenchmark, "encoders": encodersBenchmark, "scores": scoresBenchmark,
	"inside": insideBenchmark, "gpu": gpuBenchmark, "growth": growthBenchmark,
}

// usages of the flags, the same for every benchmark.
var usages = map[string]string{
	"n":         "items of a run: images, texts, captions, vectors, cells or rows; of inside: seconds",
	"texts":     "texts of a run",
	"repeat":    "runs of each side",
	"batch":     "items per call of the device",
	"tokens":    "tokens per call of the device; of blip: tokens of a caption",
	"size":      "side of the image in pixels; of neighbors, scores and large: numbers of a vector",
	"side":      "side of the large image in pixels",
	"vectors":   "vectors of a set",
	"images":    "images of a table",
	"k":         "nearest neighbor",
	"longest":   "tokens of the longest text",
	"seed":      "seed of weights and inputs",
	"peer":      "variant of the peer",
	"model":     "shape of the network; of cells: folder of the model",
	"limit":     "seconds until it stops",
	"device":    "xla:cuda, xla:cpu or go",
	"out":       "path of the files that are written, without .json, .md and .f32.json",
	"reference": "file .f32.json of a run, which results are compared with",
	"precision": "float32, bfloat16, float16 and tf32, separated by commas",
	"batches":   "batches, separated by commas",
	"work":      "folder of a run that this process serves (set by that run)",
	"table":     "CSV file with the columns id, image, region, source in this order",
}

func main() {
	names := slices.Sorted(maps.Keys(benchmarks))
	if len(os.Args) < 2 || benchmarks[os.Args[1]].run == nil {
		fmt.Fprintf(os.Stderr, "usage: bench NAME [flags], NAME one of %s\n", strings.Join(names, ", "))
		os.Exit(2)
	}
	name := os.Args[1]
	err := restart()
	if err == nil {
		err = runBenchmark(name, benchmarks[name], os.Args[2:])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench %s: %v\n", name, err)
		os.Exit(1)
	}
}

// restart replaces the process by one that uses huge pages, unless it is one.
func restart() error {
	env := client.HugePages(os.Environ())
	if len(env) == len(os.Environ()) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, env)
}

// failure is what check and must panic with, up to the function that defers catch.
type failure struct{ error }

// check ends the work if there is an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns a value, or ends the work if there is an error.
func must[V any](v V, err error) V {
	check(err)
	return v
}

// catch sets the error that ended the work of a function that defers it.
func catch(err *error) {
	r := recover()
	if f, failed := r.(failure); failed {
		*err = f.error
	} else if r != nil {
		panic(r)
	}
}

func runBenchmark(name string, b benchmark, args []string) (err error) {
	defer catch(&err)
	s := &session{name: name, ints: map[string]*int{}, texts: map[string]*string{}}
	flags := flag.NewFlagSet("bench "+name, flag.ExitOnError)
	for flag, value := range b.ints {
		s.ints[flag] = flags.Int(flag, value, usages[flag])
	}
	for flag, value := range b.texts {
		s.texts[flag] = flags.String(flag, value, usages[flag])
	}
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "bench %s: %s\n", name, b.about)
		flags.PrintDefaults()
	}
	_ = flags.Parse(args) // exits on errors
	for flag, value := range s.ints {
		if *value < 1 {
			return fmt.Errorf("-%s %d is not at least 1", flag, *value)
		}
	}
	if of := s.texts["precision"]; of != nil {
		for precision := range strings.SplitSeq(*of, ",") {
			if _, known := precisions[precision]; !known {
				return fmt.Errorf("-precision %s is not one of float32, bfloat16, float16, tf32", precision)
			}
		}
	}
	s.dir = must(os.MkdirTemp("", "antipode-bench"))
	defer os.RemoveAll(s.dir)
	defer s.close()
	return b.run(s)
}

// session is one run of a benchmark: its flags, a temporary folder, the device and the peer.
type session struct {
	name, dir string
	ints      map[string]*int
	texts     map[string]*string
	device    *device.Device
	peer      *peer
	last      reply // of the peer's command run
}

func (s *session) int(flag string) int     { return *s.ints[flag] }
func (s *session) text(flag string) string { return *s.texts[flag] }

// begin starts the peer, with further arguments, and opens the processor as XLA device.
func (s *session) begin(arguments ...any) (err error) {
	if err = s.start(arguments...); err == nil {
		s.device, err = device.Open(device.XLACPU, "")
	}
	return err
}

func (s *session) close() {
	if s.peer != nil {
		s.peer.stop()
	}
	if s.device != nil {
		s.device.Close()
	}
}
