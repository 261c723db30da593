package vit

import (
	"reflect"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/must"
)

// The inputs of training equal those of the encoder's preprocessing for the same image.
func TestBatchEqualsPreprocessing(t *testing.T) {
	items := archipelago.New(archipelago.Options{Seed: 4, PerCell: 1}).Reference()[:16]
	b := makeBatch(items)
	pre := preprocess.Default(examples.Size, examples.Size)
	for i, it := range items {
		img, gray := examples.World.Draw(it)
		rgb := preprocess.FromImage(img)
		pixels := must.Get(pre.Apply(rgb, examples.Size, examples.Size))(t)
		trainertest.Pixels(t, it.ID, b.pixels[i*len(pixels):], pixels)
		mask := preprocess.Mask{Width: examples.Size, Height: examples.Size, Object: gray.Pix}
		patches := must.Get(pre.Patches(rgb, &mask, preprocess.Any, examples.Size, examples.Size, patchSize,
			patchSize))(t)
		if !reflect.DeepEqual(patches, b.object[i*grid*grid:(i+1)*grid*grid]) {
			t.Errorf("%s: object patches differ from preprocessing's", it.ID)
		}
		for h, want := range []string{it.Object, it.Scene, it.Region, it.Variant + " " + it.Object} {
			must.Equal(t, heads[h].Values[b.labels[i*len(heads)+h]], want, it.ID, heads[h].Name, "is labelled")
		}
	}
}

func TestBatchesAreReproducible(t *testing.T) {
	a, b, c := trainingBatch(1, 7, 3), trainingBatch(1, 7, 3), trainingBatch(1, 8, 3)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(a.pixels, c.pixels) {
		t.Error("two batches of a run are equal")
	}
}

// Unseen forms have no label; training must not use them.
func TestUnseenFormsHaveNoLabel(t *testing.T) {
	for _, o := range examples.World.Objects() {
		_, unseen := archipelago.Variants(o)
		for _, f := range unseen {
			must.Equal(t, heads[headForm].Label(archipelago.Image{Object: o, Variant: f}), -1, f, o, "has a label")
		}
	}
}
