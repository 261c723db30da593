//go:build xla

package textenc

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		g := openGolden(t, "mpnet-far", ModePooler)
		checkEncoder(t, xla, g, false)
	})
}
