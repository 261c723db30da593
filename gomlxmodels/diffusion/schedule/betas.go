package schedule

import (
	"fmt"
	"math"
)

// alphas are ᾱ at each training timestep: the share of the image's variance that is left, the cumulative product of
// 1−β. It follows the reference's float32 arithmetic, for with rescale_betas_zero_snr the last ones are differences
// of near numbers.
func (c *Config) alphas() ([]float32, error) {
	betas := c.betas()
	if c.RescaleBetasZeroSNR {
		betas = zeroSNR(betas)
	}
	for t, b := range betas {
		if !(b >= 0 && b <= 1) {
			return nil, fmt.Errorf("scheduler_config.json: the betas yield %g at timestep %d, which is not "+
				"between 0 and 1", b, t)
		}
	}
	return cumulated(betas), nil
}

func cumulated(betas []float32) []float32 {
	out, product := make([]float32, len(betas)), 1.0
	for i, b := range betas {
		product *= float64(1 - b)
		out[i] = float32(product)
	}
	return out
}

// betas are the variances of the noise added at each training timestep.
func (c *Config) betas() []float32 {
	n := c.NumTrainTimesteps
	switch {
	case c.TrainedBetas != nil:
		return c.TrainedBetas
	case c.BetaSchedule == "scaled_linear":
		out := linspace32(math.Sqrt(c.BetaStart), math.Sqrt(c.BetaEnd), n)
		for i, b := range out {
			out[i] = b * b
		}
		return out
	// Nichol, Dhariwal: Improved Denoising Diffusion Probabilistic Models, 2021, equation 17
	case c.BetaSchedule == "squaredcos_cap_v2":
		bar := func(i int) float64 {
			v := math.Cos((float64(i)/float64(n) + 0.008) / 1.008 * math.Pi / 2)
			return v * v
		}
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(min(1-bar(i+1)/bar(i), 0.999))
		}
		return out
	}
	return linspace32(c.BetaStart, c.BetaEnd, n)
}

// linspace32 is PyTorch's linspace in float32: from both ends to the middle.
func linspace32(first, last float64, n int) []float32 {
	a, b := float32(first), float32(last)
	out := make([]float32, n)
	step := (b - a) / float32(max(1, n-1))
	for i := range out {
		if i < n/2 || n == 1 {
			out[i] = a + float32(step*float32(i))
		} else {
			out[i] = b - float32(step*float32(n-1-i))
		}
	}
	return out
}

// zeroSNR rescales betas so that nothing of the image is left at the last timestep: Lin et al., 2024, algorithm 1.
func zeroSNR(betas []float32) []float32 {
	root := cumulated(betas)
	for i, a := range root {
		root[i] = sqrt32(a)
	}
	first, last := root[0], root[len(root)-1]
	scale := first / (first - last)
	out := make([]float32, len(betas))
	before := float32(1)
	for i, r := range root {
		r = float32(r-last) * scale
		bar := r * r
		out[i] = 1 - bar/before
		before = bar
	}
	return out
}

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }
