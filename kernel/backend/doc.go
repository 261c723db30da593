// Package backend is the resident backend: an engine that serves plans over a Unix socket, for every notebook and
// command that uses the same store. It alone opens the device and writes the store; it ends by itself when idle.
package backend
