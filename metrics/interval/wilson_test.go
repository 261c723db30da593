package interval

import (
	"fmt"
	"math"
	"testing"

	"antipode/internal/near"
)

// TestWilson: scipy 1.17.1, binomtest(k, n).proportion_ci(method="wilson").
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{0, 200, 0, 0.018845326377266575}, {5, 200, 0.010724719651761264, 0.05717834040664198},
		{10, 10, 0.7224672001371109, 1}, {14, 200, 0.04215217182834281, 0.11405480885610646},
		{160, 200, 0.7391448134346212, 0.8495479907390189}} {
		w := Wilson(c.k, c.n, 0.95)
		near.Check(t, fmt.Sprint(c.k, " of ", c.n), []float64{w.Value, w.Low, w.High},
			[]float64{float64(c.k) / float64(c.n), c.low, c.high}, 1e-12, 1e-15)
	}
	if w := Wilson(0, 0, 0.95); !math.IsNaN(w.Value) || !math.IsNaN(w.Low) || !math.IsNaN(w.High) {
		t.Errorf("nothing has the share %v", w)
	}
	for n := 1; n < 60; n++ {
		for k := range n + 1 {
			if w := Wilson(k, n, 0.9); w.Low > w.Value || w.High < w.Value || w.Excludes(w.Value) {
				t.Errorf("%d of %d: %+v", k, n, w)
			}
		}
	}
}
