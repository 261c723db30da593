package entigen

import (
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const citation = "Bansal et al., EMNLP 2022, "

// Note is what every table about people says in its last column: a label is no fact about anyone.
const Note = "labels are perceived expression in generated pictures, in two groups an axis; they say nothing of identity"

// noted are columns with the note's after them; see [tabular.Specs].
func noted(names ...string) []client.ColumnSpec {
	return append(tabular.Specs(names...), client.ColumnSpec{Name: "note", Kind: client.Text})
}

// fixed is a metric's Columns where they do not depend on its arguments, the note's after them.
func fixed(names ...string) func(metrics.Args) []client.ColumnSpec {
	return func(metrics.Args) []client.ColumnSpec { return noted(names...) }
}

// result puts a metric's rows, each with the note, into its columns.
func result(metric string, call metrics.Call, rows [][]any) (*client.Frame, error) {
	for i := range rows {
		rows[i] = append(rows[i], Note)
	}
	return tabular.Result(metric, call, rows)
}
