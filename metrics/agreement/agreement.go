package agreement

import (
	"fmt"
	"math"
	"slices"

	"antipode/metrics/interval"
)

// Scale is the scale of measurement of the labels; see the package comment.
type Scale = string

// The scales.
const (
	Nominal  Scale = "nominal"
	Ordinal  Scale = "ordinal"
	Interval Scale = "interval"
)

// Counts are the ratings: Counts[i][c] ratings of item i have label c. Items with fewer than two ratings are ignored.
type Counts [][]int

// Result are the scores of a set of ratings. NaN = not available: no item has two ratings; for kappa and alpha also
// if all ratings are equal, for kappa if items have different numbers of ratings.
type Result struct {
	Percent float64 // in [0, 1]
	Kappa   float64 // in [−1, 1]
	Alpha   float64 // at most 1
	Items   int     // with at least two ratings
	Ratings int     // of those items
}

// Compute returns the scores of ratings. values are the values of the labels, in the order of Counts' columns: for
// [Interval] any numbers. [Nominal] and [Ordinal] do not use them; ordinal labels must be in ascending order.
//
// Errors: rows of different length, a negative count, values that do not match the labels.
func Compute(counts Counts, scale Scale, values []float64) (Result, error) {
	labels := 0
	for i, row := range counts {
		if i == 0 {
			labels = len(row)
		}
		if len(row) != labels {
			return Result{}, fmt.Errorf("agreement: item %d has counts of %d labels, the first of %d", i+1, len(row),
				labels)
		}
		if slices.Min(append([]int{0}, row...)) < 0 {
			return Result{}, fmt.Errorf("agreement: item %d has a negative count", i+1)
		}
	}
	switch scale {
	case Nominal, Ordinal:
	case Interval:
		if len(values) != labels {
			return Result{}, fmt.Errorf("agreement: %d values for %d labels", len(values), labels)
		}
		for c, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Result{}, fmt.Errorf("agreement: the value of label %d is %v", c+1, v)
			}
		}
	default:
		return Result{}, fmt.Errorf("agreement: scale %q is none of %s, %s, %s", scale, Nominal, Ordinal, Interval)
	}
	return of(counts, labels, scale, values), nil
}

func of(counts Counts, labels int, scale Scale, values []float64) Result {
	s := Result{Percent: math.NaN(), Kappa: math.NaN(), Alpha: math.NaN()}
	// coincidences of labels within items, weighted by the item's number of ratings
	together := make([][]float64, labels)
	for c := range together {
		together[c] = make([]float64, labels)
	}
	totals := make([]float64, labels)
	same, pairs, shares, each := 0, 0, 0.0, -1
	for _, row := range counts {
		n := total(row)
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
			if k == 0 {
				continue
			}
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
			delta := disagreement(scale, values, totals, c, d)
			observed += together[c][d] * delta
			expected += totals[c] * totals[d] * delta / (n - 1)
		}
	}
	if expected > 0 { // at least two labels
		s.Alpha = 1 - observed/expected
		if each > 0 {
			s.Kappa = (shares/float64(s.Items) - chance) / (1 - chance)
		}
	}
	return s
}

func total(row []int) (n int) {
	for _, k := range row {
		n += k
	}
	return n
}

// disagreement returns the disagreement of two labels.
func disagreement(scale Scale, values, totals []float64, c, d int) float64 {
	if c == d {
		return 0
	}
	switch scale {
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

// Intervals are the ends of the intervals of [Result], low and high; NaN = not available.
type Intervals struct{ Percent, Kappa, Alpha [2]float64 }

// ComputeIntervals returns the intervals of the three scores from resampling the items with two ratings or more, with
// replacement. A resample without a score (all ratings equal) is ignored.
func ComputeIntervals(counts Counts, scale Scale, values []float64, o interval.BootstrapOptions) (out Intervals,
	err error) {
	s, err := Compute(counts, scale, values)
	if err != nil {
		return out, err
	}
	counts = slices.DeleteFunc(slices.Clone(counts), func(row []int) bool { return total(row) < 2 })
	boot, err := interval.NewBootstrap(o, len(counts))
	if err != nil {
		return out, err
	}
	var samples [3][]float64
	resampled := make(Counts, len(counts))
	for _, units := range boot.Units() {
		for i, u := range units {
			resampled[i] = counts[u]
		}
		one := of(resampled, len(counts[0]), scale, values)
		for k, v := range []float64{one.Percent, one.Kappa, one.Alpha} {
			samples[k] = append(samples[k], v)
		}
	}
	for k, to := range []*[2]float64{&out.Percent, &out.Kappa, &out.Alpha} {
		to[0], to[1] = boot.Ends([]float64{s.Percent, s.Kappa, s.Alpha}[k], samples[k])
	}
	return out, nil
}
