//go:build xla

package vit

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it, compiled with full optimization; the other tests compile quickly.
func TestOptimized(t *testing.T) {
	if !testbackend.Optimized(t) {
		return
	}
	checkReference(t, testbackend.QuickXLA(t), "timm-registers")
}
