package schedule

import (
	"fmt"
	"math"
)

// What PNDM keeps: the outputs at the three steps before, the latest first; the sample that a step of several calls
// began with; and, with Runge–Kutta, the weighted sum of such a step's outputs so far.
const (
	pndmSample = 3
	pndmSum    = 4
)

// adams are the weights of the present output and the earlier ones, by how many there are: Liu et al., 2022, equation
// 12.
var adams = [4][]float64{
	{1},
	{3. / 2, -1. / 2},
	{23. / 12, -16. / 12, 5. / 12},
	{55. / 24, -59. / 24, 37. / 24, -9. / 24},
}

// pndm plans PNDM: Liu, Ren, Lin, Zhao, 2022. The first three steps call the model four times each (Runge–Kutta), or
// with skip_prk_steps the first step calls it twice; the others follow the linear multistep method.
func (s *Scheduler) pndm(steps int) (*Plan, error) {
	var times []int // from the noisiest on
	for _, t := range s.timesteps(steps, s.Config.NumTrainTimesteps) {
		times = append(times, int(math.RoundToEven(t)))
	}
	p := &pndmPlan{Scheduler: s, plan: &Plan{Start: 1, Kept: pndmSum}, stride: s.Config.NumTrainTimesteps / steps}
	if !s.Config.SkipPRKSteps {
		if steps < 4 {
			return nil, fmt.Errorf("the Runge–Kutta start takes at least 4 steps; take more, or set skip_prk_steps")
		}
		p.plan.Kept++
		p.rungeKutta(times)
		p.multistep(times[3:], 3)
		return p.plan, p.err
	}
	p.multistep(times[:1], 0)
	if steps > 1 {
		p.again(times[1])
		p.multistep(times[1:], 1)
	}
	return p.plan, p.err
}

// pndmPlan is a plan being made.
type pndmPlan struct {
	*Scheduler
	plan   *Plan
	stride int
	err    error
}

// multistep plans a step of one call for each timestep, with so many earlier outputs kept at the first.
func (p *pndmPlan) multistep(times []int, kept int) {
	for _, t := range times {
		var output Mix
		for i, w := range adams[kept] {
			if i == 0 {
				output = output.plus(w, Mix{Output: 1})
			} else {
				output = output.plus(w, Mix{Kept: unit(i - 1)})
			}
		}
		p.call(t, t, t-p.stride, Mix{Sample: 1}, output, p.keepOutput())
		kept = min(kept+1, 3)
	}
}

// again plans the first step's second call, at its end t: the step is done anew with the mean of the two outputs.
func (p *pndmPlan) again(t int) {
	output := Mix{Output: 0.5}.plus(0.5, Mix{Kept: unit(0)})
	p.call(t, t+p.stride, t, Mix{Kept: unit(pndmSample)}, output, p.keepAll())
}

// rungeKutta plans the first three steps: equation 13.
func (p *pndmPlan) rungeKutta(times []int) {
	half := p.stride / 2
	begun := Mix{Kept: unit(pndmSample)}
	for i := range 3 {
		from, to := times[i], times[i+1]
		keep := p.keepOutput()
		keep[pndmSum] = Mix{Output: 1. / 6}
		p.call(from, from, from-half, Mix{Sample: 1}, Mix{Output: 1}, keep)
		for _, target := range []int{to + half, to} {
			keep := p.keepAll()
			keep[pndmSum] = Mix{Kept: unit(pndmSum)}.plus(1./3, Mix{Output: 1})
			p.call(to+half, from, target, begun, Mix{Output: 1}, keep)
		}
		p.call(to, from, to, begun, Mix{Kept: unit(pndmSum)}.plus(1./6, Mix{Output: 1}), p.keepAll())
	}
}

// call plans a call of the model at timestep asked, after which the sample is moved from timestep from, where it was
// sample, to timestep to along the output: equation 9.
func (p *pndmPlan) call(asked, from, to int, sample, output Mix, keep []Mix) {
	var alphas [3]float64
	for i, t := range [...]int{asked, from, to} {
		alpha, err := p.alpha(t)
		if err != nil && p.err == nil {
			p.err = err
		}
		alphas[i] = alpha
	}
	now, next := alphas[1], alphas[2]
	if p.Config.PredictionType == "v_prediction" {
		signal, noise := roots(now)
		output = Mix{}.plus(signal, output).plus(noise, sample)
	}
	rate := (next - now) / (now*math.Sqrt(1-next) + math.Sqrt(now*(1-now)*next))
	p.plan.Steps = append(p.plan.Steps, Step{
		Timestep: float64(asked),
		Scale:    1,
		Predict:  p.predict(roots(alphas[0])),
		Next:     Mix{}.plus(math.Sqrt(next/now), sample).plus(-rate, output),
		Keep:     keep,
	})
}

// keepAll keeps what is kept.
func (p *pndmPlan) keepAll() []Mix {
	keep := make([]Mix, p.plan.Kept)
	for k := range keep {
		keep[k].Kept = unit(k)
	}
	return keep
}

// keepOutput keeps the output as the latest, and the sample as what the step began with.
func (p *pndmPlan) keepOutput() []Mix {
	keep := append(shifted(Mix{Output: 1}, 3), p.keepAll()[pndmSample:]...)
	keep[pndmSample] = Mix{Sample: 1}
	return keep
}
