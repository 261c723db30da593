//go:build xla

package dallemini

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		checkImages(t, xla, "odd", 2)
	})
}
