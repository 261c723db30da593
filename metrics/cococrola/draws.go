package cococrola

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"antipode/metrics/internal/tabular"
)

// level is the nominal probability of every interval here.
const level = 0.95

// seeded makes a generator that depends on the seed and the names only.
func seeded(seed int64, names ...string) *rand.Rand {
	h := fnv.New64a()
	for _, n := range names {
		h.Write([]byte(n + "\x00"))
	}
	return rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
}

// resamples are bootstrap draws of n pictures with replacement, as counts by draw and picture; nil under three pictures or without draws.
func resamples(o Options, n int, model string, c Cell) [][]float64 {
	if n < 3 {
		return nil
	}
	return weights(seeded(o.Seed, "pictures", model, c.Language, c.Concept), o.Draws, n)
}

func weights(rng *rand.Rand, draws, n int) [][]float64 {
	if draws == 0 || n == 0 {
		return nil
	}
	all := make([]float64, draws*n)
	out := make([][]float64, draws)
	for b := range out {
		out[b] = all[b*n : (b+1)*n]
		for range n {
			out[b][rng.IntN(n)]++
		}
	}
	return out
}

// bootstrapped gives a value its percentile interval; draws in which the score is not available are left out. The interval always holds the value.
func bootstrapped(value float64, draws [][]float64, score func(draw int) float64) Value {
	if math.IsNaN(value) || len(draws) == 0 {
		return Value{value, math.NaN(), math.NaN()}
	}
	values := make([]float64, 0, len(draws))
	for b := range draws {
		if v := score(b); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	low, high := tabular.Percentiles(values, level)
	return Value{value, min(value, low), max(value, high)}
}

// sampler draws the pictures of other concepts that Dt compares with.
type sampler struct {
	o     Options
	model string
	cells []Cell
	all   map[Cell]*drawn
	names []string // of the shared sample, once drawn
}

// concepts are those with a picture in a language ("" = in any), by name.
func (s *sampler) concepts(language string) (out []string) {
	for _, c := range s.cells {
		if (language == "" || c.Language == language) && len(s.all[c].unit) > 0 {
			out = append(out, c.Concept)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pick draws names from a list that it reorders.
func (s *sampler) pick(rng *rand.Rand, names []string) []string {
	m := s.o.M
	if m == 0 {
		m = len(names)
	}
	if s.o.Replacement == With && len(names) > 0 {
		out := make([]string, m)
		for i := range out {
			out[i] = names[rng.IntN(len(names))]
		}
		return out
	}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names[:min(m, len(names))]
}

// others are the unit vectors of the sample for a cell.
func (s *sampler) others(c Cell) (out [][]float64) {
	if s.o.Sample == Shared {
		return s.fromShared(c)
	}
	names := s.concepts(c.Language)
	if s.o.Own == NotOwn {
		names = slices.DeleteFunc(names, func(n string) bool { return n == c.Concept })
	}
	rng := seeded(s.o.Seed, "sample", s.model, c.Language, c.Concept)
	for _, n := range s.pick(rng, names) {
		images := s.all[Cell{c.Language, n}].unit
		out = append(out, images[rng.IntN(len(images))])
	}
	return out
}

// fromShared is the sample that all concepts of the model share: the same concepts in each language, those with a picture in it.
func (s *sampler) fromShared(c Cell) (out [][]float64) {
	if s.names == nil {
		s.names = s.pick(seeded(s.o.Seed, "shared sample", s.model), s.concepts(""))
	}
	rng := seeded(s.o.Seed, "shared sample", s.model, c.Language)
	for _, n := range s.names {
		d := s.all[Cell{c.Language, n}]
		if d == nil || len(d.unit) == 0 {
			continue
		}
		v := d.unit[rng.IntN(len(d.unit))]
		if n != c.Concept || s.o.Own == OrOwn {
			out = append(out, v)
		}
	}
	return out
}
