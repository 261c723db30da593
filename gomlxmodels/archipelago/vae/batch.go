package vae

import (
	"image"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
)

// kinds of pictures, as often as they stand here; a background alone is easiest.
var kinds = []string{examples.Thing, examples.Thing, examples.Figure, examples.Figure, examples.Scenery}

// unseenShare is the share of things in a form that no photo shows: a generator of a world with plants must be able to draw it.
const unseenShare = 0.3

// describe draws what a picture shows, evenly over all that the world can show.
func describe(r *rand.Rand) archipelago.Picture {
	p := examples.Random(r, kinds[r.IntN(len(kinds))])
	if p.Object != "" && r.Float64() < unseenShare {
		_, unseen := archipelago.Variants(p.Object)
		p.Variant = unseen[r.IntN(len(unseen))]
	}
	return p
}

// batch is what one step sees. Slices are row-major.
type batch struct {
	pixels []float32 // [B,128,128,3] in [-1,1]
	noise  []float32 // [B,h,w,C] normal, of the latents
}

// trainingBatch is batch number step of a run: fresh pictures, and the noise that the step adds to their latents.
func trainingBatch(seed uint64, step, size int) batch {
	var b batch
	for i := range size {
		r := examples.Stream(seed, step, i)
		picture, _ := examples.World.Paint(describe(r))
		b.pixels = AppendPixels(b.pixels, picture)
		for range side * side * shape.LatentChannels {
			b.noise = append(b.noise, float32(r.NormFloat64()))
		}
	}
	return b
}

// AppendPixels appends a picture as the autoencoder takes it, [H,W,3] in [-1,1].
func AppendPixels(out []float32, im *image.RGBA) []float32 {
	for i := 0; i < len(im.Pix); i += 4 {
		for c := range 3 {
			out = append(out, float32(im.Pix[i+c])/127.5-1)
		}
	}
	return out
}

// tensors are the batch as the graphs take it.
func (b batch) tensors() []*tensors.Tensor {
	n := len(b.noise) / (side * side * shape.LatentChannels)
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, examples.Size, examples.Size, 3),
		tensors.FromFlatDataAndDimensions(b.noise, n, side, side, shape.LatentChannels),
	}
}
