package significance

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// CohensD returns the difference of the means of a and b in units of their pooled standard deviation: 0.2 small, 0.5
// medium, 0.8 large (Cohen 1988). It is NaN if the values of each group are equal.
//
// Errors: fewer than two values in a group, a value that is NaN or infinite.
func CohensD(a, b []float64) (float64, error) {
	for i, v := range [][]float64{a, b} {
		what := []string{"the first group", "the second group"}[i]
		if err := finite(v, what); err != nil {
			return 0, err
		}
		if len(v) < 2 {
			return 0, fmt.Errorf("significance: %s: one value has no standard deviation", what)
		}
	}
	n, m := float64(len(a)), float64(len(b))
	meanA, squaresA := spread(a)
	meanB, squaresB := spread(b)
	return finiteOrNaN((meanA - meanB) / math.Sqrt((squaresA+squaresB)/(n+m-2))), nil
}

// spread returns the mean and the sum of squared deviations from it.
func spread(values []float64) (mean, squares float64) {
	mean = sum(values) / float64(len(values))
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, squares
}

// CohensH returns the difference of two shares on the scale 2·arcsin √p, on which a difference is equally hard to
// detect everywhere: in [−π, π], 0.2 small, 0.5 medium, 0.8 large (Cohen 1988). It is NaN for a share outside [0, 1].
func CohensH(p, q float64) float64 {
	return 2*math.Asin(math.Sqrt(p)) - 2*math.Asin(math.Sqrt(q))
}

// CliffsDelta returns the probability that a value of a is above one of b, minus the probability that it is below: in
// [−1, 1], ties count as neither (Cliff 1993). It is suited to ratings and other ordinal values.
//
// Errors: an empty group, a value that is NaN or infinite.
func CliffsDelta(a, b []float64) (float64, error) {
	if err := finite(a, "the first group"); err != nil {
		return 0, err
	}
	if err := finite(b, "the second group"); err != nil {
		return 0, err
	}
	sorted := slices.Sorted(slices.Values(b))
	balance := 0
	for _, v := range a {
		below := sort.SearchFloat64s(sorted, v)
		above := len(sorted) - sort.Search(len(sorted), func(i int) bool { return sorted[i] > v })
		balance += below - above
	}
	return float64(balance) / (float64(len(a)) * float64(len(b))), nil
}

// SmallestShareGap returns the nearest shares below and above a share that a two-sided test at level alpha
// distinguishes from it with the given power, in groups of n and m; by [CohensH] and the normal approximation. It is
// NaN on a side where even 0 or 1 is too near.
//
// Errors: a share outside [0, 1], n or m below 1, alpha or power outside (0, 1).
func SmallestShareGap(share float64, n, m int, alpha, power float64) (below, above float64, err error) {
	if !(share >= 0 && share <= 1) {
		return 0, 0, fmt.Errorf("significance: share %v is not in [0, 1]", share)
	}
	h, err := smallest(n, m, alpha, power)
	if err != nil {
		return 0, 0, err
	}
	at := func(angle float64) float64 {
		if angle < 0 || angle > math.Pi {
			return math.NaN()
		}
		s := math.Sin(angle / 2)
		return s * s
	}
	angle := 2 * math.Asin(math.Sqrt(share))
	return at(angle - h), at(angle + h), nil
}

// smallest returns the effect, in standard deviations, that is detected with the given power. It ignores the opposite
// tail of the two-sided test, which adds less than 1e-5 to a power of at least one half.
func smallest(n, m int, alpha, power float64) (float64, error) {
	if n < 1 || m < 1 {
		return 0, fmt.Errorf("significance: groups of %d and %d values: each needs at least one", n, m)
	}
	if !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		return 0, fmt.Errorf("significance: alpha %v and power %v must be between 0 and 1", alpha, power)
	}
	z := math.Sqrt2 * (math.Erfinv(1-alpha) + math.Erfinv(2*power-1)) // the normal quantiles of 1−alpha/2 and of power
	return max(0, z) * math.Sqrt(1/float64(n)+1/float64(m)), nil
}
