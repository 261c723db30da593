//go:build xla

package vqgan

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/testbackend"
)

// TestOptimized compares one model as users run it.
func TestOptimized(t *testing.T) {
	testbackend.Optimized(t, func(xla compute.Backend) {
		checkImages(t, xla, "flax")
	})
}
