//go:build xla

package blip2

import (
	"testing"

	"antipode/gomlxmodels/internal/captiontest"
	"antipode/gomlxmodels/textgen"
	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if !testbackend.Optimized(t) {
		return
	}
	g := openGolden(t, "opt")
	captiontest.Check(t, testbackend.QuickXLA(t), g.Network(), g.reference(100),
		func(s textgen.Options) bool { return s.Width() == 1 })
}
