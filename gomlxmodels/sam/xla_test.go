//go:build xla

package sam

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if testbackend.Optimized(t) {
		checkEncoder(openGolden(t, "windows"), testbackend.QuickXLA(t), withinAll)
	}
}
