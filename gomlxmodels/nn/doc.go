// Package nn holds the blocks that the networks share: dense layers in PyTorch's weight layout, layer normalization,
// activations by their Hugging Face names, softmax attention, attention windows, sampling of maps and the transformer
// block. Every operation but [SampleMaps] has a gradient, so networks built from them can be trained.
//
// The functions build graphs and panic on wrong shapes, as GoMLX does. The exported functions of the networks' packages
// recover such panics and return errors.
//
// Letters of the shapes: B batch, S tokens, Q query rows (Q ≤ S), D width, H heads, d = D/H.
//
// # Variables
//
// A dense layer has the variables "weights" [out,in] and "bias" [out], a layer norm "gain" and "offset" [D]. Without
// loaded values they are initialized as in the ViT paper: weights from a normal distribution with standard deviation
// 0.02, gains 1, the rest 0.
package nn
