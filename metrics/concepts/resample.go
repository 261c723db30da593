package concepts

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// level is the nominal probability of all intervals of this package.
const level = 0.95

// seeded returns a generator that depends on the seed and the names only.
func seeded(seed int64, names ...string) *rand.Rand {
	return tabular.Random(seed, strings.Join(names, "\x00")+"\x00")
}

// resamples returns bootstrap resamples of n images, as counts by resample and image; nil under three images.
func resamples(o Options, n int, model string, c Cell) [][]float64 {
	if n < 3 {
		return nil
	}
	return weights(seeded(o.Seed, "pictures", model, c.Language, c.Concept), o.Resamples, n)
}

func weights(rng *rand.Rand, resamples, n int) [][]float64 {
	if resamples == 0 || n == 0 {
		return nil
	}
	all := make([]float64, resamples*n)
	out := make([][]float64, resamples)
	for b := range out {
		out[b] = all[b*n : (b+1)*n]
		for range n {
			out[b][rng.IntN(n)]++
		}
	}
	return out
}

// bootstrapped returns a value with its percentile interval, widened to contain the value. Resamples in which the score
// is NaN are left out.
func bootstrapped(value float64, w [][]float64, score func(resample int) float64) metrics.Estimate {
	if math.IsNaN(value) || len(w) == 0 {
		return metrics.Exact(value)
	}
	values := make([]float64, 0, len(w))
	for b := range w {
		if v := score(b); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	low, high := tabular.Percentiles(values, level)
	return metrics.Estimate{Value: value, Low: min(value, low), High: max(value, high)}
}

// sampler samples the images of other concepts for Dt.
type sampler struct {
	o     Options
	model string
	cells []Cell
	all   map[Cell]*usable
	names []string // concepts of the shared sample, nil until sampled
}

// concepts returns the concepts with an image in a language ("" = in any), sorted.
func (s *sampler) concepts(language string) (out []string) {
	for _, c := range s.cells {
		if (language == "" || c.Language == language) && len(s.all[c].unit) > 0 {
			out = append(out, c.Concept)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pick samples m names; it reorders the list.
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

// others returns the unit vectors of the sample for a cell.
func (s *sampler) others(c Cell) (out [][]float64) {
	if s.o.Sample == Shared {
		return s.fromShared(c)
	}
	names := s.concepts(c.Language)
	if s.o.Own == ExcludeOwn {
		names = slices.DeleteFunc(names, func(n string) bool { return n == c.Concept })
	}
	rng := seeded(s.o.Seed, "sample", s.model, c.Language, c.Concept)
	for _, n := range s.pick(rng, names) {
		images := s.all[Cell{c.Language, n}].unit
		out = append(out, images[rng.IntN(len(images))])
	}
	return out
}

// fromShared returns the sample that all concepts of the model share: the same concepts in each language, if they have
// an image in it.
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
		if n != c.Concept || s.o.Own == IncludeOwn {
			out = append(out, v)
		}
	}
	return out
}
