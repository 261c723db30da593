package visage

import (
	_ "embed"
	"fmt"
	"strconv"

	"antipode/datasets"
	"antipode/datasets/internal/source"
)

//go:embed claims.csv
var claimsCSV []byte

// Item is the item of [PrintedValues] for a cell of the paper's Tables 1 to 5: "Table 5, Swiss, S(d, s)". The columns
// of Tables 1 and 2 are L(stereo), L(random) and theta, those of Tables 3 to 5 S(d, s), S(d, ns), S(s, ns), Mean Sim.
func Item(table int, identity, column string) string {
	return fmt.Sprintf("Table %d, %s, %s", table, DisplayName(identity), column)
}

var printedValues = source.Define(source.Definition[struct{}]{
	Name: "visage-printed-values", Title: "ViSAGe, values as printed", Listed: true,
	Columns: "paper:text item:text printed:text",
	Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
		const paper = "Jha et al. 2024, arXiv 2401.06310"
		add := func(item, printed string) { f.Add([]string{paper, item, printed}) }
		err := source.AddPrinted(f, paper, claimsCSV)
		for _, r := range PrintedTables() {
			add(Item(r.Table, r.Identity, "L(stereo)"), strconv.FormatFloat(r.Stereo, 'f', 2, 64))
			add(Item(r.Table, r.Identity, "L(random)"), strconv.FormatFloat(r.Random, 'f', 2, 64))
			add(Item(r.Table, r.Identity, "theta"), r.ThetaText)
		}
		for _, r := range PrintedSimilarity() {
			for i, column := range []string{"S(d, s)", "S(d, ns)", "S(s, ns)", "Mean Sim"} {
				add(Item(r.Table, r.Identity, column),
					strconv.FormatFloat([]float64{r.DS, r.DNS, r.SNS, r.MeanS}[i], 'f', 4, 64))
			}
		}
		return err
	},
})

// PrintedValues returns what the paper prints: paper, item and printed. The items are its claims, the 315 cells of
// Tables 1 and 2 and the 540 cells of Tables 3 to 5 (see [Item]); for a finding without a number, printed names the
// section. metrics.Ledger compares them with a run.
func PrintedValues() datasets.Table { return printedValues.Table() }
