package schedule

import "math"

// ddim plans DDIM: Song, Meng, Ermon, 2021, equation 12. The noise direction is the model's own, even where the
// image is clipped.
func (s *Scheduler) ddim(steps int) (*Plan, error) {
	plan := &Plan{Start: 1}
	for _, timestep := range s.timesteps(steps, s.Config.NumTrainTimesteps) {
		t := int(math.RoundToEven(timestep))
		now, err := s.alpha(t)
		if err != nil {
			return nil, err
		}
		before, err := s.alpha(t - s.Config.NumTrainTimesteps/steps)
		if err != nil {
			return nil, err
		}
		signal, noise := roots(now)
		// σ² of equation 16
		variance := s.Eta * s.Eta * (1 - before) / (1 - now) * (1 - now/before)
		direction := math.Sqrt(1 - before - variance)
		step := Step{Timestep: float64(t), Scale: 1, Predict: s.predict(signal, noise), Noise: s.Eta > 0}
		step.Next = s.direction(direction, signal, noise)
		step.Next.Predicted += float32(math.Sqrt(before))
		step.Next.Noise = float32(math.Sqrt(variance))
		if s.Config.ClipSample {
			step.Clip = float32(s.Config.ClipSampleRange)
		}
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}

// direction is weight·ε for a sample signal·image + noise·ε, from the sample and the model's output.
func (s *Scheduler) direction(weight, signal, noise float64) Mix {
	switch s.Config.PredictionType {
	case "sample":
		return Mix{Sample: float32(weight / noise), Output: float32(-weight * signal / noise)}
	case "v_prediction":
		return Mix{Sample: float32(weight * noise), Output: float32(weight * signal)}
	}
	return Mix{Output: float32(weight)}
}
