//go:build xla

package dallemini

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if testbackend.Optimized(t) {
		checkImages(t, testbackend.QuickXLA(t), "odd", 2)
	}
}
