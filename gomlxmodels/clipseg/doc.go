// Package clipseg is CLIPSeg (Lüddecke and Ecker 2022, arXiv 2112.10003): words to masks. A prompt's CLIP vector and the
// inner blocks of CLIP's image tower go through a small decoder that gives each pixel a logit: how surely it shows what the
// prompt names. It reads Hugging Face CLIPSegForImageSegmentation folders (CIDAS/clipseg-rd64-refined and its kin).
//
// # Two doors
//
// [ForwardVision], clip's ForwardText and [ForwardDecoder] are the graphs. [Open], [Model.Prepare], [NewEncoder],
// [Encoder.Segment] and [Map.Resize] are the Go side: they never panic, take no globals and give one-line errors. Prompts come
// as token ids, start and end tokens included.
//
// Of the image tower only the blocks up to the last extracted one are loaded and run. The position embeddings are resized to
// the pictures' size once, when the weights are read. A prompt's vector is computed once and kept; a picture asked for several
// prompts passes the image tower once.
//
// Prompts that are pictures (conditional_pixel_values) are not supported.
//
// Letters of the shapes: B batch, H height, W width, G patches a side, S = 1+G² tokens, D width of the image tower,
// P projection_dim, R reduce_dim, K extracted layers, L side of the logits.
package clipseg
