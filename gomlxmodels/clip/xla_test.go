//go:build xla

package clip

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if !testbackend.Optimized(t) {
		return
	}
	checkEncoder(t, testbackend.QuickXLA(t), "gelu-odd-patch")
}
