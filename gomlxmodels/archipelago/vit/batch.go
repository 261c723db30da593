package vit

import (
	"image"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

// Sizes of the shipped ViT's input.
const (
	imageSize = 128
	patchSize = 16
	grid      = imageSize / patchSize
)

var world = archipelago.New(archipelago.Options{Size: imageSize})

// labels are the names of a head's classes, in the order of its outputs.
var labels = [heads][]string{world.Objects(), world.Scenes(), world.Islands(), examples.Forms()}

// batch is what one step sees. Slices are row-major.
type batch struct {
	pixels []float32 // [B,3,128,128] in [-1,1]
	object []bool    // [B,64]: the patch holds object pixels
	labels []int32   // [B,heads]
}

// randomItem draws a picture's description uniformly over islands, scenes and forms, so that no head can learn which go together.
func randomItem(r *rand.Rand) archipelago.Item {
	object := world.Objects()[r.IntN(len(world.Objects()))]
	seen, _ := archipelago.Variants(object)
	return archipelago.Item{
		Object: object, Variant: seen[r.IntN(len(seen))],
		Region: world.Islands()[r.IntN(len(world.Islands()))],
		Scene:  world.Scenes()[r.IntN(len(world.Scenes()))],
		Seed:   r.Uint64() >> 11, Backdrop: r.Uint64() >> 11,
	}
}

// tensors are the batch as the graphs take it.
func (b batch) tensors() []*tensors.Tensor {
	n := len(b.object) / (grid * grid)
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, 3, imageSize, imageSize),
		tensors.FromFlatDataAndDimensions(b.object, n, grid*grid),
		tensors.FromFlatDataAndDimensions(b.labels, n, heads),
	}
}

// trainingBatch is batch number step of a run: fresh pictures.
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
		pixels: make([]float32, 0, len(items)*3*imageSize*imageSize),
		object: make([]bool, 0, len(items)*grid*grid),
	}
	for _, it := range items {
		picture, mask := world.Draw(it)
		b.pixels = trainer.AppendPlanes(b.pixels, picture)
		b.object = appendPatches(b.object, mask)
		for h := range heads {
			b.labels = append(b.labels, int32(truth(it, h)))
		}
	}
	return b
}

// truth is the position of a head's right answer in its labels; -1 where it has none (a form that no photo shows).
func truth(it archipelago.Item, head int) int {
	name := [heads]string{it.Object, it.Scene, it.Region, it.Variant + " " + it.Object}[head]
	return slices.Index(labels[head], name)
}

// appendPatches appends which patches hold any object pixel.
func appendPatches(out []bool, mask *image.Gray) []bool {
	var object [grid * grid]bool
	for i, m := range mask.Pix {
		if m != 0 {
			object[i/imageSize/patchSize*grid+i%imageSize/patchSize] = true
		}
	}
	return append(out, object[:]...)
}
