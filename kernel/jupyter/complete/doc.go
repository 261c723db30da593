// Package complete completes and explains the names of a notebook's cells, for Jupyter's complete_request and
// inspect_request.
//
// A [Service] composes one Go file of the cells that were executed and the current one, as GoNB does, and checks it
// with go/types. What the cells import is read from source, exported declarations only. The first answer takes less
// than a second from nothing, later ones take milliseconds. No other process takes part.
//
// Unfinished code is the usual case. A cell is therefore divided into declarations, and those that cannot be parsed are
// left out; the one with the cursor ends there and its brackets are closed. Names are completed by prefix, or by prefix
// in any case where none matches as written. What a call or a field expects comes first.
//
// Limitations: lines that are not Go (%, !) and import paths are not completed. A change of a package's source is seen
// by the next service.
package complete
