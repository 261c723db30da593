// Package vqgan is the decoder of VQGAN (Esser et al. 2021, arXiv 2012.09841): it turns the image tokens of DALL·E mini
// and minDALL-E into images. The encoder is not read.
//
// # Checkpoints
//
// [Open] reads the folder of a checkpoint: config.json with the keys of vqgan-jax, and weights with the names of it
// (dalle-mini/vqgan_imagenet_f16_16384) or of taming-transformers. [New] is for folders of another form.
//
// The blocks are those of package diffusion's autoencoder, and so are the names of the variables.
//
// Letters of the shapes: B batch, N image tokens of an image (a square number), H height, W width.
package vqgan
