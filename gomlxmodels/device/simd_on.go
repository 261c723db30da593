//go:build goexperiment.simd && amd64

package device

// SIMD reports whether the pure Go backend uses vector instructions: the program was built with GOEXPERIMENT=simd on
// amd64.
const SIMD = true
