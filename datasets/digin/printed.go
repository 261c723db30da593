package digin

import (
	_ "embed"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

//go:embed printed.csv
var printed []byte

var printedTable = source.Define(source.Definition[struct{}]{
	Name: "decomposed-dig-printed", Title: "Decomposed-DIG, values as printed", Listed: true,
	Columns: "paper:text item:text printed:text",
	Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
		s, err := manifest.ReadSheet("printed.csv", printed, "item", "printed")
		if err != nil {
			return err
		}
		for row := range s.Rows {
			f.Add([]string{"Sureddy et al. 2024, arXiv 2406.11988", s.Cell(row, "item"), s.Cell(row, "printed")})
		}
		return nil
	},
})

// Printed returns what the Decomposed-DIG paper prints: paper, item and printed. The items are the 32 cells of Table 1
// ("Table 1, New, backgrounds, worst coverage": 0.423), the numbers of its claims ("1.7x"), and findings without a
// number, for which printed names the section. metrics.Ledger compares them with a run.
func Printed() datasets.Table { return printedTable.Table() }
