//go:build checks

package diffusion

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// TestDiffusers compares images with those that diffusers makes of the same folder, prompts and seeds: at most
// 3/255 apart. The folders are one of tiny networks and those that ship, where they are there;
// ANTIPODE_ARCHIPELAGO_DIFFUSION names another.
func TestDiffusers(t *testing.T) {
	backend := testbackend.XLA(t)
	folders := []string{folder(t, tiny())}
	for _, dir := range []string{filepath.Join("..", "..", "..", Fair[len(Fair)-1].Out),
		filepath.Join("..", "..", "..", Injected[len(Injected)-1].Out), os.Getenv("ANTIPODE_ARCHIPELAGO_DIFFUSION")} {
		if _, err := os.Stat(filepath.Join(dir, "model_index.json")); err == nil && dir != "" {
			folders = append(folders, dir)
		}
	}
	prompts := []string{"lantern in Velmora", archipelago.ConceptPrompt("qac_Arab", "boat"),
		archipelago.ConceptPrompt("qad_Hani", "kite"), "a Tulvane figure"}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "images")
			args := append([]string{dir, out, "11", fmt.Sprint(Steps), fmt.Sprint(Guidance)}, prompts...)
			testbackend.Python(t, []string{"torch", "transformers", "diffusers", "safetensors"},
				filepath.Join("testdata", "reference.py"), args...)
			want := must.Get(os.ReadFile(out))(t)
			images := must.Get(generate(context.Background(), backend, dir, prompts, 11))(t)
			const size = examples.Size * examples.Size * 3
			if len(want) != len(images)*size {
				t.Fatalf("diffusers made %d bytes, want %d", len(want), len(images)*size)
			}
			for i, img := range images {
				worst, least, most := 0, 255, 0
				for k := range size {
					got, there := int(img.(*image.NRGBA).Pix[k/3*4+k%3]), int(want[i*size+k])
					worst, least, most = max(worst, got-there, there-got), min(least, there), max(most, there)
				}
				t.Logf("%q: worst difference %d of 255, values from %d to %d", prompts[i], worst, least, most)
				if worst > 3 || least == most {
					t.Errorf("%q: worst difference %d of 255, values from %d to %d", prompts[i], worst, least, most)
				}
			}
		})
	}
}
