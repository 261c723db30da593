package schedule

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// smallestSignal stands for ᾱ = 0 where a sampler divides by it.
const smallestSignal = 1.0 / (1 << 24)

// levels are the noise levels σ = √((1−ᾱ)/ᾱ) of the training timesteps, rising.
func (s *Scheduler) levels() []float32 {
	out := make([]float32, len(s.alphas))
	for i, a := range s.divisible() {
		out[i] = sqrt32((1 - a) / a)
	}
	return out
}

// divisible is ᾱ with the last one above 0.
func (s *Scheduler) divisible() []float32 {
	if !s.Config.RescaleBetasZeroSNR {
		return s.alphas
	}
	out := slices.Clone(s.alphas)
	out[len(out)-1] = smallestSignal
	return out
}

// interpolate are the levels at timesteps between those of training.
func interpolate(times []float64, levels []float32) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		t = min(max(t, 0), float64(len(levels)-1))
		at := int(t)
		out[i] = float64(levels[at])
		if rest := t - float64(at); rest > 0 {
			out[i] += rest * (float64(levels[at+1]) - float64(levels[at]))
		}
	}
	return out
}

// respaced are n noise levels from the highest to the lowest, spaced as use_karras_sigmas (Karras et al., 2022,
// equation 5), use_exponential_sigmas or use_beta_sigmas (Lee et al.: Beta Sampling is All You Need, 2024) says; nil
// where none is set.
func (s *Scheduler) respaced(highest, lowest float64, n int) []float64 {
	if s.Config.SigmaMax != nil {
		highest = *s.Config.SigmaMax
	}
	if s.Config.SigmaMin != nil {
		lowest = *s.Config.SigmaMin
	}
	switch {
	case s.Config.UseKarrasSigmas:
		const rho = 7
		return each(linspace(0, 1, n), func(r float64) float64 {
			a, b := math.Pow(highest, 1./rho), math.Pow(lowest, 1./rho)
			return math.Pow(a+r*(b-a), rho)
		})
	case s.Config.UseExponentialSigmas:
		return each(linspace(math.Log(highest), math.Log(lowest), n), math.Exp)
	case s.Config.UseBetaSigmas:
		return each(linspace(0, 1, n), func(r float64) float64 {
			quantile := 1 - r
			if quantile > 0 && quantile < 1 {
				quantile = mathext.InvRegIncBeta(0.6, 0.6, quantile)
			}
			return lowest + quantile*(highest-lowest)
		})
	}
	return nil
}

// timestepsOf are the timesteps, between those of training, whose noise levels these are, by the levels' logarithms.
func (s *Scheduler) timestepsOf(sigmas []float64, levels []float32) []float64 {
	logs := make([]float32, len(levels))
	for i, l := range levels {
		logs[i] = float32(log32(l))
	}
	if len(logs) == 1 {
		return make([]float64, len(sigmas))
	}
	return each(sigmas, func(sigma float64) float64 {
		log := math.Log(max(sigma, 1e-10))
		low := 0
		for i := len(logs) - 2; i > 0; i-- {
			if float64(logs[i]) <= log {
				low = i
				break
			}
		}
		w := (float64(logs[low]) - log) / float64(logs[low]-logs[low+1])
		w = min(max(w, 0), 1)
		return (1-w)*float64(low) + w*float64(low+1)
	})
}

// withFinal are the noise levels with the one after the last step: 0, or the lowest of training.
func (s *Scheduler) withFinal(sigmas []float64, levels []float32) []float32 {
	out := make([]float32, len(sigmas), len(sigmas)+1)
	for i, sigma := range sigmas {
		out[i] = float32(sigma)
	}
	if s.Config.FinalSigmasType == "sigma_min" {
		return append(out, levels[0])
	}
	return append(out, 0)
}

func each(values []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// log32 is the logarithm of a float32, rounded to one.
func log32(v float32) float64 { return float64(float32(math.Log(float64(v)))) }
