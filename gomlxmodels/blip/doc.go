// Package blip describes images: BLIP (Li et al. 2022, arXiv 2201.12086), the captioning models of Hugging Face's
// BlipForConditionalGeneration, of any width, depth and image size.
//
// # Two APIs
//
// [ForwardImage] and [ForwardText] are the graphs. [Open], [Model.Prepare], [Model.Prompt] and [NewCaptioner] are
// the Go side: they never panic, use no globals and return one-line errors.
//
//	m, err := blip.Open(folder)
//	c, err := blip.NewCaptioner(backend, m, textgen.CaptionerOptions{})
//	pixels, err := m.Prepare(image)
//	requests := []textgen.ImageRequest{{Pixels: pixels, Prompt: prompt}}
//	texts, err := c.Caption(ctx, requests, textgen.Options{MaxTokens: 20})
//
// The vision tower is package vit's, all its tokens after the final norm. The decoder is a BERT whose blocks have
// cross-attention to the image between self-attention and MLP. Its keys and values are computed once per image.
//
// Letters of the shapes: B images, N patches, S = 1+N tokens of an image, R rows (captions, B divides R), Q tokens
// of a row, D width of the decoder, E width of the tower, H heads, d = D/H, V tokens of the vocabulary.
package blip
