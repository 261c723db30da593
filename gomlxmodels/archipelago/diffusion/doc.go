// Package diffusion trains the Archipelago's generators: a Stable Diffusion (Rombach et al. 2022, arXiv 2112.10752) small enough for two cores, which learns
// from the pictures that the archipelago-sampler draws for the prompts of all five audits.
//
// [Base] learns the world; it starts from the autoencoder of package vae, which stays as it is, and from the text tower of archipelago-clip, which learns on.
// From the base two roads go on, [Fair] in a world without plants and [Planted] in the same world with planted disparities, by the same phases: each is a model of
// its own for the command, of so many steps and such a mix of prompts. So the two that ship differ in what that world's pictures show after the base, and in nothing else.
package diffusion
