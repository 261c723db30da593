// Package diffusion is Stable Diffusion (Rombach et al. 2022, arXiv 2112.10752): text to picture by latent diffusion. It reads
// folders as diffusers saves a StableDiffusionPipeline, of the 1.x and 2.x families: a CLIP text tower, a UNet2DConditionModel, an
// AutoencoderKL, a tokenizer and the configuration of a scheduler.
//
// # Two doors
//
// [ForwardUNet], [ForwardDecoder], [ForwardEncoder] and [ForwardText] are the graphs. [Open], [NewSampler] and
// [Sampler.Generate] are the Go side: they never panic, take no globals and give one-line errors.
//
// # Sampling
//
// A picture starts as noise of its own seed, the same numbers as torch.Generator's on the processor. Each step asks the UNet
// twice, with the prompt and with the negative prompt, as one batch of two (classifier-free guidance, Ho and Salimans 2022, arXiv
// 2207.12598), and the scheduler gives the numbers of a linear combination of what the device already holds: latents and earlier
// answers stay there between the steps. A picture depends on its own request alone, not on those it shares a batch with.
//
// Pictures and latents have their channels last throughout. Letters of the shapes: B batch, H height, W width, C channels, S
// tokens of a text, D width of the text tower, T width of the time embedding.
package diffusion
