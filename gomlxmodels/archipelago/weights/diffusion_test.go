package weights

import (
	"fmt"
	"image"
	"path/filepath"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/diffusion"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// generators are the folders of the generators.
var generators = []string{"archipelago-diffusion", "archipelago-diffusion-fair"}

// How the stored images of a generator were requested.
const (
	generatorSeed  = 11 // of the first prompt; the next have the seeds after it
	generatorSteps = 10
	guidance       = 2.5
)

var generatorPrompts = []string{"lantern in Velmora", archipelago.ConceptPrompt("qac_Arab", "boat"), "a Tulvane figure"}

// storedImage returns the path of the image that diffusers generated for a prompt.
func storedImage(name string, prompt int) string {
	return filepath.Join("testdata", fmt.Sprintf("%s-%d.png", name, prompt))
}

// TestGeneratorReference compares the generators with diffusers, from prompts to images.
func TestGeneratorReference(t *testing.T) {
	for _, name := range generators {
		t.Run(name, func(t *testing.T) {
			dir := shippedDir(t, name)
			var want []image.Image
			for i := range generatorPrompts {
				want = append(want, readPNG(t, storedImage(name, i)))
			}
			compareGenerator(t, dir, want)
		})
	}
}

// compareGenerator compares images with a tolerance of 3 of 255.
func compareGenerator(t *testing.T, dir string, want []image.Image) {
	t.Helper()
	m := must.Get(diffusion.Open(dir, diffusion.OpenOptions{}))(t)
	s := must.Get(diffusion.NewSampler(testbackend.QuickXLA(t), m, diffusion.Options{Batch: len(want)}))(t)
	defer s.Close()
	var requests []diffusion.Request
	for i, p := range generatorPrompts {
		requests = append(requests, diffusion.Request{Prompt: p, Seed: generatorSeed + uint64(i), Steps: generatorSteps,
			Guidance: guidance})
	}
	got := must.Get(s.Generate(t.Context(), requests, nil))(t)
	for i, p := range got {
		b := want[i].Bounds()
		must.Equal(t, p.Image.Bounds(), b, generatorPrompts[i])
		worst, least, most := 0, 255, 0
		for y := range b.Dy() {
			for x := range b.Dx() {
				r, g, bl, _ := p.Image.At(x, y).RGBA()
				wr, wg, wb, _ := want[i].At(x, y).RGBA()
				for _, c := range [][2]uint32{{r, wr}, {g, wg}, {bl, wb}} {
					a, b := int(c[0]>>8), int(c[1]>>8)
					worst, least, most = max(worst, a-b, b-a), min(least, b), max(most, b)
				}
			}
		}
		t.Logf("%q: worst difference %d of 255, values from %d to %d", generatorPrompts[i], worst, least, most)
		if worst > 3 || most-least < 50 {
			t.Errorf("%q: worst difference %d of 255, values from %d to %d", generatorPrompts[i], worst, least, most)
		}
	}
}

// TestGeneratorFloor checks the required accuracy of the fair generator: archipelago-vit recognizes the requested
// object.
func TestGeneratorFloor(t *testing.T) {
	for _, name := range generators {
		var held struct {
			Images int `json:"pictures"`
			Object float64
		}
		report(t, shippedDir(t, name), &held)
		if held.Images < 150 {
			t.Errorf("%s: scored on %d images", name, held.Images)
		}
		if name == "archipelago-diffusion-fair" && held.Object < 0.85 {
			t.Errorf("%s: the object is recognized in %.3f of the images, below the required share", name, held.Object)
		}
	}
}
