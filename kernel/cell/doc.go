// Package cell is what a notebook cell does to its notebook: it shows things, reports progress, hears the interrupt and
// ends with one line when something fails. The same code works in a plain program: text goes to standard output, progress
// to a terminal, and a failure panics with the error.
//
// Everything shown by [Print], [Say], [Show], [HTML], [SVG] and [PNG] appears in the order of the calls. What a cell prints
// with package fmt travels another way and may appear before them.
package cell
