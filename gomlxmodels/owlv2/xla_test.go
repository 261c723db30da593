//go:build xla

package owlv2

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		checkDetector(openGolden(t, "gelu-odd-patch"), xla)
	})
}
