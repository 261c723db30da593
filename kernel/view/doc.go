// Package view is the gallery of a table of images: a page on which a person sorts, filters, enlarges, compares and
// tags them (package plots/browse). [New] reads a table, or two that are compared; [Gallery.Serve] serves the page on
// this machine.
//
// Columns are sent once; thumbnails and images are loaded when they are visible. Vectors are not sent: a column of
// vectors becomes two number columns, its first principal components, and the server answers which rows are nearest.
//
// # Security
//
// The server listens on 127.0.0.1 only. The address contains a random token, which becomes a cookie; requests without
// it, for another host or from another origin are refused. Images are addressed by row and column, never by path. The
// Content-Security-Policy permits the page's own script and style alone. Texts of the table are shown as text.
//
// The page is served by the process of its command, which ends with it, and not by the resident backend: what listens
// on TCP and decodes whatever images a table names holds neither the device, the lock on the store nor the keys that
// requests bring, and neither a crash nor a backend that ends when idle takes the page or the jobs of others with it.
//
// # Tags
//
// Tags are a CSV file with the columns id, image_id, tag, rater and time, one for each rater, which is written whenever
// a tag changes. disparity.TagShares reads it.
package view
