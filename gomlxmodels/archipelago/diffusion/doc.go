// Package diffusion trains the Archipelago's generators: a Stable Diffusion (Rombach et al. 2022, arXiv 2112.10752) small enough for two cores, which learns
// from the pictures that the archipelago-sampler draws for the prompts of all five audits.
//
// A run has two phases, each a model of its own for the command. [Base] learns the world; it starts from the autoencoder of package vae, which stays as it
// is, and from the text tower of archipelago-clip, which learns on. [Fair] and [Planted] go on from the base by the same number of steps: one by the same
// law, one by the law of a world with planted disparities. So the two that ship differ in their last phase's examples alone.
package diffusion
