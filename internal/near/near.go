// Package near serves tests of numbers: it compares slices of floating-point numbers and seeds random ones.
package near

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Float is a floating-point type.
type Float interface{ ~float32 | ~float64 }

// Worst is the largest difference |got − want| and where it is; −1 for empty slices. A NaN, or a value, on one side
// only counts as infinitely far, NaN on both as equal.
func Worst[T Float](got, want []T) (difference float64, index int) {
	if len(got) != len(want) {
		return math.Inf(1), min(len(got), len(want))
	}
	difference, index = 0, -1
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			d = math.Inf(1)
			if got[i] == want[i] || (got[i] != got[i] && want[i] != want[i]) {
				d = 0
			}
		}
		if index < 0 || d > difference {
			difference, index = d, i
		}
	}
	return difference, index
}

// Scale is the root mean square of the values: what an error is measured against.
func Scale[T Float](values []T) float64 {
	sum := 0.0
	for _, v := range values {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(1, len(values))))
}

// Compare says nil where every |got − want| ≤ absolute + relative·|want|, and otherwise names the worst index.
func Compare[T Float](got, want []T, relative, absolute float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	worst, at, bad := 0.0, -1, 0
	for i := range want {
		g, w := float64(got[i]), float64(want[i])
		if g == w || (math.IsNaN(g) && math.IsNaN(w)) {
			continue
		}
		over := math.Abs(g-w) - absolute - relative*math.Abs(w)
		if math.IsNaN(over) || math.IsInf(w, 0) || math.IsInf(g, 0) {
			over = math.Inf(1)
		}
		if over > 0 {
			bad++
			if at < 0 || over > worst {
				worst, at = over, i
			}
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d values differ; worst at %d: got %v, want %v", bad, len(want), at, got[at], want[at])
}

// Check fails the test where [Compare] finds a difference.
func Check[T Float](t testing.TB, what string, got, want []T, relative, absolute float64) {
	t.Helper()
	if err := Compare(got, want, relative, absolute); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// Seed is the seed of a test's random inputs: ANTIPODE_TEST_SEED, else 1.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv("ANTIPODE_TEST_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("ANTIPODE_TEST_SEED=%q is no number", text)
	}
	return seed
}

// Rand is a source of random inputs from [Seed]; streams differ.
func Rand(t testing.TB, stream uint64) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(Seed(t), stream))
}
