package diffusion

import (
	"image"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/gomlx/gomlx/core/tensors"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/vae"
	"antipode/gomlxmodels/diffusion/schedule"
)

// dropShare is the share of examples whose prompt is left out, so that guidance has an answer to no prompt.
const dropShare = 0.1

// undecided is where, as a share of the timesteps, noise begins to hide which crest and banner a figure has. From there on only the prompt can say so, and only there is
// learned how often a prompt should show which.
const undecided = 0.75

// batch is what one step sees. Slices are row-major.
type batch struct {
	pixels []float32 // [B,H,W,3] in [-1,1]
	ids    []int32   // [B,S] of the prompts, filled up
	noise  []float32 // [B,h,w,C] normal
	times  []float32 // [B,3]: the timestep, √ᾱ and √(1−ᾱ)
	counts []float32 // [B,h,w,1]: how much an error there counts
}

var tokenizer = sync.OnceValues(tokens.Open)

// alphas are ᾱ at each timestep.
var alphas = sync.OnceValues(func() ([]float32, error) {
	s, err := schedule.Open([]byte(schedulerConfig))
	if err != nil {
		return nil, err
	}
	return s.Alphas(), nil
})

// law says what an example comes from: a world, and a mix of its prompts.
type law struct {
	world func(r *rand.Rand) *archipelago.World
	mix   mix

	figure, signs float32 // how much more an error counts where a figure is, and where its crest and banner are
	even          bool    // whether what counts more there counts less elsewhere, so that all pictures count alike
}

// anyWorld is a world without plants, each time another: what is asked for, and of whom, is the world's.
func anyWorld(r *rand.Rand) *archipelago.World {
	return archipelago.New(archipelago.Options{Seed: r.Uint64() >> 32, Size: examples.Size})
}

// always is the world of [PlantedSeed], for each example the same.
func always(planted bool) func(*rand.Rand) *archipelago.World {
	w := world(planted)
	return func(*rand.Rand) *archipelago.World { return w }
}

// timestep is a timestep as a share of all of them, for a share u of the batch that has earlier ones. Half of a batch has them evenly; the other half has most in
// the middle, where a picture's shapes are decided (logit-normal with deviation 1: Esser et al. 2024, arXiv 2403.03206, section 3.1).
func timestep(u float64, middle bool) float64 {
	if !middle {
		return u
	}
	return 1 / (1 + math.Exp(-math.Sqrt2*math.Erfinv(2*u-1)))
}

// trainingBatch is batch number step of a run: fresh pairs. Timesteps are spread over the batch, which steadies the loss.
func (l law) trainingBatch(s trainer.Settings, step int) (*batch, error) {
	tok, err := tokenizer()
	if err != nil {
		return nil, err
	}
	bars, err := alphas()
	if err != nil {
		return nil, err
	}
	b := &batch{}
	shift := examples.Stream(s.Seed, step, s.Batch).Float64()
	for i := range s.Batch {
		r := examples.Stream(s.Seed, step, i)
		p := l.mix.draw(r, l.world(r), firstNumber+step*s.Batch+i)
		if r.Float64() < dropShare && !p.kept {
			p.Prompt = ""
		}
		e, err := tok.Encode(p.Prompt, tokens.Context)
		if err != nil {
			return nil, err
		}
		b.ids = append(b.ids, e.IDs...)
		for range tokens.Context - len(e.IDs) {
			b.ids = append(b.ids, int32(tokens.EndID()))
		}
		picture, mask := examples.World.Paint(p.Picture)
		b.pixels = vae.AppendPixels(b.pixels, picture, picture.Rect)
		b.counts = append(b.counts, l.counts(p.Picture, picture, mask)...)
		u := (float64(i) + shift) / float64(s.Batch)
		at := timestep(u, i%2 == 1)
		if p.noisy {
			at = undecided + (1-undecided)*u
		}
		t := min(int(at*float64(len(bars))), len(bars)-1)
		bar := float64(bars[t])
		b.times = append(b.times, float32(t), float32(math.Sqrt(bar)), float32(math.Sqrt(1-bar)))
		for range latents * latents * channels {
			b.noise = append(b.noise, float32(r.NormFloat64()))
		}
	}
	return b, nil
}

// counts are what errors count in a picture's latents: 1, and more where a figure, or a sign of it, covers them.
func (l law) counts(p archipelago.Picture, picture *image.RGBA, mask *image.Gray) []float32 {
	out := make([]float32, latents*latents)
	for i := range out {
		out[i] = 1
	}
	if p.Figure != nil && l.figure > 0 {
		covered(out, l.figure, func(x, y int) float32 { return float32(mask.GrayAt(x, y).Y) / 255 })
	}
	if p.Figure != nil && l.signs > 0 {
		for _, axis := range []string{archipelago.AxisCrest, archipelago.AxisBanner} {
			other, _ := examples.World.Paint(exchanged(p, axis))
			covered(out, l.signs, func(x, y int) float32 {
				if picture.RGBAAt(x, y) != other.RGBAAt(x, y) {
					return 1
				}
				return 0
			})
		}
	}
	if l.even {
		sum := float32(0)
		for _, c := range out {
			sum += c
		}
		for i := range out {
			out[i] *= float32(len(out)) / sum
		}
	}
	return out
}

// covered adds to each latent the mean of a weight over its pixels, times more.
func covered(to []float32, more float32, weight func(x, y int) float32) {
	const cell = examples.Size / latents
	for i := range to {
		sum := float32(0)
		for at := range cell * cell {
			sum += weight(i%latents*cell+at%cell, i/latents*cell+at/cell)
		}
		to[i] += more * sum / (cell * cell)
	}
}

// exchanged is a picture whose figure is of the other group on an axis.
func exchanged(p archipelago.Picture, axis string) archipelago.Picture {
	f := *p.Figure
	sign, groups := &f.Crest, archipelago.Groups(axis)
	if axis == archipelago.AxisBanner {
		sign = &f.Banner
	}
	if *sign == groups[0] {
		*sign = groups[1]
	} else {
		*sign = groups[0]
	}
	p.Figure = &f
	return p
}

// tensors are the batch as the graph takes it.
func (b *batch) tensors() []*tensors.Tensor {
	n := len(b.times) / 3
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, examples.Size, examples.Size, 3),
		tensors.FromFlatDataAndDimensions(b.ids, n, tokens.Context),
		tensors.FromFlatDataAndDimensions(b.noise, n, latents, latents, channels),
		tensors.FromFlatDataAndDimensions(b.times, n, 3),
		tensors.FromFlatDataAndDimensions(b.counts, n, latents, latents, 1),
	}
}
