// Package complete completes and explains the names of a notebook's cells, for Jupyter's complete_request and
// inspect_request.
//
// A [Service] composes one Go file of the executed cells and the current one, as GoNB does, and checks it with
// go/types. Imported packages are read from source, exported declarations only. The first answer takes less than a
// second, later ones take milliseconds. No other process is involved.
//
// Code is usually unfinished. A cell is therefore divided into declarations, and those that cannot be parsed are left
// out. The one with the cursor ends at the cursor, and its open brackets are closed. Names are completed by prefix, or
// case-insensitively if none matches. Matches of the type that a call or a field expects come first.
//
// In a string that names a column (an argument column, columns, by or on, or a field documented as a column), the
// columns of the tables in the same expression are completed, as far as the request contains them, and those that any
// table may have.
//
// Limitations: commands (lines that start with % or !) and import paths are not completed. Changes of a package's
// source are seen by the next service.
package complete
