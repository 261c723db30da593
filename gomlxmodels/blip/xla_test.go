//go:build xla

package blip

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		checkCaptions(t, xla, "base", func(s textgen.Options) bool { return s.Width() == 1 })
	})
}
