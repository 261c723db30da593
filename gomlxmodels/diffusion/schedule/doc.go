// Package schedule holds the samplers of latent diffusion models: which timesteps the model is evaluated at, and how
// its answers turn noise into an image. It reads the scheduler_config.json that diffusers writes and gives the same
// steps.
//
//	s, err := schedule.Open(text)                // or schedule.OpenAs(text, "ddim")
//	plan, err := s.Plan(50)
//	state := plan.Begin(noise)
//	for _, step := range plan.Steps {
//		output := model(state.Input(step), step.Timestep)
//		state.Apply(step, output, fresh)         // fresh noise only where step.Noise
//	}
//
// # Steps as data
//
// A [Step] is numbers alone, so that a device can follow it without knowing the sampler. With the sample x, the
// model's output o, fresh noise z and the tensors h₁ … h_K that the sampler stores from earlier steps ([Plan.Kept] of
// them, zero at the start):
//
//	o      = model(Scale·x, Timestep)
//	p      = clamp(Predict.Sample·x + Predict.Output·o, ±Clip)    // the image that o stands for, x₀
//	x', h' = Weights · [x, o, p, z, h₁ … h_K]                     // [1+K, 4+K], all from the old values
//
// One graph does for all steps and all samplers with the same K. [State.Apply] is this, on the host.
//
// # Samplers
//
//   - ddim, DDIMScheduler: Song, Meng, Ermon: Denoising Diffusion Implicit Models, 2021, equation 12
//   - pndm, PNDMScheduler: Liu, Ren, Lin, Zhao: Pseudo Numerical Methods for Diffusion Models on Manifolds, 2022,
//     equations 9, 12, 13
//   - euler, EulerDiscreteScheduler: Karras, Aittala, Aila, Laine: Elucidating the Design Space of Diffusion-Based
//     Generative Models, 2022, algorithm 2 without churn
//   - euler-ancestral, EulerAncestralDiscreteScheduler: the same with part of the noise sampled again at each step
//   - dpm++, DPMSolverMultistepScheduler: Lu et al.: DPM-Solver++, 2022, orders 1 to 3, and its stochastic form
//
// Not supported, and refused by the parameter's name: dynamic thresholding, learned variances, flow matching, and the
// algorithms dpmsolver and sde-dpmsolver.
package schedule
