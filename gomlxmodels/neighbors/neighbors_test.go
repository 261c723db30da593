package neighbors_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"antipode/gomlxmodels/device"
	_ "antipode/gomlxmodels/device/xla" // compiles distances in milliseconds
	"antipode/gomlxmodels/neighbors"
	"antipode/internal/distance"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/interval"
	"antipode/metrics/prdc"
	"antipode/test/modeltest"
)

var _ prdc.Neighbors = (*neighbors.Finder)(nil)

// rows makes n vectors of d numbers.
func rows(n, d int, number func() float64) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, d)
		for c := range out[i] {
			out[i][c] = float32(number())
		}
	}
	return out
}

// sets are pairs of sets that are hard in different ways.
func sets(seed uint64) map[string]prdc.Sets {
	r := rand.New(rand.NewPCG(seed, 1))
	normal := func(shift, scale float64) func() float64 {
		return func() float64 { return shift + scale*r.NormFloat64() }
	}
	grid := func(side int) func() float64 { return func() float64 { return float64(r.IntN(side)) } }
	near := rows(150, 20, normal(0, 1)) // every vector has a neighbor a few float32 steps away
	for i := 75; i < 150; i++ {
		copy(near[i], near[i-75])
		near[i][r.IntN(20)] *= 1 + 3e-7
	}
	outlier := append(rows(140, 12, normal(0, 1)), rows(1, 12, normal(1e6, 1))...)
	return map[string]prdc.Sets{
		"normal": {Real: rows(201, 33, normal(0, 1)), Generated: append(rows(170, 33, normal(0.1, 0.9)), nil,
			nil)},
		"far away":     {Real: rows(150, 16, normal(5000, 1)), Generated: rows(140, 16, normal(5000.2, 1))},
		"ties":         {Real: rows(200, 3, grid(6)), Generated: rows(210, 3, grid(7))},
		"binary":       {Real: rows(130, 40, grid(2)), Generated: rows(131, 40, grid(2))},
		"near copies":  {Real: near, Generated: near[20:120]},
		"outlier":      {Real: outlier, Generated: rows(100, 12, normal(0, 1))},
		"tiny numbers": {Real: rows(100, 9, normal(0, 1e-30)), Generated: rows(100, 9, normal(0, 1e-30))},
		"big numbers":  {Real: rows(100, 9, normal(0, 1e15)), Generated: rows(100, 9, normal(0, 1e15))},
		"all equal": {Real: rows(70, 5, func() float64 { return 3 }),
			Generated: rows(70, 5, func() float64 { return 3 })},
		"all inside": {Real: rows(150, 64, normal(0, 1)), Generated: rows(150, 64, normal(0, 0.2))},
		"one column": {Real: rows(90, 1, normal(0, 1)), Generated: rows(80, 1, normal(0, 1))},
	}
}

// The result equals the plain comparison's to the last bit, whatever the backend and the size of the blocks.
func TestEqualsPlain(t *testing.T) {
	for _, kind := range []string{device.Go, device.XLACPU} {
		t.Run(kind, func(t *testing.T) {
			d := modeltest.Device(t, kind)
			for _, block := range []int{64, 96, 0} {
				f := neighbors.New(d.Backend, neighbors.Options{Block: block})
				defer f.Close()
				for name, s := range sets(near.Seed(t)) {
					t.Run(fmt.Sprintf("%s/%d", name, block), func(t *testing.T) { compare(t, f, s) })
				}
			}
		})
	}
}

func compare(t *testing.T, f *neighbors.Finder, s prdc.Sets) {
	ctx := t.Context()
	for _, k := range []int{1, 3, 30} {
		index, near := must.Get2(f.Nearest(ctx, s.Real, k))(t)
		wantIndex, wantNear := must.Get2(prdc.Plain{}.Nearest(ctx, s.Real, k))(t)
		for i := range wantIndex {
			if index[i] != wantIndex[i] || near[i] != wantNear[i] {
				t.Fatalf("k = %d: neighbor %d of row %d is %d at %v, want %d at %v", k, i%k, i/k, index[i], near[i],
					wantIndex[i], wantNear[i])
			}
		}
	}
	for _, closed := range []bool{false, true} {
		opts := prdc.Options{Closed: closed, Recall: true, Members: true, RealSamples: halves(t, len(s.Real)),
			GeneratedSamples: halves(t, len(s.Generated))}
		got := must.Get(prdc.Compute(ctx, s, opts, f))(t)
		want := must.Get(prdc.Compute(ctx, s, opts, nil))(t)
		must.Equal(t, got.Scores, want.Scores, "closed", closed)
		must.EqualSlices(t, got.Samples, want.Samples, "closed", closed)
		must.EqualSlices(t, got.Radii, want.Radii, closed)
		must.EqualSlices(t, got.Inside, want.Inside, closed)
		must.EqualSlices(t, got.Balls, want.Balls, closed)
		for j := range want.Members {
			if !slices.Equal(got.Members[j], want.Members[j]) {
				t.Fatalf("closed %v: members of ball %d are %v, want %v", closed, j, got.Members[j], want.Members[j])
			}
		}
	}
}

func halves(t *testing.T, n int) *interval.Samples {
	o := interval.HalfSampleOptions{Seed: 3, Resamples: 70, Cells: make([]string, n)}
	return must.Get(interval.HalfSample(o))(t)
}

// Several callers share a Finder; the device sees one at a time.
func TestSharedAndCancelled(t *testing.T) {
	d := modeltest.Device(t, device.Go)
	f := neighbors.New(d.Backend, neighbors.Options{Block: 64})
	defer f.Close()
	s := sets(near.Seed(t))["normal"]
	want := must.Get(prdc.Compute(t.Context(), s, prdc.Options{}, nil))(t)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			got := must.Get(prdc.Compute(t.Context(), s, prdc.Options{}, f))(t)
			must.Equal(t, got.Precision, want.Precision)
			must.Equal(t, got.Coverage, want.Coverage)
		})
	}
	wait.Wait()
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Nearest(stopped, s.Real, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestErrors(t *testing.T) {
	d := modeltest.Device(t, device.Go)
	f := neighbors.New(d.Backend, neighbors.Options{})
	defer f.Close()
	points := sets(1)["normal"].Real
	for _, k := range []int{0, len(points)} {
		must.Fail(f.Nearest(t.Context(), points, k))(t)
	}
	visit := func(int, []int32, []uint8) { t.Error("visited") }
	// missing radii
	must.Fail(f.Within(t.Context(), distance.Balls{Centers: points, Levels: 2}, points, []distance.Visit{visit}))(t)
	if err := f.Within(t.Context(), distance.Balls{Levels: 1}, points, []distance.Visit{visit}); err != nil {
		t.Errorf("no balls: %v", err)
	}
}
