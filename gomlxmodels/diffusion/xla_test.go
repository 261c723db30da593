//go:build xla

package diffusion

import (
	"path/filepath"
	"testing"

	"antipode/test/testbackend"
)

// TestEveryFolderOnXLA is TestEqualReference and TestImagesEqualReference on XLA for all goldens.
func TestEveryFolderOnXLA(t *testing.T) {
	for _, name := range append(altGoldens, goldens...) {
		t.Run(name, func(t *testing.T) {
			g := openGolden(t, filepath.Join("testdata", name))
			checkReference(g, testbackend.QuickXLA(t))
			g.withoutChecker()
			checkImages(g, testbackend.QuickXLA(t))
		})
	}
}
