// Package clip is CLIP (Radford et al. 2021, arXiv 2103.00020): two towers that put pictures and texts into one space. It
// reads Hugging Face CLIPModel folders of any patch, width, picture size and context, and the image tower of an AltCLIPModel,
// whose texts package textenc embeds.
//
// # Two doors
//
// [ForwardImage] and [ForwardText] are the graphs. [Open], [Model.Prepare], [NewEncoder], [Encoder.EncodeImages] and
// [Encoder.EncodeTokens] are the Go side: they never panic, take no globals and give one-line errors. Texts come as token
// ids, start and end tokens included, as package tokenizers gives them.
//
// The image tower is package vit's with a norm before block 1; the text tower is a causal transformer whose embedding is
// the row of the end-of-text token.
//
// Letters of the shapes: B batch, H height, W width, N patches, S tokens of a text, D width of a tower, P projection_dim.
package clip
