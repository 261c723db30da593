// Package torture runs the built command while it is killed, its store is damaged and its disk is full, and compares
// the tables with those of undisturbed runs. It has tests only, with the build tag torture.
package torture
