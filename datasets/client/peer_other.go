//go:build !linux

package client

// serving returns the process that listens on a socket. Only Linux tells.
func serving(string) int { return 0 }
