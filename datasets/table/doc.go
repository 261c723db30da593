// Package table defines the data that moves through Antipode and its encoding: the table in memory ([Frame], [Column]),
// the plan of a lazy table ([Plan]), the reports and errors of a run ([Progress], [BadRow], [Error]) and the binary
// format in which frames cross the backend's socket ([Frame.Encode], [Decode]).
//
// Package datasets builds plans, package datasets/client sends them to the backend, package kernel/backend/engine
// evaluates them. This package imports the standard library only, so that a notebook cell that links it builds in a
// fraction of a second.
package table
