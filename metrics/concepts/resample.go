package concepts

import (
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// seeded returns a generator that depends on the seed and the names only.
func seeded(seed int64, names ...string) *rand.Rand {
	return tabular.Random(seed, strings.Join(names, "\x00")+"\x00")
}

// resamples are bootstrap resamples of images or concepts. nil has none.
type resamples struct {
	*interval.Bootstrap
	weights [][]float64 // by resample: how often it contains each
}

// resample samples n images of a cell; nil under three images.
func resample(o Options, n int, model string, c Cell) (*resamples, error) {
	if n < 3 {
		return &resamples{}, nil
	}
	return resampleUnits(o.Intervals, n, "images", model, c.Language, c.Concept)
}

func resampleUnits(i metrics.Intervals, n int, stream ...string) (*resamples, error) {
	b, err := interval.NewBootstrap(i.Bootstrap(stream...), n)
	return &resamples{b, b.Weights()}, err
}

func (r *resamples) estimate(value float64, score func(w []float64) float64) metrics.Estimate {
	e, values := metrics.Exact(value), make([]float64, len(r.weights))
	for b, w := range r.weights {
		values[b] = score(w)
	}
	e.Low, e.High = r.Ends(value, values)
	return e
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
	if s.o.Sample == All {
		for _, n := range names {
			out = append(out, s.all[Cell{c.Language, n}].unit...)
		}
		return out
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
