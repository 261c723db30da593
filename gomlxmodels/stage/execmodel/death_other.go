//go:build !linux

package execmodel

import "syscall"

// endWithParent does nothing: there is no death signal, and a program ends when its standard input does.
func endWithParent(*syscall.SysProcAttr) {}
