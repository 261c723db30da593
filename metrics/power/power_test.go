package power

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// cell is a cell of n units of one row each, from row first on.
func cell(name string, first, n int) Cell {
	c := Cell{Name: name}
	for i := range n {
		c.Units, c.Others = append(c.Units, []int{first + i}), append(c.Others, []int{first + i})
	}
	return c
}

// TestSamplesAreWithoutReplacement: 5 of 20 rows are marked; a sample of 4 contains one with probability 1 − C(15,
// 4)/C(20, 4) = 0.7183 (hypergeometric), with replacement 0.684. 4000 samples: a standard error of 0.007.
func TestSamplesAreWithoutReplacement(t *testing.T) {
	audit := func(_ context.Context, d Sample) ([]Result, error) {
		must.Equal(t, len(slices.Compact(slices.Clone(d.Rows))), len(d.Rows), d.Rows, "holds a row twice")
		return []Result{{Subject: "marked", Estimate: float64(len(d.Rows)), Found: d.Rows[0] < 5}}, nil
	}
	out := must.Get(Resample(t.Context(), []Cell{cell("all", 0, 20)}, audit,
		ResampleOptions{Sizes: []int{4}, Resamples: 4000, Seed: int64(near.Seed(t) >> 1)}))(t)
	p := out[0].BySubject()[0]
	if math.Abs(p.Share-0.7183) > 0.022 || p.Resamples != 4000 || p.Estimate != 4 || p.Low >= p.Share ||
		p.High <= p.Share {
		t.Errorf("%+v", p)
	}
}

func TestSamplesDependOnSeedAndNumberAlone(t *testing.T) {
	cells := []Cell{cell("a", 0, 12), cell("b", 12, 12)}
	rows := func(cells []Cell, o ResampleOptions) map[int][]Sample {
		all := map[int][]Sample{}
		for _, n := range o.Sizes {
			all[n] = make([]Sample, o.Resamples)
			for r := range o.Resamples {
				all[n][r] = o.sample(cells, n, 1, r)
			}
		}
		return all
	}
	first := rows(cells, ResampleOptions{Sizes: []int{3, 6}, Resamples: 5, Seed: 7})
	if more := rows(cells, ResampleOptions{Sizes: []int{6}, Resamples: 9, Seed: 7}); !reflect.DeepEqual(more[6][:5],
		first[6]) {
		t.Error("samples change with the other sizes and the number of resamples")
	}
	if swapped := rows([]Cell{cells[1], cells[0]},
		ResampleOptions{Sizes: []int{6}, Resamples: 5, Seed: 7}); !reflect.DeepEqual(swapped[6], first[6]) {
		t.Error("samples change with the order of cells")
	}
	if other := rows(cells, ResampleOptions{Sizes: []int{6}, Resamples: 5, Seed: 8}); reflect.DeepEqual(other[6],
		first[6]) {
		t.Error("another seed gives the same samples")
	}
	for r, d := range first[3] {
		for _, row := range d.Rows {
			if !slices.Contains(first[6][r].Rows, row) {
				t.Errorf("resample %d: row %d is in the sample of 3 and not in that of 6", r, row)
			}
		}
		if in := slices.IndexFunc(d.Rows, func(row int) bool { return row >= 12 }); len(d.Rows) != 6 || in != 3 {
			t.Errorf("resample %d: %v are not 3 of each cell", r, d.Rows)
		}
		if d.Seed == first[3][(r+1)%5].Seed {
			t.Error("two resamples have one seed")
		}
	}
}

// TestWorkersDoNotMatter also checks that progress counts every sample once.
func TestWorkersDoNotMatter(t *testing.T) {
	audit := func(_ context.Context, d Sample) ([]Result, error) {
		return []Result{{Subject: "x", Estimate: float64(d.Rows[0]), Found: d.Seed%2 == 0}}, nil
	}
	var got [][]Outcome
	for _, workers := range []int{1, 4} {
		last := 0
		o := ResampleOptions{Sizes: []int{1, 5}, Resamples: 30, Workers: workers, Progress: func(done, total int) {
			if last++; done != last || total != 60 {
				t.Errorf("%d of %d after %d", done, total, last)
			}
		}}
		out, err := Resample(t.Context(), []Cell{cell("a", 0, 10)}, audit, o)
		if err != nil || last != 60 {
			t.Fatal(err, last)
		}
		got = append(got, out)
	}
	if !reflect.DeepEqual(got[0], got[1]) {
		t.Error("four workers give another result than one")
	}
}

// TestShares: a share of a sample comes from the pool, the rest from the other pool at the same positions; on average
// exactly so.
func TestShares(t *testing.T) {
	c := cell("a", 0, 10)
	for i := range c.Others {
		c.Others[i] = []int{100 + i}
	}
	o := ResampleOptions{Seed: 3}
	own := 0
	for r := range 2000 {
		whole, half, none := o.sample([]Cell{c}, 3, 1, r), o.sample([]Cell{c}, 3, 0.5, r), o.sample([]Cell{c}, 3, 0, r)
		if len(whole.Others) > 0 || len(none.Rows) > 0 {
			t.Fatal("share 1 samples from the other pool, or share 0 from the pool")
		}
		own += len(half.Rows)
		places := slices.Clone(half.Rows)
		for _, row := range half.Others {
			places = append(places, row-100)
		}
		if slices.Sort(places); !slices.Equal(places, whole.Rows) {
			t.Fatalf("%v and %v stand for %v", half.Rows, half.Others, whole.Rows)
		}
	}
	must.Near(t, float64(own)/2000, 1.5, 0.06, "half of 3", "on average")
}

func TestResampleErrors(t *testing.T) {
	ok := func(context.Context, Sample) ([]Result, error) { return nil, nil }
	cells := []Cell{cell("cell region=V", 0, 4)}
	_, err := Resample(t.Context(), cells, ok, ResampleOptions{Sizes: []int{2, 5}, Resamples: 1})
	var small *ErrTooSmall
	if !errors.As(err, &small) || *small != (ErrTooSmall{"cell region=V", 4, 5}) {
		t.Errorf("%v", err)
	}
	for name, o := range map[string]ResampleOptions{"no size": {Resamples: 1},
		"size 0":      {Sizes: []int{0}, Resamples: 1},
		"no resample": {Sizes: []int{1}}, "share 2": {Sizes: []int{1}, Resamples: 1, Shares: []float64{2}}} {
		if _, err := Resample(t.Context(), cells, ok, o); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	must.Fail(Resample(t.Context(), []Cell{{Name: "a", Units: [][]int{{0}}}}, ok,
		ResampleOptions{Sizes: []int{1}, Resamples: 1, Shares: []float64{0.5}}))(t) // half of a sample from no pool
	must.Fail(Resample(t.Context(), nil, ok, ResampleOptions{Sizes: []int{1}, Resamples: 1}))(t) // an empty pool
	var calls atomic.Int64
	broken := func(ctx context.Context, d Sample) ([]Result, error) {
		calls.Add(1)
		return nil, errors.New("broken")
	}
	if _, err := Resample(t.Context(), cells, broken,
		ResampleOptions{Sizes: []int{2}, Resamples: 1000, Workers: 2}); err == nil ||
		err.Error() != "resample 1 of 2 per cell: broken" || calls.Load() > 10 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestResampleStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var calls atomic.Int64
	audit := func(ctx context.Context, d Sample) ([]Result, error) {
		if calls.Add(1) == 5 {
			stop()
		}
		return nil, ctx.Err()
	}
	if _, err := Resample(ctx, []Cell{cell("a", 0, 4)}, audit,
		ResampleOptions{Sizes: []int{2}, Resamples: 10000}); !errors.Is(err, context.Canceled) || calls.Load() > 50 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestOutcome(t *testing.T) {
	o := Outcome{N: 3, Results: [][]Result{
		{{Subject: "a", Estimate: 1, Found: true}, {Subject: "b", Estimate: 2, Found: false}},
		{{Subject: "b", Estimate: 4, Found: true}, {Subject: "a", Estimate: math.NaN(), Found: false}},
		{{Subject: "a", Estimate: 3, Found: true}},
		{},
	}}
	by := o.BySubject()
	if len(by) != 2 || by[0].Subject != "a" || by[0].Found != 2 || by[0].Share != 0.5 || by[0].Estimate != 2 ||
		by[1].Found != 1 || by[1].Share != 0.25 || by[1].Estimate != 3 || by[0].EstimateLow != 1 {
		t.Errorf("%+v", by)
	}
	if any := o.Any(func(string) bool { return true }); any.Found != 3 || any.Share != 0.75 {
		t.Errorf("%+v", any)
	}
	must.Equal(t, o.Any(func(s string) bool { return s != "a" }).Found, 1)
}
