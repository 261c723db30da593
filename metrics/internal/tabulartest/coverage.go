package tabulartest

import "antipode/datasets/operation"

// Coverage returns the share of intervals that cover the mean of the values, which estimates the expected score.
func Coverage(values []operation.Estimate) float64 {
	truth, held := 0., 0.
	for _, v := range values {
		truth += v.Value / float64(len(values))
	}
	for _, v := range values {
		if v.Low <= truth && truth <= v.High {
			held++
		}
	}
	return held / float64(len(values))
}
