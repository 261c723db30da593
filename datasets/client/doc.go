// Package client connects a program to the resident backend: it starts the backend where needed, sends it a plan
// ([Request]) and receives progress reports and rows ([Result]). A plain Go program can evaluate plans itself instead,
// by registering an [Executor].
//
// It imports the standard library and package datasets/table only, so that a notebook cell that links it builds in a
// fraction of a second.
package client
