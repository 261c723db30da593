//go:build xla

package clipseg

import (
	"testing"

	"github.com/gomlx/compute/dtypes"

	"antipode/internal/testbackend"
)

// TestFloat16 is TestHalfPrecision for the other number type of 16 bits.
func TestFloat16(t *testing.T) { checkHalf(t, dtypes.Float16, 0.05) }

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if testbackend.Optimized(t) {
		checkEncoder(openGolden(t, "refined"), testbackend.QuickXLA(t), withinAll)
	}
}
