// Package runner executes notebooks without a front end: the same kernel as in Jupyter, cell by cell, with the outputs
// saved after each.
//
// [Run] is the command `antipode run`. Its errors carry what a command needs: [UsageError] (wrong parameters, found
// before any cell ran), [CellError] (the cell that failed, with its source) and [ErrInterrupted]; [ExitStatus] turns them
// into the exit status of the contract.
package runner
