package trainer

import "math"

// Settings of a training run. Runs of equal settings see equal batches and start from equal weights, interrupted or not.
type Settings struct {
	Steps int     `json:"steps"`
	Batch int     `json:"batch"` // examples a step
	Seed  uint64  `json:"seed"`
	Rate  float64 `json:"rate"` // highest learning rate: reached after 5 % of the steps, then down to 0 as half a cosine
	World int     `json:"world_version"`
	From  string  `json:"from,omitempty"` // digest of the weights that the run starts from or leans on
}

// rate of a step counted from 0.
func (s Settings) rate(step int) float64 {
	warm := max(1, s.Steps/20)
	if step < warm {
		return s.Rate * float64(step+1) / float64(warm)
	}
	return s.Rate * 0.5 * (1 + math.Cos(math.Pi*float64(step-warm)/float64(max(1, s.Steps-warm))))
}
