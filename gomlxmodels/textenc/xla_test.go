//go:build xla

package textenc

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if !testbackend.Optimized(t) {
		return
	}
	g := openGolden(t, "mpnet-far", ModePooler)
	checkEncoder(t, testbackend.QuickXLA(t), g, false)
}
