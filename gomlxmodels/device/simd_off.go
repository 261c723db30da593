//go:build !(goexperiment.simd && amd64)

package device

// SIMD reports whether the pure Go backend uses vector instructions: the program was built without
// GOEXPERIMENT=simd, so it does not.
const SIMD = false
