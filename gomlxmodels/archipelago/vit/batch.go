package vit

import (
	"image"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

// Sizes in pixels and in patches.
const (
	patchSize = 16
	grid      = examples.Size / patchSize
)

// batch is the input of a step. Slices are row-major.
type batch struct {
	pixels []float32 // [B,3,128,128] in [-1,1]
	object []bool    // [B,64]: the patch contains pixels of the object
	labels []int32   // [B,heads]
}

// randomItem samples an image. Object, form, island and scene are independent, so that no head can learn correlations.
func randomItem(r *rand.Rand) archipelago.Item {
	w := examples.World
	object := examples.Pick(r, w.Objects())
	seen, _ := archipelago.Variants(object)
	return archipelago.Item{
		Object: object, Variant: examples.Pick(r, seen),
		Region: examples.Pick(r, w.Islands()),
		Scene:  examples.Pick(r, w.Scenes()),
		Seed:   r.Uint64() >> 11, Backdrop: r.Uint64() >> 11,
	}
}

// tensors returns the inputs of [lossGraph].
func (b batch) tensors() []*tensors.Tensor {
	n := len(b.object) / (grid * grid)
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, 3, examples.Size, examples.Size),
		tensors.FromFlatDataAndDimensions(b.object, n, grid*grid),
		tensors.FromFlatDataAndDimensions(b.labels, n, len(heads)),
	}
}

// trainingBatch returns the batch of a step: new images.
func trainingBatch(seed uint64, step, size int) batch {
	r := rand.New(rand.NewPCG(seed, uint64(step)))
	items := make([]archipelago.Item, size)
	for i := range items {
		items[i] = randomItem(r)
	}
	return makeBatch(items)
}

func makeBatch(items []archipelago.Item) batch {
	b := batch{
		pixels: make([]float32, 0, len(items)*3*examples.Size*examples.Size),
		object: make([]bool, 0, len(items)*grid*grid),
	}
	for _, it := range items {
		img, mask := examples.World.Draw(it)
		b.pixels = trainer.AppendPlanes(b.pixels, img)
		b.object = appendPatches(b.object, mask)
		for _, h := range heads {
			b.labels = append(b.labels, h.Label(it.Image()))
		}
	}
	return b
}

// appendPatches appends whether each patch contains pixels of the object.
func appendPatches(out []bool, mask *image.Gray) []bool {
	var object [grid * grid]bool
	for i, m := range mask.Pix {
		if m != 0 {
			object[i/examples.Size/patchSize*grid+i%examples.Size/patchSize] = true
		}
	}
	return append(out, object[:]...)
}
