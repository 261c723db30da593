package significance

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm adjusts the p-values of a family of tests so that, with each test at level α, the probability of one or more
// false findings is at most α for any dependence of the tests (Holm 1979). The result is in the order of p.
//
// Errors: a value outside [0, 1].
func Holm(p []float64) ([]float64, error) {
	order, err := ascending(p)
	if err != nil {
		return nil, err
	}
	out, highest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		highest = max(highest, min(1, p[i]*float64(len(p)-rank)))
		out[i] = highest
	}
	return out, nil
}

// BenjaminiHochberg adjusts the p-values of a family of tests so that, if those of at most q are findings, the expected
// share of false findings is at most q, for independent or positively dependent tests (Benjamini and Hochberg 1995).
// The result is in the order of p.
//
// Errors: a value outside [0, 1].
func BenjaminiHochberg(p []float64) ([]float64, error) {
	order, err := ascending(p)
	if err != nil {
		return nil, err
	}
	out, lowest := make([]float64, len(p)), 1.0
	for rank := len(p) - 1; rank >= 0; rank-- {
		i := order[rank]
		lowest = min(lowest, p[i]*float64(len(p))/float64(rank+1))
		out[i] = lowest
	}
	return out, nil
}

// ascending returns the indices of the p-values from the smallest to the largest.
func ascending(p []float64) ([]int, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("significance: p-value %d is %v, not in [0, 1]", i+1, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order, nil
}
