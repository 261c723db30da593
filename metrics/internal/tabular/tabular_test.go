package tabular

import (
	"math"
	"testing"
)

// TestPercentiles: numpy.percentile of [1, 2, 3, 4, 10] gives 1.1 and 9.4 at 2.5 and 97.5 %.
func TestPercentiles(t *testing.T) {
	if low, high := Percentiles([]float64{10, 2, 3, 1, 4}, 0.95); math.Abs(low-1.1) > 1e-12 ||
		math.Abs(high-9.4) > 1e-12 {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := Percentiles([]float64{1, 2, math.Inf(1)}, 0.5); low != 1.5 || !math.IsNaN(high) {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := Percentiles(nil, 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("[%g, %g]", low, high)
	}
	if low, high := Percentiles([]float64{7}, 0.95); low != 7 || high != 7 {
		t.Errorf("[%g, %g]", low, high)
	}
}
