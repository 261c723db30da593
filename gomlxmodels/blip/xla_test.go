//go:build xla

package blip

import (
	"testing"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if !testbackend.Optimized(t) {
		return
	}
	checkCaptions(t, testbackend.QuickXLA(t), "base", func(s textgen.Options) bool { return s.Width() == 1 })
}
