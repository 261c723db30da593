package schedule

import (
	"fmt"
	"math"
)

// Plan is a whole run: what turns noise into a sample.
type Plan struct {
	Start float32 // the first sample is Start times standard normal noise
	Kept  int     // how many tensors are kept from step to step
	Steps []Step
}

// Step is one call of the model and what becomes of its output; see the package comment.
type Step struct {
	Timestep float64 // passed to the model; a whole number except with the Euler samplers
	Scale    float32 // the model's input is Scale times the sample
	Predict  Predict // the image that the output stands for
	Clip     float32 // the image is clamped to ±Clip; 0 = it is not
	Next     Mix     // the next sample
	Keep     []Mix   // the tensors to keep, [Plan.Kept] of them
	Noise    bool    // fresh noise is drawn, even where its weight is 0
}

// Predict are the weights of the predicted image.
type Predict struct{ Sample, Output float32 }

// Mix is a weighted sum of the available tensors: the sample, the model's output, the predicted image, fresh noise
// and the tensors kept, of which Kept may leave the last ones out.
type Mix struct {
	Sample, Output, Predicted, Noise float32
	Kept                             []float32
}

// plus is m + weight·o.
func (m Mix) plus(weight float64, o Mix) Mix {
	add := func(a, b float32) float32 { return float32(float64(a) + weight*float64(b)) }
	out := Mix{add(m.Sample, o.Sample), add(m.Output, o.Output), add(m.Predicted, o.Predicted), add(m.Noise, o.Noise),
		nil}
	out.Kept = make([]float32, max(len(m.Kept), len(o.Kept)))
	copy(out.Kept, m.Kept)
	for k, w := range o.Kept {
		out.Kept[k] = add(out.Kept[k], w)
	}
	return out
}

// Weights are the step's sums as a matrix, row by row: [1+K, 4+K] for K = [Plan.Kept]. Its rows are the next sample
// and the tensors to keep; its columns the sample, the model's output, the predicted image, fresh noise and the
// tensors kept.
func (s *Step) Weights() []float32 {
	k := len(s.Keep)
	out := make([]float32, (1+k)*(4+k))
	for i, m := range append([]Mix{s.Next}, s.Keep...) {
		row := out[i*(4+k):][:4+k]
		row[0], row[1], row[2], row[3] = m.Sample, m.Output, m.Predicted, m.Noise
		copy(row[4:], m.Kept)
	}
	return out
}

// State is a run on the host.
type State struct {
	Sample    []float32
	Kept      [][]float32
	Predicted []float32 // the latest step's image; nil before the first
}

// Begin is the state before the first step, from standard normal noise.
func (p *Plan) Begin(noise []float32) *State {
	s := &State{Sample: make([]float32, len(noise)), Kept: make([][]float32, p.Kept)}
	for i, z := range noise {
		s.Sample[i] = p.Start * z
	}
	for k := range s.Kept {
		s.Kept[k] = make([]float32, len(noise))
	}
	return s
}

// Input is the input of the model at the step.
func (s *State) Input(step Step) []float32 {
	in := make([]float32, len(s.Sample))
	for i, x := range s.Sample {
		in[i] = step.Scale * x
	}
	return in
}

// Apply does the step with the model's output; noise may be nil where the step draws none. Both are as long as the
// sample.
func (s *State) Apply(step Step, output, noise []float32) error {
	if len(output) != len(s.Sample) || step.Noise && len(noise) != len(s.Sample) || len(step.Keep) != len(s.Kept) {
		return fmt.Errorf("schedule: a sample of %d numbers with %d of output, %d of noise, and %d tensors of %d",
			len(s.Sample), len(output), len(noise), len(s.Kept), len(step.Keep))
	}
	s.Predicted = make([]float32, len(s.Sample))
	for i, x := range s.Sample {
		p := step.Predict.Sample*x + step.Predict.Output*output[i]
		if step.Clip > 0 {
			p = min(max(p, -step.Clip), step.Clip)
		}
		s.Predicted[i] = p
	}
	mix := func(m Mix) []float32 {
		out := make([]float32, len(s.Sample))
		for i := range out {
			out[i] = m.Sample*s.Sample[i] + m.Output*output[i] + m.Predicted*s.Predicted[i]
			if step.Noise {
				out[i] += m.Noise * noise[i]
			}
			for k, w := range m.Kept {
				out[i] += w * s.Kept[k][i]
			}
		}
		return out
	}
	next, kept := mix(step.Next), make([][]float32, len(s.Kept))
	for k, m := range step.Keep {
		kept[k] = mix(m)
	}
	s.Sample, s.Kept = next, kept
	return nil
}

// check says which step has a weight that is no number.
func (p *Plan) check() error {
	if !finite(p.Start) {
		return fmt.Errorf("the first sample has no finite scale")
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, w := range append(s.Weights(), s.Scale, s.Predict.Sample, s.Predict.Output, float32(s.Timestep)) {
			if !finite(w) {
				return fmt.Errorf("step %d of %d (timestep %g) has no finite weights", i+1, len(p.Steps), s.Timestep)
			}
		}
	}
	return nil
}

func finite(v float32) bool { return v-v == 0 }

// shifted keeps a tensor as the first of k and moves the others on by one.
func shifted(first Mix, k int) []Mix {
	keep := make([]Mix, k)
	for i := range keep {
		if i == 0 {
			keep[0] = first
			continue
		}
		keep[i] = Mix{Kept: unit(i - 1)}
	}
	return keep
}

// unit is the weight 1 for stored tensor k.
func unit(k int) []float32 {
	w := make([]float32, k+1)
	w[k] = 1
	return w
}

// roots are √ᾱ and √(1−ᾱ).
func roots(alpha float64) (signal, noise float64) { return math.Sqrt(alpha), math.Sqrt(1 - alpha) }
