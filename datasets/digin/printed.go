package digin

import (
	_ "embed"

	"antipode/datasets"
	"antipode/datasets/internal/source"
)

//go:embed printed.csv
var printed []byte

var printedTable = source.Define(source.Definition[struct{}]{
	Name: "decomposed-dig-printed", Title: "Decomposed-DIG, values as printed", Listed: true,
	Columns: "paper:text item:text printed:text",
	Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
		return source.AddPrinted(f, "Sureddy et al. 2024, arXiv 2406.11988", printed)
	},
})

// Printed returns what the Decomposed-DIG paper prints: paper, item and printed. The items are the 32 cells of Table 1
// ("Table 1, New, backgrounds, worst coverage": 0.423), the numbers of its claims ("1.7x"), and findings without a
// number, for which printed names the section. metrics.Ledger compares them with a run.
func Printed() datasets.Table { return printedTable.Table() }
