// Package textgen writes text with a decoder network: greedy search, beam search, and sampling with temperature,
// top-k and nucleus (top-p), with repetition penalty and minimum and maximum length. It follows generate of
// transformers: its order of logit processors, its scores, its stopping rules.
//
//	g := textgen.NewGenerator(net, decoder) // net: the network's weights, in package runner
//	texts, err := g.Generate(ctx, contexts, requests, textgen.Options{MaxTokens: 20, Ends: ends})
//
// A [Captioner] adds an image encoder:
//
//	c, err := textgen.NewCaptioner(backend, network, textgen.CaptionerOptions{})
//	requests := []textgen.ImageRequest{{Pixels: pixels, Prompt: prompt}}
//	texts, err := c.Caption(ctx, requests, textgen.Options{MaxTokens: 20})
//
// # Computation
//
// A [Decoder] is one graph function. The generator compiles it twice, in fixed shapes: a prefill graph, which reads
// the prompts, and a step graph, which reads one token per row. Keys and values stay on the device; the cache's
// length is a multiple of 32. Rows are grouped: a group has one context (an image) and one prompt and contains the
// captions, or the beams, of it. Prefill runs once per group, and a context's encoding is not copied to the rows of
// its group. Tokens are chosen on the host, in one goroutine per row.
//
// # Reproducibility
//
// A text depends on its context, prompt, options and seed, and on the shapes of the graphs, which follow from the
// options. It does not depend on the other texts of a call, because every call is padded to the same number of
// groups. The random numbers of a text are a function of its seed and of the token's index (SplitMix64 with a
// counter). Of equal logits the lower token comes first; of beams, the better one's. Sampling walks the remaining
// tokens in the order of their ids, with sums in float64, so that two tokens of nearly equal probability cannot
// change places.
//
// Letters in shapes: G groups, N rows per group, R = G·N rows, P tokens of a prompt, T positions of the cache, H
// heads, d width of a head, V tokens of the vocabulary, Q tokens of the input.
package textgen
