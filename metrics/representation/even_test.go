package representation_test

import (
	"fmt"
	"math"
	"testing"

	"antipode/internal/must"
	"antipode/metrics/representation"
)

func ExampleEvenDiversity() {
	fmt.Printf("%.2f with 9 images, %.2f with 60\n", representation.EvenDiversity(9), representation.EvenDiversity(60))
	// Output: 0.27 with 9 images, 0.10 with 60
}

// TestEvenDiversity compares the closed form with the sum over the binomial distribution.
func TestEvenDiversity(t *testing.T) {
	for n := 1; n <= 40; n++ {
		mean, ways := 0.0, 1.0
		for k := 0; k <= n; k++ {
			mean += ways * math.Abs(float64(2*k-n)) / float64(n) / math.Pow(2, float64(n))
			ways *= float64(n-k) / float64(k+1)
		}
		must.Near(t, representation.EvenDiversity(n), mean, 1e-12, "n", n)
	}
	must.Near(t, representation.EvenDiversity(0), math.NaN(), 0, "n = 0")
}
