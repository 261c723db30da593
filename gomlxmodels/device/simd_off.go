//go:build !(goexperiment.simd && amd64)

package device

// SIMD says whether the pure Go backend uses vector instructions: the program was built without GOEXPERIMENT=simd, so it does not.
const SIMD = false
