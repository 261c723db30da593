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

// dropShare is the share of examples whose prompt is empty, for classifier-free guidance.
const dropShare = 0.1

// undecided is the share of the timesteps above which noise hides a figure's crest and banner. Only there does the
// network learn from the prompt how frequent each group is.
const undecided = 0.75

// batch is the input of a step. Slices are row-major.
type batch struct {
	pixels []float32 // [B,H,W,3] in [-1,1]
	ids    []int32   // [B,S] of the prompts, padded
	noise  []float32 // [B,h,w,C] standard normal
	times  []float32 // [B,3]: the timestep, √ᾱ and √(1−ᾱ)
	counts []float32 // [B,h,w,1]: weight of the error
}

// alphas returns ᾱ by timestep.
var alphas = sync.OnceValues(func() ([]float32, error) {
	s, err := schedule.Open([]byte(schedulerConfig))
	if err != nil {
		return nil, err
	}
	return s.Alphas(), nil
})

// law is the distribution of examples: a world, a mix of its prompts, and the weights of errors.
type law struct {
	world func(r *rand.Rand) *archipelago.World
	mix   mix

	figure, signs float32 // added weight of errors in a figure, and in its crest and banner
	even          bool    // normalize the weights so that all images have the same total
}

// anyWorld returns a world with a random seed and without injected disparities. The seed determines its prompts.
func anyWorld(r *rand.Rand) *archipelago.World {
	return archipelago.New(archipelago.Options{Seed: r.Uint64() >> 32, Size: examples.Size})
}

// always returns the same world, that of [InjectedSeed], for every example.
func always(injected bool) func(*rand.Rand) *archipelago.World {
	w := world(injected)
	return func(*rand.Rand) *archipelago.World { return w }
}

// timestep returns the quantile u of the distribution of timesteps, as a share of all timesteps: uniform, or with most
// in the middle, where shapes are determined (logit-normal with standard deviation 1: Esser et al. 2024, arXiv
// 2403.03206, section 3.1). Each is used for half of a batch.
func timestep(u float64, middle bool) float64 {
	if !middle {
		return u
	}
	return 1 / (1 + math.Exp(-math.Sqrt2*math.Erfinv(2*u-1)))
}

// trainingBatch returns the batch of a step: new pairs. Timesteps are stratified over the batch, which reduces the
// variance of the loss.
func (l law) trainingBatch(s trainer.Settings, step int) (*batch, error) {
	bars, err := alphas()
	if err != nil {
		return nil, err
	}
	b := &batch{}
	var prompts []string
	shift := examples.Stream(s.Seed, step, s.Batch).Float64()
	for i := range s.Batch {
		r := examples.Stream(s.Seed, step, i)
		p := l.mix.draw(r, l.world(r), firstNumber+step*s.Batch+i)
		if r.Float64() < dropShare && !p.kept {
			p.Prompt = ""
		}
		prompts = append(prompts, p.Prompt)
		img, mask := examples.World.Paint(p.Image)
		b.pixels = vae.AppendPixels(b.pixels, img, img.Rect)
		b.counts = append(b.counts, l.counts(p.Image, img, mask)...)
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
	b.ids, err = tokens.Rows(prompts, tokens.Context)
	return b, err
}

// counts returns the weights of errors by latent position: 1, and more where a figure or its crest or banner is.
func (l law) counts(p archipelago.Image, img *image.RGBA, mask *image.Gray) []float32 {
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
				if img.RGBAAt(x, y) != other.RGBAAt(x, y) {
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

// covered adds to each position more times the mean of weight over the position's pixels.
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

// exchanged returns the image with a figure of the other group on an axis.
func exchanged(p archipelago.Image, axis string) archipelago.Image {
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

// tensors returns the inputs of [networks.lossGraph].
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
