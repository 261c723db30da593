// Package clip is CLIP (Radford et al. 2021, arXiv 2103.00020): two towers that put images and texts into one
// space. It reads Hugging Face CLIPModel folders of any patch, width, image size and context, and the image tower
// of an AltCLIPModel, whose texts package textenc embeds. It also reads SigLIP (Zhai et al. 2023, arXiv 2303.15343) and
// SigLIP 2 (arXiv 2502.14786): SiglipModel folders.
//
// # Two APIs
//
// [ForwardImage] and [ForwardText] are the graphs. [Open], [Model.Prepare], [NewEncoder], [Encoder.EncodeImages] and
// [Encoder.EncodeTokens] are the Go side: they never panic, use no globals and return one-line errors. Texts are
// token ids, start and end tokens included, as package tokenizers returns them.
//
// The image tower is package vit's with a norm before block 1; the text tower is a causal transformer whose embedding
// is the row of the end-of-text token. SigLIP's image tower has no class token and ends in a pooling head; its text tower
// is not causal, and its texts are padded to the context.
//
// Letters of the shapes: B batch, H height, W width, N patches, S tokens of a text, D width of a tower, P
// projection_dim.
package clip
