// Package metrics holds the scores of the audits as operations on tables, and the registry that names them.
//
// A score is written twice: as a pure function on slices in a package of its own (metrics/prdc, metrics/visage, …),
// which a Go program can call with nothing else, and here (or there) as a [Metric]: it reads columns, groups rows, adds
// intervals and counts, and gives a table. Metrics take numbers, never models.
package metrics
