// Package runner executes notebooks without a front end: the same kernel as in Jupyter, cell by cell, with the outputs
// saved after each.
//
// [Run] is the command `antipode run`. Its errors are [UsageError] (wrong parameters, found before any cell ran),
// [CellError] (the cell that failed, with its source) and [ErrInterrupted].
package runner
