//go:build checks

package weights

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// TestDiffusersImages compares the generators with the diffusers that is installed; -update writes the stored
// images of testdata again.
func TestDiffusersImages(t *testing.T) {
	for _, name := range generators {
		t.Run(name, func(t *testing.T) {
			dir := shippedDir(t, name)
			out := filepath.Join(t.TempDir(), "images")
			args := append([]string{dir, out, fmt.Sprint(generatorSeed), fmt.Sprint(generatorSteps),
				fmt.Sprint(guidance)}, generatorPrompts...)
			testbackend.Python(t, []string{"torch", "transformers", "diffusers", "safetensors"},
				filepath.Join("..", "diffusion", "testdata", "reference.py"), args...)
			raw := must.Get(os.ReadFile(out))(t)
			const size = examples.Size * examples.Size
			if len(raw) != len(generatorPrompts)*size*3 {
				t.Fatalf("diffusers made %d bytes", len(raw))
			}
			var want []image.Image
			for i := range generatorPrompts {
				im := image.NewNRGBA(image.Rect(0, 0, examples.Size, examples.Size))
				for p := range size {
					copy(im.Pix[4*p:], raw[(i*size+p)*3:(i*size+p)*3+3])
					im.Pix[4*p+3] = 255
				}
				want = append(want, im)
			}
			compareGenerator(t, dir, want)
			if !*update || t.Failed() {
				return
			}
			for i, im := range want {
				writePNG(t, storedImage(name, i), im)
			}
		})
	}
}
