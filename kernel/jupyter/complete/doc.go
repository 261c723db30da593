// Package complete completes and explains the names of a notebook's cells, for Jupyter's complete_request and
// inspect_request.
//
// A [Service] composes one Go file of the cells that were executed and the current one, as GoNB does, and checks it with
// go/types. What the cells import is read from source, exported declarations only: from nothing to the first answer
// takes about half a second, later answers take milliseconds, and no other process takes part.
//
// Unfinished code is the usual case. A cell is therefore divided into declarations, of which those that cannot be parsed
// are left out; the one with the cursor ends there and its brackets are closed. Names complete by prefix, and by any
// case where none has the prefix as it is written. What a call or a field expects comes first.
//
// Limitations: lines that are not Go (%, !) and import paths are not completed, and a change of a package's source is
// seen by the next service.
package complete
