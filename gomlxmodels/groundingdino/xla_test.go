//go:build xla

package groundingdino

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization.
func TestOptimized(t *testing.T) {
	if !testbackend.Optimized(t) {
		return
	}
	g := openGolden(t, "shared")
	checkWhole(g, testbackend.QuickXLA(t), 1, false)
}
