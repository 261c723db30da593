package schedule

import "math"

// euler plans the Euler method on the noise level σ, the sample being image + σ·ε: Karras et al., 2022, algorithm 2
// without churn.
func (s *Scheduler) euler(steps int) (*Plan, error) {
	times, sigmas := s.eulerSigmas(steps)
	plan := s.eulerStart(sigmas)
	for i, t := range times {
		sigma, next := float64(sigmas[i]), float64(sigmas[i+1])
		plan.Steps = append(plan.Steps, s.eulerStep(t, sigma, next-sigma))
	}
	return plan, nil
}

// ancestral plans the Euler method that goes below the next noise level and adds fresh noise up to it.
func (s *Scheduler) ancestral(steps int) (*Plan, error) {
	times, sigmas := s.eulerSigmas(steps)
	plan := s.eulerStart(sigmas)
	for i, t := range times {
		sigma, next := float64(sigmas[i]), float64(sigmas[i+1])
		up := math.Sqrt(next * next * (sigma*sigma - next*next) / (sigma * sigma))
		down := math.Sqrt(next*next - up*up)
		step := s.eulerStep(t, sigma, down-sigma)
		step.Next.Noise, step.Noise = float32(up), true
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}

// eulerStart begins a plan: noise as large as the largest σ, or with leading timesteps as the sample's standard
// deviation there.
func (s *Scheduler) eulerStart(sigmas []float32) *Plan {
	largest := float64(0)
	for _, sigma := range sigmas {
		largest = max(largest, float64(sigma))
	}
	if s.Config.TimestepSpacing == "leading" {
		largest = math.Sqrt(largest*largest + 1)
	}
	return &Plan{Start: float32(largest)}
}

// eulerStep follows (sample − image)/σ over change in σ.
func (s *Scheduler) eulerStep(timestep, sigma, change float64) Step {
	scale := 1 / math.Sqrt(sigma*sigma+1)
	step := Step{Timestep: timestep, Scale: float32(scale)}
	switch s.Config.PredictionType {
	case "epsilon":
		step.Predict = Predict{Sample: 1, Output: float32(-sigma)}
		step.Next = Mix{Sample: 1, Output: float32(change)}
	case "v_prediction":
		step.Predict = Predict{Sample: float32(scale * scale), Output: float32(-sigma * scale)}
		// (1 − 1/(σ²+1))/σ = σ/(σ²+1)
		step.Next = Mix{Sample: float32(1 + change*sigma*scale*scale), Output: float32(change * scale)}
	case "sample":
		step.Predict = Predict{Output: 1}
		step.Next = Mix{Sample: float32(1 + change/sigma), Output: float32(-change / sigma)}
	}
	return step
}

// eulerSigmas are the timesteps passed to the model, and the noise levels from the first step's on, the final one
// included.
func (s *Scheduler) eulerSigmas(steps int) (times []float64, sigmas []float32) {
	levels := s.levels()
	times = s.timesteps(steps, s.Config.NumTrainTimesteps)
	for i, t := range times {
		times[i] = float64(float32(t))
	}
	var chosen []float64
	if s.Config.InterpolationType == "log_linear" {
		last := float64(len(levels) - 1)
		for _, v := range linspace32(log32(levels[int(last)]), log32(levels[0]), steps+1) {
			chosen = append(chosen, float64(float32(math.Exp(float64(v)))))
		}
	} else {
		chosen = interpolate(times, levels)
	}
	if respaced := s.respaced(chosen[0], chosen[len(chosen)-1], steps); respaced != nil {
		chosen, times = respaced, s.timestepsOf(respaced, levels)
		for i, t := range times {
			times[i] = float64(float32(t))
		}
	}
	sigmas = s.withFinal(chosen, levels)
	if s.Config.TimestepType == "continuous" && s.Config.PredictionType == "v_prediction" {
		times = nil
		for _, sigma := range sigmas[:len(sigmas)-1] {
			times = append(times, float64(float32(0.25*log32(sigma))))
		}
	}
	return times, sigmas
}
