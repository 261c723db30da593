// Package backend implements the resident backend: a server that evaluates plans over a Unix socket for all notebooks
// and commands of one store. It is the only process that opens the device and writes the store, and ends when idle.
package backend
