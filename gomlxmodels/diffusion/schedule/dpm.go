package schedule

import "math"

// dpm plans DPM-Solver++ in its multistep form, of orders 1 to 3: Lu et al., 2022, and with sde-dpmsolver++ its
// stochastic form. It keeps the images predicted at the steps before, the latest first.
func (s *Scheduler) dpm(steps int) (*Plan, error) {
	times, sigmas := s.dpmSigmas(steps)
	c := &s.Config
	n := len(times)
	plan := &Plan{Start: 1, Kept: max(0, c.SolverOrder-1)}
	for i, t := range times {
		order := min(c.SolverOrder, i+1)
		few := c.LowerOrderFinal && n < 15
		switch {
		case i == n-1 && (c.EulerAtFinal || few || c.FinalSigmasType == "zero"):
			order = 1
		case i == n-2 && few:
			order = min(order, 2)
		}
		signal, noise := dpmRoots(sigmas[i])
		step := Step{Timestep: t, Scale: 1, Predict: s.predict(signal, noise),
			Keep: shifted(Mix{Predicted: 1}, plan.Kept)}
		step.Noise = c.AlgorithmType == "sde-dpmsolver++"
		step.Next = s.dpmNext(sigmas, i, order)
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}

// dpmNext is step i of that order. λ = log(signal/noise), of which h is the change over this step, and r₀, r₁ those
// over the steps before as shares of h; the image's first and second derivatives in λ come from differences of kept
// images.
func (s *Scheduler) dpmNext(sigmas []float32, i, order int) Mix {
	signal, noise := dpmRoots(sigmas[i+1])
	_, noise0 := dpmRoots(sigmas[i])
	lambda := func(k int) float64 { a, b := dpmRoots(sigmas[k]); return math.Log(a) - math.Log(b) }
	h := lambda(i+1) - lambda(i)

	var next Mix
	k := h // in the stochastic form the weights are those of twice the change
	if s.Config.AlgorithmType == "sde-dpmsolver++" {
		k = 2 * h
		next.Sample = float32(noise / noise0 * math.Exp(-h))
		next.Noise = float32(noise * math.Sqrt(-math.Expm1(-k)))
	} else {
		next.Sample = float32(noise / noise0)
	}
	e := -math.Expm1(-k)
	next = next.plus(signal*e, Mix{Predicted: 1})
	if order == 1 {
		return next
	}
	first := signal * (1 - e/k)
	r0 := (lambda(i) - lambda(i-1)) / h
	slope := Mix{}.plus(1/r0, Mix{Predicted: 1}).plus(-1/r0, Mix{Kept: unit(0)})
	if order == 2 {
		if s.Config.SolverType == "midpoint" {
			first = signal * e / 2
		}
		return next.plus(first, slope)
	}
	r1 := (lambda(i-1) - lambda(i-2)) / h
	before := Mix{}.plus(1/r1, Mix{Kept: unit(0)}).plus(-1/r1, Mix{Kept: unit(1)})
	bend := Mix{}.plus(1/(r0+r1), slope).plus(-1/(r0+r1), before)
	slope = slope.plus(r0, bend)
	second := signal * (0.5 - (k-e)/(k*k))
	if s.Config.AlgorithmType == "sde-dpmsolver++" {
		second -= signal // the reference's sign of ½
	}
	return next.plus(first, slope).plus(second, bend)
}

// dpmRoots are the weights of image and noise in a sample of unit variance whose noise level is σ.
func dpmRoots(sigma float32) (signal, noise float64) {
	v := float64(sigma)
	signal = 1 / math.Sqrt(v*v+1)
	return signal, v * signal
}

// dpmSigmas are the whole timesteps passed to the model, and the noise levels from the first step's on, the final one
// included.
func (s *Scheduler) dpmSigmas(steps int) (times []float64, sigmas []float32) {
	c := &s.Config
	levels := s.levels()
	last := s.dpmLast()
	if c.TimestepSpacing == "trailing" {
		times = s.timesteps(steps, last)
	} else {
		times = s.timesteps(steps+1, last)[:steps]
	}
	times = each(times, math.RoundToEven)
	chosen := s.respaced(float64(levels[len(levels)-1]), float64(levels[0]), steps)
	switch {
	case c.UseLuLambdas && !c.UseKarrasSigmas:
		chosen = each(linspace(log32(levels[len(levels)-1]), log32(levels[0]), steps), math.Exp)
		fallthrough
	case chosen != nil:
		times = s.timestepsOf(chosen, levels)
		if (c.UseKarrasSigmas || c.UseLuLambdas) && c.BetaSchedule != "squaredcos_cap_v2" {
			times = each(times, math.RoundToEven)
		}
	default:
		chosen = interpolate(times, levels)
	}
	return each(times, math.Trunc), s.withFinal(chosen, levels)
}

// dpmLast is how many timesteps have λ of at least lambda_min_clipped: the noisiest ones are left out.
func (s *Scheduler) dpmLast() int {
	last := len(s.alphas)
	for _, a := range s.divisible() {
		lambda := float32(log32(sqrt32(a)) - log32(sqrt32(1-a)))
		if float64(lambda) < s.Config.LambdaMinClipped {
			last--
		}
	}
	return last
}
