package cococrola

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"antipode/datasets"
	"antipode/datasets/internal/source"
)

//go:embed claims.csv
var claims []byte

var printedItems = source.Define(source.Definition[struct{}]{
	Name: "cococrola-ledger", Title: "CoCo-CroLa, values and claims as printed", Listed: true,
	Columns: "paper:text item:text printed:text",
	Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
		cells, err := PrintedTable()
		if err != nil {
			return err
		}
		for _, c := range cells {
			for _, s := range []struct {
				name  string
				value float64
			}{{"Xc", c.Xc}, {"Wc", c.Wc}} {
				if !math.IsNaN(s.value) {
					f.Add([]string{Citation, Item(c.Model, c.Language, s.name), fmt.Sprint(s.value)})
				}
			}
		}
		return source.AddPrinted(f, Citation, claims)
	},
})

// PrintedItems returns everything that the paper prints, in the form that metrics.Ledger compares: paper, item and
// printed. The items are the 158 cells of Table 2 ([Item]), the size of the benchmark, and claims without a number, for
// which printed names the section.
func PrintedItems() datasets.Table { return printedItems.Table() }

// Item returns the name of a cell of Table 2 in [PrintedItems]: "Table 2, SD 1.4, ES, Xc".
func Item(model, language, score string) string {
	if language != Average {
		language = strings.ToUpper(language)
	}
	return fmt.Sprintf("Table 2, %s, %s, %s", model, language, score)
}
