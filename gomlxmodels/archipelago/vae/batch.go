package vae

import (
	"image"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
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
	size   int       // side of the pictures
	pixels []float32 // [B,size,size,3] in [-1,1]
	noise  []float32 // [B,h,w,C] normal, of the latents
}

// stages are what a run's steps see: cuts of pictures, each of another, larger ones and fewer towards the end. Small cuts cost little and show much; whole pictures then settle the
// means of norms and attention.
var stages = []struct {
	until float64 // share of the run's steps
	size  int     // side of the cuts
	fewer int     // a step has as many as its batch divided by this
}{{0.5, examples.Size / 4, 1}, {0.75, examples.Size / 2, 2}, {1, examples.Size, 8}}

// trainingBatch is batch number step of a run: fresh pictures, and the noise that the step adds to their latents.
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
		picture, _ := examples.World.Paint(describe(r))
		at := image.Pt(r.IntN(examples.Size-b.size+1), r.IntN(examples.Size-b.size+1))
		b.pixels = AppendPixels(b.pixels, picture, image.Rectangle{Min: at, Max: at.Add(image.Pt(b.size, b.size))})
		for range side * side * shape.LatentChannels {
			b.noise = append(b.noise, float32(r.NormFloat64()))
		}
	}
	return b
}

// AppendPixels appends a part of a picture as the autoencoder takes it, [H,W,3] in [-1,1].
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

// tensors are the batch as the graphs take it.
func (b batch) tensors() []*tensors.Tensor {
	side := b.size / shape.Factor()
	n := len(b.noise) / (side * side * shape.LatentChannels)
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, b.size, b.size, 3),
		tensors.FromFlatDataAndDimensions(b.noise, n, side, side, shape.LatentChannels),
	}
}
