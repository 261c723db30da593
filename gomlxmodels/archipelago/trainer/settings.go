package trainer

import "math"

// Settings are the settings of a training run. Runs with equal settings have equal batches and equal initial weights.
type Settings struct {
	Steps int     `json:"steps"`
	Batch int     `json:"batch"` // examples per step
	Seed  uint64  `json:"seed"`
	Rate  float64 `json:"rate"` // peak learning rate: linear warm-up over 5 % of the steps, then half a cosine to 0
	World int     `json:"world_version"`
	From  string  `json:"from,omitempty"` // name and digest of the weights that initialize the run
}

// rate returns the learning rate of a step counted from 0.
func (s Settings) rate(step int) float64 {
	warm := max(1, s.Steps/20)
	if step < warm {
		return s.Rate * float64(step+1) / float64(warm)
	}
	return s.Rate * 0.5 * (1 + math.Cos(math.Pi*float64(step-warm)/float64(max(1, s.Steps-warm))))
}
