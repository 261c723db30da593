package interval

import (
	"fmt"
	"math"
	"slices"
)

// Bootstrap are the settings of [BootstrapMean].
type Bootstrap struct {
	Seed  uint64
	Count int     // number of resamples; 0 = 2000
	Level float64 // 0 = 0.95
	Range Range   // the values' range
}

// BootstrapMean gives the mean of some values with a percentile interval from resampling whole clusters with
// replacement: all values of one annotator, or of one picture, come and go together. A nil clusters makes each value its own. It does not suit
// nearest-neighbour scores (see the package comment).
func BootstrapMean(values []float64, clusters []string, b Bootstrap) (Interval, error) {
	if b.Count == 0 {
		b.Count = 2000
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	if clusters != nil && len(clusters) != len(values) {
		return Interval{}, fmt.Errorf("interval: %d cluster names for %d values", len(clusters), len(values))
	}
	if len(values) == 0 {
		return Interval{}, fmt.Errorf("%w: there are no values", ErrDraws)
	}
	sums, sizes := clusterSums(values, clusters)
	var total, n float64
	for c := range sums {
		total, n = total+sums[c], n+sizes[c]
	}
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return Interval{}, fmt.Errorf("interval: the values hold NaN or infinity; leave such rows out and count them")
	}
	source := seeded(b.Seed, "bootstrap", "")
	draws := make([]float64, b.Count)
	for i := range draws {
		var s, m float64
		for range sums {
			c := below(source, len(sums))
			s, m = s+sums[c], m+sizes[c]
		}
		draws[i] = s / m
	}
	if err := check(draws, b.Level); err != nil {
		return Interval{}, err
	}
	slices.Sort(draws)
	return Interval{
		Value: total / n, Level: b.Level, Draws: b.Count, Method: MethodBootstrap,
		Low:  b.Range.clip(quantile(draws, (1-b.Level)/2)),
		High: b.Range.clip(quantile(draws, (1+b.Level)/2)),
	}, nil
}

// clusterSums adds up the values of each cluster, clusters in the order of their names so that the rows' order does not matter.
func clusterSums(values []float64, clusters []string) (sums, sizes []float64) {
	if clusters == nil {
		sums = slices.Sorted(slices.Values(values))
		sizes = make([]float64, len(values))
		for i := range sizes {
			sizes[i] = 1
		}
		return sums, sizes
	}
	names := slices.Compact(slices.Sorted(slices.Values(clusters)))
	sums, sizes = make([]float64, len(names)), make([]float64, len(names))
	for i, v := range values {
		c, _ := slices.BinarySearch(names, clusters[i])
		sums[c] += v
		sizes[c]++
	}
	return sums, sizes
}
