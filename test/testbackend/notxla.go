//go:build !xla

package testbackend

const allXLA = false
