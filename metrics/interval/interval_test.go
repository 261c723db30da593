package interval

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"antipode/internal/must"
)

func cells(n, of int) (cells, ids []string) {
	for i := range n {
		cells = append(cells, "cell "+strconv.Itoa(i%of))
		ids = append(ids, "id "+strconv.Itoa(i))
	}
	return cells, ids
}

func half(t *testing.T, h HalfSampleOptions) *Samples {
	t.Helper()
	return must.Get(HalfSample(h))(t)
}

// Each half-sample contains half of each cell; of an odd cell both halves occur.
func TestHalvesOfCells(t *testing.T) {
	c, ids := cells(47, 3) // cells of 16, 16 and 15
	d := half(t, HalfSampleOptions{Seed: 1, Side: "real", Cells: c, IDs: ids})
	if d.Count() != 200 || d.Len() != 47 {
		t.Fatalf("%d samples of %d rows", d.Count(), d.Len())
	}
	odd := map[int]int{}
	for b := range d.Count() {
		taken := map[string]int{}
		for row := range c {
			if d.Contains(b, row) {
				taken[c[row]]++
			}
		}
		if taken["cell 0"] != 8 || taken["cell 1"] != 8 {
			t.Fatalf("half-sample %d contains %v", b, taken)
		}
		odd[taken["cell 2"]]++
		must.Equal(t, d.Sizes()[b], 16+taken["cell 2"], "size of half-sample", b)
	}
	if odd[7]+odd[8] != 200 || odd[7] < 60 || odd[8] < 60 {
		t.Errorf("halves of 15: %v", odd)
	}
	for row := range c { // each row is in about half of the half-samples: 100 ± 4.5 standard deviations
		n := 0
		for b := range d.Count() {
			if d.Contains(b, row) {
				n++
			}
		}
		if n < 68 || n > 132 {
			t.Errorf("row %d is in %d half-samples", row, n)
		}
	}
}

// Equal seeds give equal half-samples; order of rows and other cells do not matter, sides and seeds do.
func TestHalvesAreReproducible(t *testing.T) {
	c, ids := cells(40, 3)
	h := HalfSampleOptions{Seed: 5, Side: "real", Cells: c, IDs: ids}
	d := half(t, h)
	must.EqualSlices(t, d.bits, half(t, h).bits, "equal options, other half-samples")
	for range 20 { // not in the order of a map
		must.Fail(HalfSample(HalfSampleOptions{Cells: c, IDs: make([]string, 40)}))(t, `in cell "cell 0"`)
	}
	turned := h
	turned.Cells, turned.IDs = slices.Clone(c), slices.Clone(ids)
	slices.Reverse(turned.Cells)
	slices.Reverse(turned.IDs)
	r := half(t, turned)
	for row := range c {
		if !slices.Equal(d.Row(row), r.Row(len(c)-1-row)) {
			t.Fatal("half-samples depend on the order of rows")
		}
	}
	var rows []int
	alone := HalfSampleOptions{Seed: 5, Side: "real"}
	for row, cell := range c {
		if cell == "cell 1" {
			rows, alone.Cells, alone.IDs = append(rows, row), append(alone.Cells, cell), append(alone.IDs, ids[row])
		}
	}
	must.EqualSlices(t, half(t, alone).bits, d.Pick(rows).bits, "half-samples of a cell depend on the other cells")
	for name, o := range map[string]HalfSampleOptions{"side": {Seed: 5, Side: "generated", Cells: c, IDs: ids},
		"seed": {Seed: 6, Side: "real", Cells: c, IDs: ids}} {
		if slices.Equal(half(t, o).bits, d.bits) {
			t.Errorf("another %s, equal half-samples", name)
		}
	}
}

// TestOutside: rows outside a half-sample, the requested number, whatever the order of rows is.
func TestOutside(t *testing.T) {
	of, ids := cells(40, 4)
	s, order := half(t, HalfSampleOptions{Cells: of, IDs: ids}), make([]int, 40)
	for i := range order {
		order[i] = (i*7 + 3) % 40
	}
	out, other := s.Outside(0.3), s.Pick(order).Outside(0.3)
	for b, size := range out.Sizes() {
		must.Equal(t, size, 6, "rows of half-sample", b)
		for i, row := range order {
			if out.Contains(b, row) && s.Contains(b, row) || out.Contains(b, row) != other.Contains(b, i) {
				t.Fatalf("half-sample %d, row %d", b, row)
			}
		}
	}
	must.Equal(t, s.Outside(2).Sizes()[0], 20, "all")
}

func TestHalvesErrors(t *testing.T) {
	for name, h := range map[string]HalfSampleOptions{
		"twice":  {Cells: []string{"a", "a"}, IDs: []string{"x", "x"}},
		"counts": {Cells: []string{"a", "a"}, IDs: []string{"x"}},
		"one":    {Cells: []string{"a"}, Resamples: 1},
	} {
		if _, err := HalfSample(h); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The example of the package's formula, by hand: quantiles at 2.5 % and 97.5 % of 0…40 are 0.05 and 39.95 (positions
// 0.025·42 and 0.975·42), their mean is 20.
func TestFromHalves(t *testing.T) {
	samples := make([]float64, 41)
	for i := range samples {
		samples[i] = float64(i)
	}
	i, err := FromHalves(100, samples, 0.95, Range{})
	if err != nil || math.Abs(i.Low-80.05) > 1e-9 || math.Abs(i.High-119.95) > 1e-9 || i.Value != 100 ||
		i.Resamples != 41 {
		t.Errorf("%+v, %v", i, err)
	}
	if c, _ := FromHalves(100, samples, 0.95, Range{90, 110}); c.Low != 90 || c.High != 110 {
		t.Errorf("cut: %+v", c)
	}
	if !i.Excludes(0) || i.Excludes(90) {
		t.Error("Excludes")
	}
	for name, d := range map[string][]float64{"nan": {1, math.NaN()}, "few": {1}} {
		if _, err := FromHalves(1, d, 0.95, Range{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	must.Fail(FromHalves(1, samples, 95, Range{}))(t) // level 95
}

// Simultaneous intervals of independent values are as wide as the maximum of normal variables requires, hold
// together, and equal the single one for a single value.
func TestSimultaneous(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	const gaps, count = 15, 20000
	samples := make([][]float64, gaps)
	values := make([]float64, gaps)
	for v := range samples {
		samples[v] = make([]float64, count)
		for b := range samples[v] {
			samples[v][b] = float64(v+1) * r.NormFloat64()
		}
	}
	all := must.Get(Simultaneous(values, samples, 0.95))(t)
	for v, i := range all { // 2.93 is the 95 % quantile of the largest of 15 |normals|: Φ⁻¹((1+0.95^(1/15))/2)
		must.Near(t, i.High/float64(v+1), 2.93, 0.06, "value", v, "standard deviations")
	}
	must.Near(t, must.Get(Simultaneous(values[:1], samples[:1], 0.95))(t)[0].High, 1.96, 0.05, "one value")
	still, err := Simultaneous([]float64{1, 2}, [][]float64{{3, 3, 3}, {1, 2, 3}}, 0.9)
	if err != nil || still[0].Low != 1 || still[0].High != 1 || !(still[1].High > 2) {
		t.Errorf("a value that does not move: %+v, %v", still, err)
	}
	must.Fail(Simultaneous([]float64{1, 2}, [][]float64{{3, 3, 3}, {1, 2}}, 0.9))(t) // unequal numbers of half-samples
}

func TestBootstrapMean(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 1))
	var values []float64
	var clusters []string
	for c := range 100 { // 100 clusters of 10 nearly equal values: as much as 100 values
		center := r.NormFloat64()
		for range 10 {
			values = append(values, center+0.01*r.NormFloat64())
			clusters = append(clusters, "c"+strconv.Itoa(c))
		}
	}
	width := func(i Interval, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return i.High - i.Low
	}
	clustered, single := width(BootstrapMean(values, clusters, BootstrapOptions{Resamples: 2000})),
		width(BootstrapMean(values, nil, BootstrapOptions{Resamples: 2000}))
	must.Near(t, clustered/(2*1.96/10), 1, 0.25, "clustered: width", clustered)
	must.Near(t, clustered/single, math.Sqrt(10), 0.4, "clusters widen the interval")
	a, _ := BootstrapMean(values, clusters, BootstrapOptions{Resamples: 9, Seed: 1})
	b, _ := BootstrapMean(values, clusters, BootstrapOptions{Resamples: 9, Seed: 1})
	must.Equal(t, a, b, "equal seeds, other intervals")
	must.Fail(BootstrapMean([]float64{1, math.NaN()}, nil, BootstrapOptions{}))(t) // NaN
	must.Fail(BootstrapMean(nil, nil, BootstrapOptions{}))(t)                      // no values
}
