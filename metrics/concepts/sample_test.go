package concepts

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"antipode/internal/must"
	"antipode/metrics"
)

func mustUnit(v []float32) []float64 {
	out, err := unit([][]float32{v}, 0)
	if err != nil {
		panic(err)
	}
	return out[0]
}

// replay returns the sample of a cell; TestSample checks samples.
func replay(set Set, o Options, c Cell) [][]float64 {
	return newSampler(set, o).others(c)
}

func newSampler(set Set, o Options) *sampler {
	o, err := o.check(set.Model)
	if err != nil {
		panic(err)
	}
	s := &sampler{o: o, model: set.Model, all: map[Cell]*usable{}}
	width := 0
	for c := range set.Images {
		s.cells = append(s.cells, c)
	}
	slices.SortFunc(s.cells, compareCells)
	for _, c := range s.cells {
		if s.all[c], err = prepare(set, c, &width); err != nil {
			panic(err)
		}
	}
	return s
}

// TestSample: the concepts in the sample of Dt, identified by the angle of their vectors.
func TestSample(t *testing.T) {
	set := Set{Model: "m", Images: map[Cell][]Image{}}
	for k := range 30 {
		for i := range 4 { // angle = concept
			c := Cell{"en", fmt.Sprintf("%02d", k)}
			a := float64(k) / 30
			set.Images[c] = append(set.Images[c],
				Image{ID: strconv.Itoa(i), Vector: []float32{float32(math.Cos(a)), float32(math.Sin(a))}})
		}
	}
	concept := func(v []float64) int { return int(math.Round(30 * math.Atan2(v[1], v[0]))) }
	of := func(o Options, k int) (list []int) {
		for _, v := range newSampler(set, o).others(Cell{"en", fmt.Sprintf("%02d", k)}) {
			list = append(list, concept(v))
		}
		return list
	}
	distinct := func(list []int) int {
		list = slices.Clone(list)
		slices.Sort(list)
		return len(slices.Compact(list))
	}
	a := of(Options{M: 10}, 3)
	if len(a) != 10 || distinct(a) != 10 || slices.Contains(a, 3) {
		t.Errorf("per concept: %v", a)
	}
	common := 0
	for _, k := range of(Options{M: 10}, 4) {
		if slices.Contains(a, k) {
			common++
		}
	}
	if common > 7 { // two independent samples of 10 from 29 share 3 or 4
		t.Errorf("two concepts have %d of 10 in common", common)
	}
	must.EqualSlices(t, a, of(Options{M: 10}, 3), "equal seeds")
	if b := of(Options{M: 10, Intervals: metrics.Intervals{Seed: 1}}, 3); slices.Equal(a, b) {
		t.Errorf("another seed, the same sample %v", b)
	}
	if b := of(Options{M: 100}, 3); len(b) != 29 || distinct(b) != 29 {
		t.Errorf("m above the concepts: %v", b)
	}
	must.Equal(t, len(of(Options{M: 0}, 3)), 29, "m = 0")
	if b := of(Options{M: 200, Replacement: With}, 3); len(b) != 200 || distinct(b) < 25 || slices.Contains(b, 3) {
		t.Errorf("with replacement: %d, %d distinct", len(b), distinct(b))
	}
	if b := of(Options{M: 10, Sample: All, Own: ExcludeOwn}, 3); distinct(b) != 29 || slices.Contains(b, 3) ||
		len(b) != 29*4 {
		t.Errorf("all images: %d of %d concepts", len(b), distinct(b))
	}
	shared := Options{M: 10, Sample: Shared, Own: IncludeOwn}
	a, b := of(shared, 3), of(shared, 4)
	if len(a) != 10 || distinct(a) != 10 || !slices.Equal(a, b) {
		t.Errorf("shared: %v, %v", a, b)
	}
	shared.Own = ExcludeOwn
	if b := of(shared, a[0]); len(b) != 9 || slices.Contains(b, a[0]) {
		t.Errorf("shared, without its own: %v", b)
	}
}
