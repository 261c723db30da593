//go:build !linux

package devices

import "syscall"

// replace makes the file descriptor to a copy of from.
func replace(from, to int) error { return syscall.Dup2(from, to) }
