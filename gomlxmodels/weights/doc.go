// Package weights reads the weights of a model folder and moves them into the variables of a GoMLX store by an explicit
// table: one [Rule] for each tensor of the checkpoint. It reads safetensors, what torch.save writes (.bin, .pt, .pth,
// .ckpt) and the parameters of Flax (.msgpack), one file or sharded, and writes safetensors.
//
// # Strictness
//
// A tensor the table names and the folder lacks, a tensor of the folder the table does not name, and a tensor of
// another shape are errors that name file and tensor. After a graph was compiled, [Check] says whether it would
// invent a variable or leave one unread. Nothing is guessed from parts of names.
//
// # Reading
//
// [Open] reads headers only and checks them against the size of the file; [Set.Float32] reads one tensor. The reader
// of go-huggingface maps files into memory and slices them unchecked, so that a truncated file ends the process;
// hence this one.
//
// A file of torch.save is a zip archive, or before torch 1.6 a format of its own, with a pickle that package pickle
// reads as data. Tensors may be views: transposed, sliced or expanded, and several may share a storage. A storage may
// be big-endian or compressed. Sparse, quantized and complex tensors, and those without data, keep their name and are
// an error where a rule needs them.
//
// A file of Flax is a map of maps; its arrays are named by the keys on the way, joined by slashes. [Rule] knows the
// order of their axes (Layout), and selects a layer where layers are stacked.
package weights
