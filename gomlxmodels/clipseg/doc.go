// Package clipseg is CLIPSeg (Lüddecke and Ecker 2022, arXiv 2112.10003): image segmentation by text prompts. A small
// decoder takes a prompt's CLIP vector and hidden states of CLIP's image tower, and returns a logit per pixel for the
// object that the prompt names. It reads Hugging Face CLIPSegForImageSegmentation folders (CIDAS/clipseg-rd64-refined
// and others).
//
// # Two APIs
//
// [ForwardVision], clip's ForwardText and [ForwardDecoder] are the graphs. [Open], [Model.Prepare], [NewEncoder],
// [Encoder.Segment] and [Map.Resize] are the Go side: they never panic, use no globals and return one-line errors.
// Prompts are token ids, start and end tokens included.
//
// Of the image tower only the blocks up to the last extracted one are loaded and run. The position embeddings are
// resized to the images' size once, when the weights are read. A prompt's vector is computed once and cached.
// An image with several prompts is encoded once.
//
// Prompts that are images (conditional_pixel_values) are not supported.
//
// Letters of the shapes: B batch, H height, W width, G patches a side, S = 1+G² tokens, D width of the image tower,
// P projection_dim, R reduce_dim, K extracted layers, L side of the logits.
package clipseg
