// Package vae trains the autoencoder of the Archipelago's generators: an AutoencoderKL (Kingma and Welling 2014,
// arXiv 1312.6114; in Stable Diffusion's layout, Rombach et al. 2022, arXiv 2112.10752) that encodes
// images of 128×128 pixels as latents of 16×16×4 and decodes them.
package vae
