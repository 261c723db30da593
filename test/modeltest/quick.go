//go:build !xla

package modeltest

const xlaTag = false
