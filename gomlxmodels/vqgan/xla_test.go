//go:build xla

package vqgan

import (
	"testing"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it.
func TestOptimized(t *testing.T) {
	if testbackend.Optimized(t) {
		checkImages(t, testbackend.QuickXLA(t), "flax")
	}
}
