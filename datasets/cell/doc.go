// Package cell connects a notebook cell to its notebook: it shows results, reports progress, handles interrupts,
// checks values ([Expect]) and ends a failed cell with one line ([Fail]). In other programs text is written to
// standard output, progress to the terminal, and a failure panics with the error.
//
// The outputs of [Print], [Say], [Show], [HTML], [SVG] and [PNG] appear in the order of the calls. Output of package
// fmt uses another channel and may appear before them.
package cell
