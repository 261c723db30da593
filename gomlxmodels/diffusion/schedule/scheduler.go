package schedule

import (
	"fmt"
	"math"
	"slices"
)

// Scheduler is a sampler with its parameters.
type Scheduler struct {
	Config Config // as it was read, with the sampler's defaults; only [Scheduler.StableDiffusion] changes it
	// DDIM: the share of the noise sampled again at each step, from 0 (none, the default) to 1; other samplers have
	// none
	Eta float64

	class  class
	alphas []float32 // ᾱ of each training timestep
}

func newScheduler(c class, config Config) (*Scheduler, error) {
	if config.AlgorithmType == "deis" { // what files of the DEIS and UniPC schedulers say, read as diffusers does
		config.AlgorithmType = "dpmsolver++"
	}
	switch config.SolverType {
	case "logrho", "bh1", "bh2":
		config.SolverType = "midpoint"
	}
	if err := config.validate(&c); err != nil {
		return nil, err
	}
	alphas, err := config.alphas()
	if err != nil {
		return nil, err
	}
	return &Scheduler{Config: config, class: c, alphas: alphas}, nil
}

// Alphas are ᾱ at each training timestep: what the model is trained on is √ᾱ·image + √(1−ᾱ)·noise.
func (s *Scheduler) Alphas() []float32 { return slices.Clone(s.alphas) }

// Name is the sampler's short name, one of [Names].
func (s *Scheduler) Name() string { return s.class.short }

// StableDiffusion corrects parameters of the first releases' files as diffusers' StableDiffusionPipeline does when it
// is made: steps_offset becomes 1, and clip_sample false.
func (s *Scheduler) StableDiffusion() {
	s.Config.StepsOffset = 1
	s.Config.ClipSample = false
}

// Plan is a run of that many steps, from 1 to the number of training timesteps. PNDM calls the model once more (or
// nine times more, with Runge–Kutta steps).
func (s *Scheduler) Plan(steps int) (*Plan, error) {
	if steps < 1 || steps > s.Config.NumTrainTimesteps {
		return nil, fmt.Errorf("%d steps: the model knows %d timesteps, so it takes 1 to %[2]d steps", steps,
			s.Config.NumTrainTimesteps)
	}
	if !(s.Eta >= 0 && s.Eta <= 1) || s.Eta > 0 && s.class.short != "ddim" {
		return nil, fmt.Errorf("eta %v with the sampler %s: it is a number from 0 to 1, and DDIM's alone", s.Eta,
			s.class.short)
	}
	plan, err := s.class.plan(s, steps)
	if err == nil {
		err = plan.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%s, %d steps with timestep_spacing %s and prediction_type %s: %w", s.class.short, steps,
			s.Config.TimestepSpacing, s.Config.PredictionType, err)
	}
	return plan, nil
}

// alpha is ᾱ at a timestep; before the first one it is that of a clean image: 1, or with set_alpha_to_one false
// that of timestep 0.
func (s *Scheduler) alpha(timestep int) (float64, error) {
	switch {
	case timestep >= len(s.alphas):
		return 0, fmt.Errorf("timestep %d is beyond the %d of training; lower steps_offset (%d) or the number of steps",
			timestep, len(s.alphas), s.Config.StepsOffset)
	case timestep >= 0:
		return float64(s.alphas[timestep]), nil
	case s.Config.SetAlphaToOne:
		return 1, nil
	}
	return float64(s.alphas[0]), nil
}

// predict are the weights of the image for a sample signal·image + noise·ε.
func (s *Scheduler) predict(signal, noise float64) Predict {
	switch s.Config.PredictionType {
	case "sample":
		return Predict{Output: 1}
	case "v_prediction":
		return Predict{Sample: float32(signal), Output: float32(-noise)}
	}
	return Predict{Sample: float32(1 / signal), Output: float32(-noise / signal)}
}

// timesteps are n timesteps from the noisiest on, spaced as timestep_spacing specifies over the first last ones:
// table 2 of Lin, Liu, Li, Yang: Common Diffusion Noise Schedules and Sample Steps Are Flawed, 2024. They are not
// rounded to whole numbers.
func (s *Scheduler) timesteps(n, last int) []float64 {
	var out []float64
	switch s.Config.TimestepSpacing {
	case "linspace":
		out = linspace(0, float64(last-1), n)
		slices.Reverse(out)
	case "leading":
		for i := n - 1; i >= 0; i-- {
			out = append(out, float64(i*(last/n)+s.Config.StepsOffset))
		}
	case "trailing":
		step := float64(s.Config.NumTrainTimesteps) / float64(n)
		first := float64(last)
		delta := (first - step) - first // as numpy's arange adds it up
		for i := range int(math.Ceil(first / step)) {
			out = append(out, math.RoundToEven(first+float64(i)*delta)-1)
		}
	}
	return out
}

// linspace are n equally spaced numbers from the first on, the last included.
func linspace(first, last float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = last
		if i < n-1 || n == 1 {
			out[i] = first + float64(i)*((last-first)/float64(max(1, n-1)))
		}
	}
	return out
}
