package agreement

import (
	"math"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// TestSlowDefinitions: percent, kappa and alpha from lists of ratings, pair by pair, on inputs from the seed.
func TestSlowDefinitions(t *testing.T) {
	rng := near.Rand(t, 22)
	for trial := range 30 {
		labels, items := 2+rng.IntN(3), 3+rng.IntN(6)
		values := make([]float64, labels)
		for l := range values {
			values[l] = float64(l*l) + rng.Float64()
		}
		ratings, counts := make([][]int, items), make(Counts, items)
		for i := range ratings {
			n := 3
			if trial%2 == 0 {
				n = rng.IntN(5) // none and one among them
			}
			counts[i] = make([]int, labels)
			for range n {
				l := rng.IntN(labels)
				ratings[i] = append(ratings[i], l)
				counts[i][l]++
			}
		}
		same, pairs := 0., 0.
		var paired []int // labels of items with two ratings and more
		for _, r := range ratings {
			for i := range r {
				for j := range i {
					pairs++
					if r[i] == r[j] {
						same++
					}
				}
			}
			if len(r) > 1 {
				paired = append(paired, r...)
			}
		}
		number := make([]float64, labels)
		for _, l := range paired {
			number[l]++
		}
		distance := map[Scale]func(a, b int) float64{
			Nominal: func(a, b int) float64 {
				if a == b {
					return 0
				}
				return 1
			},
			Interval: func(a, b int) float64 { return (values[a] - values[b]) * (values[a] - values[b]) },
			Ordinal: func(a, b int) float64 {
				if a == b {
					return 0
				}
				between := -(number[a] + number[b]) / 2
				for l := min(a, b); l <= max(a, b); l++ {
					between += number[l]
				}
				return between * between
			},
		}
		for scale, d := range distance {
			observed, expected, n := 0., 0., float64(len(paired))
			for _, r := range ratings {
				for i := range r {
					for j := range r {
						if i != j {
							observed += d(r[i], r[j]) / float64(len(r)-1) / n
						}
					}
				}
			}
			for i := range paired {
				for j := range paired {
					if i != j {
						expected += d(paired[i], paired[j]) / n / (n - 1)
					}
				}
			}
			got := must.Get(Compute(counts, scale, values))(t)
			if want := 1 - observed/expected; math.Abs(got.Alpha-want) > 1e-9 ||
				math.IsNaN(got.Alpha) != math.IsNaN(want) {
				t.Errorf("trial %d, %s: alpha %v, want %v", trial, scale, got.Alpha, want)
			}
			if want := same / pairs; math.Abs(got.Percent-want) > 1e-9 || math.IsNaN(got.Percent) != math.IsNaN(want) {
				t.Errorf("trial %d: percent %v, want %v", trial, got.Percent, want)
			}
			if trial%2 == 1 {
				chance := 0.
				for _, k := range number {
					chance += k / n * k / n
				}
				if want := (same/pairs - chance) / (1 - chance); math.Abs(got.Kappa-want) > 1e-9 ||
					math.IsNaN(got.Kappa) != math.IsNaN(want) {
					t.Errorf("trial %d: kappa %v, want %v", trial, got.Kappa, want)
				}
			}
		}
	}
}
