package interval

import (
	"fmt"
	"math"
	"slices"
)

// BootstrapOptions are the options of [BootstrapOf].
type BootstrapOptions struct {
	Seed      uint64
	Resamples int     // 0 = 2000
	Level     float64 // 0 = 0.95
	Range     Range   // the values' range
}

// BootstrapMean returns the mean of values with a percentile interval from resampling whole clusters with
// replacement: all values of one annotator, one image or one prompt are resampled together. If clusters is nil,
// each value is a cluster. It does not suit nearest-neighbor scores; see the package comment.
func BootstrapMean(values []float64, clusters []string, b BootstrapOptions) (Interval, error) {
	return BootstrapOf([][]float64{values, slices.Repeat([]float64{1}, len(values))}, clusters, ratioOf(0, 1), b)
}

// BootstrapRatio returns the ratio of two sums, Σ numerators / Σ denominators, with the interval of [BootstrapMean]: a
// row's two numbers, and all rows of a cluster, are resampled together. For a ratio of two groups' means use
// [BootstrapOf] with four sums. If the denominator is 0, value, low and high are NaN; if it is 0 in resamples, the
// end of the interval that falls on them is NaN.
func BootstrapRatio(numerators, denominators []float64, clusters []string, b BootstrapOptions) (Interval, error) {
	return BootstrapOf([][]float64{numerators, denominators}, clusters, ratioOf(0, 1), b)
}

// ratioOf divides one total by another; NaN for 0/0, infinite for x/0.
func ratioOf(a, b int) func([]float64) float64 {
	return func(t []float64) float64 { return t[a] / t[b] }
}

// BootstrapOf returns a function of sums over rows, of(Σ parts[0], Σ parts[1], …), with a percentile interval from
// resampling whole clusters of rows with replacement. parts[p][row] are the rows' terms; if clusters is nil, each row
// is a cluster. Resamples in which the function is NaN are left out (Interval.Resamples is the number of the others);
// an end that falls on an infinite one is NaN. A value that is NaN or infinite has no interval. The rows' order does
// not matter.
//
// Errors: no rows, parts or clusters of unequal length, a term that is NaN or infinite, a level outside (0, 1), fewer
// than two resamples.
func BootstrapOf(parts [][]float64, clusters []string, of func(totals []float64) float64, b BootstrapOptions) (Interval,
	error) {
	if b.Resamples == 0 {
		b.Resamples = 2000
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	if len(parts) == 0 || len(parts[0]) == 0 {
		return Interval{}, fmt.Errorf("%w: there are no values", ErrResamples)
	}
	for p := range parts {
		if len(parts[p]) != len(parts[0]) {
			return Interval{}, fmt.Errorf("interval: %d and %d terms for the same rows", len(parts[0]), len(parts[p]))
		}
	}
	if clusters != nil && len(clusters) != len(parts[0]) {
		return Interval{}, fmt.Errorf("interval: %d cluster names for %d values", len(clusters), len(parts[0]))
	}
	sums := clusterSums(parts, clusters)
	total := make([]float64, len(parts))
	for _, s := range sums {
		for p, v := range s {
			total[p] += v
		}
	}
	if slices.ContainsFunc(total, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return Interval{}, fmt.Errorf("interval: the values contain NaN or infinity; leave such rows out")
	}
	out := Interval{Value: of(total), Low: math.NaN(), High: math.NaN(), Level: b.Level, Method: MethodBootstrap}
	source := seeded(b.Seed, "bootstrap", "")
	values, resample := make([]float64, 0, b.Resamples), make([]float64, len(parts))
	for range b.Resamples {
		clear(resample)
		for range sums {
			for p, v := range sums[below(source, len(sums))] {
				resample[p] += v
			}
		}
		if v := of(resample); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	out.Resamples = len(values)
	if math.IsNaN(out.Value) || math.IsInf(out.Value, 0) {
		out.Value = math.NaN()
		return out, nil
	}
	finite := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsInf(v, 0) })
	if err := check(finite, b.Level); err != nil {
		return Interval{}, err
	}
	slices.Sort(values)
	end := func(p float64) float64 {
		if q := quantile(values, p); !math.IsNaN(q) && !math.IsInf(q, 0) {
			return b.Range.clip(q)
		}
		return math.NaN()
	}
	out.Low, out.High = end((1-b.Level)/2), end((1+b.Level)/2)
	return out, nil
}

// clusterSums adds up each cluster's terms, in the order of the clusters' names (without clusters, in the order of the
// rows' terms), so that the rows' order does not matter.
func clusterSums(parts [][]float64, clusters []string) [][]float64 {
	rows := make([][]float64, len(parts[0]))
	for i := range rows {
		for p := range parts {
			rows[i] = append(rows[i], parts[p][i])
		}
	}
	if clusters == nil {
		slices.SortFunc(rows, slices.Compare)
		return rows
	}
	names := slices.Compact(slices.Sorted(slices.Values(clusters)))
	sums := make([][]float64, len(names))
	for i, row := range rows {
		c, _ := slices.BinarySearch(names, clusters[i])
		if sums[c] == nil {
			sums[c] = make([]float64, len(parts))
		}
		for p, v := range row {
			sums[c][p] += v
		}
	}
	return sums
}
