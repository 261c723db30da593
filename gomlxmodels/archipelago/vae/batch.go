package vae

import (
	"image"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

// kinds lists the kinds of images by frequency. Scenery is easiest and least frequent.
var kinds = []string{examples.Thing, examples.Thing, examples.Figure, examples.Figure, examples.Scenery}

// unseenShare is the share of objects in a form that no reference image shows. The generator of the world with injected
// disparities must be able to decode these.
const unseenShare = 0.3

// describe samples an image, uniformly over everything that the world can show.
func describe(r *rand.Rand) archipelago.Image {
	p := examples.Random(r, examples.Pick(r, kinds))
	if p.Object != "" && r.Float64() < unseenShare {
		_, unseen := archipelago.Variants(p.Object)
		p.Variant = examples.Pick(r, unseen)
	}
	return p
}

// batch is the input of a step. Slices are row-major.
type batch struct {
	size   int       // side of the images
	pixels []float32 // [B,size,size,3] in [-1,1]
	noise  []float32 // [B,h,w,C] standard normal, for sampling the latents
}

// stages are the crops in the course of a run, each from an image of its own. Small crops are cheap and varied; whole
// images at the end adapt the statistics of norms and attention.
var stages = []struct {
	until float64 // end, as a share of the run's steps
	size  int     // side of the crops
	fewer int     // divisor of the batch size
}{{0.5, examples.Size / 4, 1}, {0.75, examples.Size / 2, 2}, {1, examples.Size, 8}}

// trainingBatch returns the batch of a step: crops of new images, and noise for their latents.
func trainingBatch(s trainer.Settings, step int) batch {
	stage := stages[0]
	for _, next := range stages[1:] {
		if float64(step) >= stage.until*float64(s.Steps) {
			stage = next
		}
	}
	b, n := batch{size: stage.size}, max(1, s.Batch/stage.fewer)
	side := b.size / shape.Factor()
	for i := range n {
		r := examples.Stream(s.Seed, step, i)
		img, _ := examples.World.Paint(describe(r))
		at := image.Pt(r.IntN(examples.Size-b.size+1), r.IntN(examples.Size-b.size+1))
		b.pixels = AppendPixels(b.pixels, img, image.Rectangle{Min: at, Max: at.Add(image.Pt(b.size, b.size))})
		for range side * side * shape.LatentChannels {
			b.noise = append(b.noise, float32(r.NormFloat64()))
		}
	}
	return b
}

// AppendPixels appends a part of an image as the autoencoder's input, [H,W,3] in [-1,1].
func AppendPixels(out []float32, im *image.RGBA, part image.Rectangle) []float32 {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			at := im.PixOffset(x, y)
			for _, v := range im.Pix[at : at+3] {
				out = append(out, float32(v)/127.5-1)
			}
		}
	}
	return out
}

// tensors returns the inputs of [lossGraph].
func (b batch) tensors() []*tensors.Tensor {
	side := b.size / shape.Factor()
	n := len(b.noise) / (side * side * shape.LatentChannels)
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, b.size, b.size, 3),
		tensors.FromFlatDataAndDimensions(b.noise, n, side, side, shape.LatentChannels),
	}
}
