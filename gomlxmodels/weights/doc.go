// Package weights reads and writes the weights of a model folder (safetensors, one file or sharded) and moves them into
// the variables of a GoMLX store by an explicit table: one [Rule] for each tensor of the checkpoint.
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
package weights
