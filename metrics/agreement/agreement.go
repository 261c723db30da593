package agreement

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"antipode/metrics/internal/tabular"
)

// Level is what the labels' values mean; see the package comment.
type Level string

// The levels.
const (
	Nominal  Level = "nominal"
	Ordinal  Level = "ordinal"
	Interval Level = "interval"
)

// Counts are the ratings: Counts[i][c] ratings of item i have label c. Items with fewer than two ratings take no part.
type Counts [][]int

// Scores of a set of ratings. NaN = not available: no item with two ratings; kappa and alpha also where all ratings are the same (there is
// nothing to agree about), kappa where items have different numbers of ratings.
type Scores struct {
	Percent float64 // in [0, 1]
	Kappa   float64 // in [−1, 1]
	Alpha   float64 // at most 1
	Items   int     // with two ratings or more
	Ratings int     // of those items
}

// Of scores ratings. values are those of the labels, in the order of Counts' columns: ascending for [Ordinal], any numbers for [Interval];
// [Nominal] needs none.
//
// Errors: rows of different length, a negative count, values that do not fit the labels.
func Of(counts Counts, level Level, values []float64) (Scores, error) {
	labels := 0
	for i, row := range counts {
		if i == 0 {
			labels = len(row)
		}
		if len(row) != labels {
			return Scores{}, fmt.Errorf("agreement: item %d has counts of %d labels, the first of %d", i+1, len(row), labels)
		}
		if slices.Min(append([]int{0}, row...)) < 0 {
			return Scores{}, fmt.Errorf("agreement: item %d has a negative count", i+1)
		}
	}
	switch level {
	case Nominal, Ordinal:
	case Interval:
		if len(values) != labels {
			return Scores{}, fmt.Errorf("agreement: %d values for %d labels", len(values), labels)
		}
		for c, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Scores{}, fmt.Errorf("agreement: the value of label %d is %v", c+1, v)
			}
		}
	default:
		return Scores{}, fmt.Errorf("agreement: level %q is none of %s, %s, %s", level, Nominal, Ordinal, Interval)
	}
	return of(counts, labels, level, values), nil
}

func of(counts Counts, labels int, level Level, values []float64) Scores {
	s := Scores{Percent: math.NaN(), Kappa: math.NaN(), Alpha: math.NaN()}
	together := make([][]float64, labels) // coincidences of labels within items, each item weighing as many as it has ratings
	for c := range together {
		together[c] = make([]float64, labels)
	}
	totals := make([]float64, labels)
	same, pairs, shares, each := 0, 0, 0.0, -1
	for _, row := range counts {
		n := 0
		for _, k := range row {
			n += k
		}
		if n < 2 {
			continue
		}
		s.Items++
		s.Ratings += n
		if each >= 0 && each != n {
			each = 0
		} else if each < 0 {
			each = n
		}
		agreeing := 0
		for c, k := range row {
			agreeing += k * (k - 1)
			totals[c] += float64(k)
			for d, l := range row {
				if c == d {
					l--
				}
				together[c][d] += float64(k*l) / float64(n-1)
			}
		}
		same += agreeing
		pairs += n * (n - 1)
		shares += float64(agreeing) / float64(n*(n-1))
	}
	if s.Items == 0 {
		return s
	}
	s.Percent = float64(same) / float64(pairs)
	n := float64(s.Ratings)
	chance := 0.0
	for _, t := range totals {
		chance += t / n * t / n
	}
	observed, expected := 0.0, 0.0
	for c := range labels {
		for d := range labels {
			delta := disagreement(level, values, totals, c, d)
			observed += together[c][d] * delta
			expected += totals[c] * totals[d] * delta / (n - 1)
		}
	}
	if expected > 0 { // two labels at least
		s.Alpha = 1 - observed/expected
		if each > 0 {
			s.Kappa = (shares/float64(s.Items) - chance) / (1 - chance)
		}
	}
	return s
}

// disagreement of two labels.
func disagreement(level Level, values, totals []float64, c, d int) float64 {
	if c == d {
		return 0
	}
	switch level {
	case Interval:
		return (values[c] - values[d]) * (values[c] - values[d])
	case Ordinal:
		between := -(totals[c] + totals[d]) / 2
		for g := min(c, d); g <= max(c, d); g++ {
			between += totals[g]
		}
		return between * between
	}
	return 1
}

// Range is an interval's ends; NaN without draws.
type Range struct{ Low, High float64 }

// Bootstrap gives percentile intervals of the three scores over draws of items with replacement. name sets its random stream apart from
// those of other sets. A draw without a score (all ratings the same) is left out.
func Bootstrap(counts Counts, level Level, values []float64, draws int, confidence float64, seed int64, name string) (percent, kappa, alpha Range, err error) {
	s, err := Of(counts, level, values)
	if err != nil {
		return percent, kappa, alpha, err
	}
	var drawn [3][]float64
	if draws > 0 && s.Items > 0 {
		h := fnv.New64a()
		h.Write([]byte(name))
		rng := rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
		resampled := make(Counts, len(counts))
		for range draws {
			for i := range resampled {
				resampled[i] = counts[rng.IntN(len(counts))]
			}
			one := of(resampled, len(counts[0]), level, values)
			for k, v := range []float64{one.Percent, one.Kappa, one.Alpha} {
				if !math.IsNaN(v) {
					drawn[k] = append(drawn[k], v)
				}
			}
		}
	}
	ends := func(value float64, draws []float64) Range {
		if math.IsNaN(value) {
			return Range{math.NaN(), math.NaN()}
		}
		low, high := tabular.Percentiles(draws, confidence)
		return Range{low, high}
	}
	return ends(s.Percent, drawn[0]), ends(s.Kappa, drawn[1]), ends(s.Alpha, drawn[2]), nil
}
