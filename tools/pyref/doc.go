// Package pyref holds the scripts (Python) that make golden files from the reference libraries and measure them
// next to this program. Each names its versions, seed and command in its header. Nothing of them is needed to build or
// test.
package pyref
