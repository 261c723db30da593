//go:build xla

package owlv2

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization.
func TestOptimized(t *testing.T) {
	if testbackend.Optimized(t) {
		checkDetector(openGolden(t, "gelu-odd-patch"), testbackend.QuickXLA(t))
	}
}
