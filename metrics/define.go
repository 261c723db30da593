package metrics

import (
	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/metrics/interval"
)

// Definition defines a metric by its options, the columns of its result and the function that computes it; see
// [Define].
type Definition[Options, Row any] = operation.Definition[Options, Row]

// Call is one computation of a metric: its input tables by role, and the receivers of notes and progress.
type Call = operation.Call

// Input is a table that a metric reads.
type Input = operation.Input

// Estimate is a score with its interval; as a field of a row it becomes the columns X, X_low and X_high.
type Estimate = operation.Estimate

// Group holds the values of the grouping columns; as a field of a row it becomes these columns.
type Group = operation.Group

// Sets are the two tables that a score of two sets of images compares.
type Sets struct {
	Real      datasets.Table // reference images
	Generated datasets.Table
}

// Inputs returns the tables by role.
func (s Sets) Inputs() map[string]datasets.Table {
	return map[string]datasets.Table{"real": s.Real, "generated": s.Generated}
}

// By returns its arguments, the names of grouping columns: By: metrics.By("region", "object").
func By(columns ...string) []string { return columns }

// Exact returns an estimate without an interval.
func Exact(value float64) Estimate { return operation.Exact(value) }

// Estimated returns the estimate with an interval of package interval.
func Estimated(iv interval.Interval) Estimate {
	return Estimate{Value: iv.Value, Low: iv.Low, High: iv.High}
}

// Counts are the numbers of images behind a score. Embedded in a row they become its last columns.
type Counts struct {
	Real      int `column:"n_real" unit:"images" help:"reference images"`
	Generated int `column:"n_generated" unit:"images" help:"generated images that were compared"`
	Asked     int `column:"n_asked" unit:"images" help:"images requested"`
	Refused   int `column:"n_refused" unit:"images" help:"requests that the generator refused"`
	Unmasked  int `column:"n_unmasked" unit:"images" help:"generated images without a mask"`
	Used      int `column:"n_used" unit:"images" help:"generated images with a vector"`
}

// Define defines a metric. The columns of its result, its flags and their help are derived from the tags of the two
// structs; see package operation. It panics on a mistake in the definition. The methods of the returned value create
// tables: [datasets.Defined.Of] from one input, [datasets.Defined.Table] from several.
func Define[Options, Row any](d Definition[Options, Row]) datasets.Defined[Options] {
	return datasets.Defined[Options]{Operation: operation.Define(d, true)}
}
