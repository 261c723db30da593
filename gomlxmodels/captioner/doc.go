// Package captioner runs models that put pictures into words, whatever their architecture: a [Network] is a graph that looks at a picture
// and a decoder (package decode) that writes about what it saw. Packages blip and blip2 give theirs to [New].
//
//	c, err := captioner.New(backend, network, captioner.Options{})
//	texts, err := c.Caption(ctx, []captioner.Request{{Pixels: pixels, Prompt: prompt}}, decode.Settings{MaxTokens: 20})
//
// Pictures are looked at one by one, so that what is seen in one does not depend on the others; neighbours of one name are looked at once.
package captioner
