package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/neighbours"
	"antipode/metrics/prdc"
)

// serve is side A: it gets ready, then computes once for each line it reads.
func serve(dir string) error {
	begin := time.Now()
	var sets prdc.Sets
	var err error
	if sets.Real, err = read(filepath.Join(dir, "real.f32")); err != nil {
		return err
	}
	if sets.Generated, err = read(filepath.Join(dir, "generated.f32")); err != nil {
		return err
	}
	dev, err := device.Open("", "")
	if err != nil {
		return err
	}
	defer dev.Close()
	f := neighbours.New(dev.Backend, neighbours.Options{Block: *block})
	defer f.Close()
	compute := func(s prdc.Sets) (*prdc.Result, error) {
		return prdc.Compute(context.Background(), s, prdc.Options{K: *k}, f)
	}
	if _, err := compute(small(len(sets.Real))); err != nil { // compiles the programs
		return err
	}
	debug.FreeOSMemory()
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(line{Device: dev.Kind, Ready: time.Since(begin).Seconds()}); err != nil {
		return err
	}
	before, err := resident("VmRSS:")
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		debug.FreeOSMemory()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak starts anew
			return err
		}
		start := time.Now()
		r, err := compute(sets)
		if err != nil {
			return err
		}
		l := line{Seconds: time.Since(start).Seconds(), Precision: r.Precision, Coverage: r.Coverage}
		peak, err := resident("VmHWM:")
		if err != nil {
			return err
		}
		l.MiB = peak - before
		if err := out.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// small makes sets of the block's size, so that the programs of the large ones are compiled.
func small(n int) prdc.Sets {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([][]float32, min(n, 1024))
	for i := range rows {
		rows[i] = make([]float32, *d)
		for c := range rows[i] {
			rows[i][c] = float32(r.NormFloat64())
		}
	}
	return prdc.Sets{Real: rows, Generated: rows}
}

func read(path string) ([][]float32, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	flat := make([]float32, len(raw)/4)
	for i := range flat {
		flat[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	var rows [][]float32
	for ; len(flat) > 0; flat = flat[*d:] {
		rows = append(rows, flat[:*d])
	}
	return rows, nil
}

// resident reads a size of this process in MiB.
func resident(field string) (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), field)
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib / 1024, err
}
