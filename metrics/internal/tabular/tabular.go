// Package tabular reads columns, groups rows and computes percentiles for the metrics.
package tabular

import (
	"math"
	"sort"
)

// Percentiles sorts the resampled values of a score and returns their percentile interval, by linear interpolation
// between order statistics (numpy's default). An end that falls on +Inf, and both ends without values, are NaN.
func Percentiles(values []float64, level float64) (low, high float64) {
	sort.Float64s(values)
	return Quantile(values, (1-level)/2), Quantile(values, (1+level)/2)
}

// Quantile returns the p-quantile of ascending values; NaN if it is infinite or there are no values.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	i := int(at)
	q := sorted[i]
	if i+1 < len(sorted) && at > float64(i) {
		q += (at - float64(i)) * (sorted[i+1] - sorted[i])
	}
	if math.IsInf(q, 0) {
		return math.NaN()
	}
	return q
}
