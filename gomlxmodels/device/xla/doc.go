// Package xla links go-xla into a program, so that package device opens XLA: a program that computes imports it for
// that effect. Built without cgo, or with the tag noxla, it has none.
package xla
