//go:build xla

package clipseg

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/internal/testbackend"
)

// TestFloat16 is TestHalfPrecision for the other number type of 16 bits.
func TestFloat16(t *testing.T) { checkHalf(t, dtypes.Float16, 0.05) }

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		checkReference(openGolden(t, "refined"), xla, within)
		checkEncoder(openGolden(t, "refined"), xla, withinAll)
	})
}
