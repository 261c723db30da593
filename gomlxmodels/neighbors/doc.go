// Package neighbors finds nearest neighbors on a GoMLX backend (XLA on a processor or a GPU, or pure Go), with the
// result of the plain float64 comparison to the last bit.
//
// The sets are cut into blocks. For each pair of blocks the backend computes squared distances in float32 from one
// matrix product of centered vectors. Their error has a bound that follows from the norms; whatever the bound leaves
// open is computed again from the vectors themselves in float64, as package distance defines it. So near-ties come
// out exactly, whatever the block size, the device or the order of its sums.
//
// Memory: two blocks of vectors, one block of distances and the result. No matrix of the size of the sets is
// allocated.
package neighbors
