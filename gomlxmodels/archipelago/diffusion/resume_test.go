//go:build training

package diffusion

import (
	"testing"

	"github.com/gomlx/compute/gobackend"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/internal/must"
)

// A resumed run exports the same files as an uninterrupted one; the autoencoder is the one that the run started from;
// the exported folder generates images.
func TestResume(t *testing.T) {
	backend := must.Get(gobackend.New("ops_sequential"))(t) // in parallel its workers may wait for one another
	base := folder(t, tiny())
	o := origin{base: base}
	n := must.Get(o.shapes())(t)
	from := must.Get(o.digest())(t)
	job := o.job(trainer.Settings{Steps: 4, Batch: 2, Seed: 3, Rate: 1e-3, World: archipelago.Version, From: from}, n,
		law{world: anyWorld, mix: baseMix, figure: 4, signs: 20})
	dir, _, _ := trainertest.Resume(t, backend, job, "unet/"+bigFile, "text_encoder/model.safetensors", "vae/"+bigFile,
		"unet/config.json", "text_encoder/config.json", "vae/config.json", "model_index.json")
	if !trainertest.Same(t, dir, base, "vae/"+bigFile) {
		t.Error("the autoencoder changed")
	}
	if trainertest.Same(t, dir, base, "unet/"+bigFile) ||
		trainertest.Same(t, dir, base, "text_encoder/model.safetensors") {
		t.Error("UNet or text tower did not change")
	}
	images := must.Get(generate(t.Context(), backend, dir, []string{"lantern in Velmora", "boat in Quessin"}, 5))(t)
	if b := images[1].Bounds(); len(images) != 2 || b.Dx() != examples.Size || b.Dy() != examples.Size {
		t.Errorf("%d images of %v", len(images), b)
	}
}
