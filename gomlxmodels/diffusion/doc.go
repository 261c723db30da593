// Package diffusion is Stable Diffusion (Rombach et al. 2022, arXiv 2112.10752): text to image by latent diffusion.
// It reads folders as diffusers saves them: a UNet2DConditionModel, an AutoencoderKL, a tokenizer, the configuration
// of a scheduler, and
//
//   - of a StableDiffusionPipeline, of the 1.x and 2.x families, a CLIP text tower;
//   - of an AltDiffusionPipeline (Ye et al. 2023, arXiv 2308.09991), of two languages or nine, an XLM-R;
//   - of either a StableDiffusionSafetyChecker, where the folder has one: it is run unless it is turned off.
//
// # Two APIs
//
// [ForwardUNet], [ForwardDecoder], [ForwardEncoder], [ForwardText] and [ForwardAltText] are the graphs. [Open],
// [NewSampler] and [Sampler.Generate] are the Go side: they never panic, use no globals and return one-line errors.
//
// [OpenFile] reads a 1.x or 2.x in a single file, as its authors saved it; [Model.SaveFolder] writes it as a folder.
//
// # Sampling
//
// An image starts as noise of its own seed, the same numbers as torch.Generator's on the CPU. Each step asks
// the UNet twice, with the prompt and with the negative prompt, as one batch of two (classifier-free guidance, Ho and
// Salimans 2022, arXiv 2207.12598), and the scheduler gives the numbers of a linear combination of what the device
// already holds: latents and earlier answers stay there between the steps. An image depends on its own request
// alone, not on those it shares a batch with.
//
// # Texts
//
// All texts of a model are filled up to one length, 77 tokens as a rule, and the UNet attends to the padding too, as
// it was trained. What is longer is cut before the end token, as in diffusers, and [Result] reports it.
//
// # The safety checker
//
// It compares an image's CLIP embedding with those of 17 concepts, whose names were never published (Rando et al.
// 2022, arXiv 2210.04610, describe them), and blocks what is nearer to one than its threshold.
// A blocked image is not given; [Result] lists the concepts by number.
//
// Images and latents have their channels last throughout. Letters of the shapes: B batch, H height, W width, C
// channels, S tokens of a text, D width of the text tower, T width of the time embedding.
package diffusion
