//go:build checks

package clipseg

import (
	"antipode/test/modeltest"
	"testing"

	"github.com/gomlx/compute"
)

// TestReal compares every stage with transformers at real size (rd64-refined's shape) and for shapes drawn from
// ANTIPODE_TEST_SEED, all with random weights, from images to maps of the images' own size. ANTIPODE_PYTHON names
// the Python.
func TestReal(t *testing.T) {
	scaled := modeltest.Scaled(1e-4, 1e-4, 1)
	modeltest.Real(t, "clipseg_real.py", 6, func(t *testing.T, xla compute.Backend, folder string) {
		g := openFolder(t, folder)
		checkReference(g, xla, scaled)
		checkEncoder(g, xla, scaled)
	})
}
