package diffusion

import (
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

// batch is what one step sees. Slices are row-major.
type batch struct {
	pixels []float32 // [B,H,W,3] in [-1,1]
	ids    []int32   // [B,S] of the prompts, filled up
	noise  []float32 // [B,h,w,C] normal
	times  []float32 // [B,3]: the timestep, √ᾱ and √(1−ᾱ)
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

// law gives the world that an example comes from.
type law func(r *rand.Rand) *archipelago.World

// anyWorld is a world without plants, each time another: what is asked for, and of whom, is the world's.
func anyWorld(r *rand.Rand) *archipelago.World {
	return archipelago.New(archipelago.Options{Seed: r.Uint64() >> 32, Size: examples.Size})
}

// one is always the same world.
func one(w *archipelago.World) law { return func(*rand.Rand) *archipelago.World { return w } }

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
		p := Draw(r, l(r), firstNumber+step*s.Batch+i)
		if r.Float64() < dropShare {
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
		picture, _ := examples.World.Paint(p.Picture)
		b.pixels = vae.AppendPixels(b.pixels, picture, picture.Rect)
		t := min(int(timestep((float64(i)+shift)/float64(s.Batch), i%2 == 1)*float64(len(bars))), len(bars)-1)
		bar := float64(bars[t])
		b.times = append(b.times, float32(t), float32(math.Sqrt(bar)), float32(math.Sqrt(1-bar)))
		for range latents * latents * channels {
			b.noise = append(b.noise, float32(r.NormFloat64()))
		}
	}
	return b, nil
}

// tensors are the batch as the graph takes it.
func (b *batch) tensors() []*tensors.Tensor {
	n := len(b.times) / 3
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(b.pixels, n, examples.Size, examples.Size, 3),
		tensors.FromFlatDataAndDimensions(b.ids, n, tokens.Context),
		tensors.FromFlatDataAndDimensions(b.noise, n, latents, latents, channels),
		tensors.FromFlatDataAndDimensions(b.times, n, 3),
	}
}
