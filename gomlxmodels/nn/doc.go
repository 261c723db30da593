// Package nn holds the blocks the model packages share: dense layers with PyTorch's weight layout, layer normalisation
// with a required epsilon, activations by their Hugging Face name, and attention on batched matrix products. All of
// them can be trained: no operation here lacks a gradient.
//
// Functions build graphs and panic on a mistake in shapes, as GoMLX does; the Go doors of the model packages catch that.
//
// Letters of the shapes: B batch, S tokens, Q query rows (Q ≤ S), D width, H heads, d = D/H, F hidden width of the MLP.
//
// # Variables
//
// A dense layer keeps "weights" [out,in] and "bias" [out] in its scope, a layer norm "gain" and "offset" [D]. Without
// loaded values they start as ViT's authors do: weights normal with standard deviation 0.02, gains 1, the rest 0.
package nn
