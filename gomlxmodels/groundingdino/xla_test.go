//go:build xla

package groundingdino

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		g := openGolden(t, "shared")
		checkWhole(g, xla, 1, false)
	})
}
