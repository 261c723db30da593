// Package client is what both sides of Antipode share: the table in memory (Frame), the plan of a table (Plan), the
// protocol between a cell and the resident backend, and the client that starts that backend and sends plans to it.
//
// It uses the standard library only, so that a notebook cell that imports it builds in a fraction of a second.
package client
