// Package browse makes the page of a table of images on which a person sorts, filters, enlarges and compares them:
// [Gallery.Export] writes it as one HTML file that works without a server and loads nothing; kernel/view serves it,
// with tags and nearest images. plots.Browse shows it from a cell.
//
// The page holds every row, those without an image with their reason. Texts of the table are shown as text, whatever
// they contain: the script sets textContent alone, and the Content-Security-Policy permits the page's own script and
// style. What is filtered, sorted and shown is in the page's address.
package browse
