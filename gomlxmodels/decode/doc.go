// Package decode writes text with a decoder-only network (or the decoder of an image captioner): one loop for every such model.
// Greedy search, beam search and sampling with temperature, top-k, nucleus (top-p), repetition penalty, minimum and maximum length,
// from a given prompt, as transformers' generate does: its order of settings, its scores, its stop rules.
//
//	g := decode.New(net, network) // net: the network's weights, in package runner
//	texts, err := g.Generate(ctx, context, requests, settings)
//
// # How it runs
//
// A [Network] is one graph function. The generator compiles it twice, in fixed shapes: a prefill, which takes the prompts, and a
// step, which takes one token of every row. Keys and values stay on the device between calls; their length is a multiple of 32.
// Rows come in groups: a group has one context (a picture) and one prompt and holds the captions, or the beams, written of it.
// Prefill is done once a group, and what a network makes of a context is never copied to a group's rows.
//
// Logits come to the host, where tokens are chosen in the rows' own goroutines.
//
// # What a caption depends on
//
// On its context, prompt, settings and seed, and on the shapes of the graphs, which the settings decide: not on its neighbours, as
// every call is filled up to the same number of groups. The random numbers of a caption are a function of its seed and of the number
// of the token (SplitMix64 by counter). Equal logits: the lower token comes first; of beams, the better one's. A token is drawn by
// walking the kept tokens in the order of their ids, with sums in float64, so that two tokens of nearly equal probability cannot
// change places.
//
// Letters of the shapes: G groups, N rows of a group, R = G·N rows, P tokens of a prompt, T places of the cache, H heads, d width of a
// head, V tokens of the vocabulary.
package decode
