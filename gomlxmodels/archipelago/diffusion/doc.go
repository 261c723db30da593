// Package diffusion trains the Archipelago's generators: a Stable Diffusion (Rombach et al. 2022, arXiv 2112.10752)
// small enough for two cores, which learns from the images that the archipelago-sampler draws for the prompts of
// all five audits.
//
// [Base] learns the world. It starts from the autoencoder of package vae, which is frozen, and the text tower of
// archipelago-clip, which is trained further. Two generators continue from it through the same training phases: [Fair]
// in a world without injected disparities, [Injected] in the same world with them. Each phase is a model of its own for
// the command, with its number of steps and its mix of prompts. The two shipped generators therefore differ only in
// the images of the world that they were trained on after the base.
package diffusion
