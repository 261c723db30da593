package interval

import (
	"fmt"
	"math"
	"slices"
)

// Bootstrap are the settings of [BootstrapOf].
type Bootstrap struct {
	Seed  uint64
	Count int     // number of resamples; 0 = 2000
	Level float64 // 0 = 0.95
	Range Range   // the values' range
}

// BootstrapMean gives the mean of some values with a percentile interval from resampling whole clusters with
// replacement: all values of one annotator, of one picture or of one prompt come and go together. A nil clusters makes each value its own. It does not suit
// nearest-neighbour scores (see the package comment).
func BootstrapMean(values []float64, clusters []string, b Bootstrap) (Interval, error) {
	return BootstrapOf([][]float64{values, slices.Repeat([]float64{1}, len(values))}, clusters, ratioOf(0, 1), b)
}

// BootstrapRatio gives the ratio of two sums, Σ numerators / Σ denominators, with the interval of [BootstrapMean]: a row's two numbers, and all rows of a cluster, come and go together.
// A ratio of two groups' means is [BootstrapOf] of four sums. A denominator of 0 gives NaN without ends; where draws have one, the end that falls on them is NaN: there is none.
func BootstrapRatio(numerators, denominators []float64, clusters []string, b Bootstrap) (Interval, error) {
	return BootstrapOf([][]float64{numerators, denominators}, clusters, ratioOf(0, 1), b)
}

// ratioOf divides one total by another; NaN for 0/0, infinite for x/0.
func ratioOf(a, b int) func([]float64) float64 {
	return func(t []float64) float64 { return t[a] / t[b] }
}

// BootstrapOf gives a number made from sums over rows, of(Σ parts[0], Σ parts[1], …), with a percentile interval from resampling whole clusters of rows with replacement; a
// nil clusters makes each row its own. parts[p][row] are the rows' terms. Draws in which the number is NaN are left out (Draws counts the others); an end that falls on an
// infinite one is NaN. A value that is NaN or infinite has no ends. The rows' order does not matter.
//
// Errors: no rows, parts or clusters of unequal length, a term that is NaN or infinite, a level outside (0, 1), fewer than two draws.
func BootstrapOf(parts [][]float64, clusters []string, of func(totals []float64) float64, b Bootstrap) (Interval, error) {
	if b.Count == 0 {
		b.Count = 2000
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	if len(parts) == 0 || len(parts[0]) == 0 {
		return Interval{}, fmt.Errorf("%w: there are no values", ErrDraws)
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
		return Interval{}, fmt.Errorf("interval: the values hold NaN or infinity; leave such rows out and count them")
	}
	out := Interval{Value: of(total), Low: math.NaN(), High: math.NaN(), Level: b.Level, Method: MethodBootstrap}
	source := seeded(b.Seed, "bootstrap", "")
	draws, drawn := make([]float64, 0, b.Count), make([]float64, len(parts))
	for range b.Count {
		clear(drawn)
		for range sums {
			for p, v := range sums[below(source, len(sums))] {
				drawn[p] += v
			}
		}
		if v := of(drawn); !math.IsNaN(v) {
			draws = append(draws, v)
		}
	}
	out.Draws = len(draws)
	if math.IsNaN(out.Value) || math.IsInf(out.Value, 0) {
		out.Value = math.NaN()
		return out, nil
	}
	finite := slices.DeleteFunc(slices.Clone(draws), func(v float64) bool { return math.IsInf(v, 0) })
	if err := check(finite, b.Level); err != nil {
		return Interval{}, err
	}
	slices.Sort(draws)
	end := func(p float64) float64 {
		if q := quantile(draws, p); !math.IsNaN(q) && !math.IsInf(q, 0) {
			return b.Range.clip(q)
		}
		return math.NaN()
	}
	out.Low, out.High = end((1-b.Level)/2), end((1+b.Level)/2)
	return out, nil
}

// clusterSums adds up each cluster's terms, clusters in the order of their names (rows without clusters in the order of their terms) so that the rows' order does not matter.
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
