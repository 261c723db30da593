//go:build xla

package blip2

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/internal/captiontest"
	"antipode/gomlxmodels/textgen"
	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		g := openGolden(t, "opt")
		captiontest.Check(t, xla, g.Network(), g.reference(100),
			func(s textgen.Options) bool { return s.Width() == 1 })
	})
}
