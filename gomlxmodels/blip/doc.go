// Package blip describes pictures: BLIP (Li et al. 2022, arXiv 2201.12086), the captioning models of Hugging Face's
// BlipForConditionalGeneration, of any width, depth and picture size.
//
// # Two doors
//
// [ForwardImage] and [ForwardText] are the graphs. [Open], [Model.Prepare], [Model.Prompt] and [NewCaptioner] are
// the Go side: they never panic, take no globals and give one-line errors.
//
//	m, err := blip.Open(folder)
//	c, err := blip.NewCaptioner(backend, m, captioner.Options{})
//	pixels, err := m.Prepare(picture)
//	texts, err := c.Caption(ctx, []captioner.Request{{Pixels: pixels, Prompt: prompt}}, decode.Settings{MaxTokens: 20})
//
// The vision tower is package vit's, all its tokens after the final norm. The decoder is a BERT whose blocks look at the picture
// between attention and MLP. What each block makes of the picture, its keys and values, is computed once, with the picture.
//
// Letters of the shapes: B pictures, N patches, S = 1+N tokens of a picture, R rows (captions, B divides R), Q tokens of a row,
// D width of the decoder, E width of the tower, H heads, d = D/H, V tokens of the vocabulary.
package blip
