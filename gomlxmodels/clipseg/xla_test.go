//go:build xla

package clipseg

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
)

// TestFloat16 is TestHalfPrecision for the other number type of 16 bits.
func TestFloat16(t *testing.T) { checkHalf(t, dtypes.Float16, 0.05) }
