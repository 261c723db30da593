package disparity

import (
	"antipode/metrics"
	"context"
	"fmt"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
)

var decomposedDIGTable = datasets.Define(datasets.Operation[struct{}, struct{}]{
	Name: "decomposed-dig-table", Version: 1, Title: "Table 1 of Decomposed-DIG in its layout",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), Table 1",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("vector:text", "score:text", "of:text",
		"percent:text",
		"original:number", "changed:number", "delta:number"), About: "changes between two templates"}},
	Frame: computeDecomposedDIGTable,
})

// PaperTable returns Table 1 of Decomposed-DIG in its layout, from the result of [TemplateDeltas]: the rows Orig., New,
// Delta and Delta (%), and a text column for each of its eight numbers, such as "Obj-only, Avg. Prec.".
func PaperTable(deltas datasets.Table) datasets.Table { return decomposedDIGTable.Of(deltas) }

func computeDecomposedDIGTable(_ context.Context, call *metrics.Call, _ struct{}) (*table.Frame, error) {
	in := tabular.Read(call, "in")
	vectors, scores, of, percent := in.Texts("vector"), in.Texts("score"), in.Texts("of"), in.Texts("percent")
	numbers := [][]float64{in.Numbers("original"), in.Numbers("changed"), in.Numbers("delta")}
	if in.Err != nil {
		return nil, in.Err
	}
	rows := []string{"Orig.", "New", "Delta", "Delta (%)"}
	out := &table.Frame{Columns: []table.Column{table.TextColumn("row", rows)}}
	for _, c := range [][2]string{{"object_only", "Obj-only"}, {"background_only", "BG-only"}} {
		for _, s := range [][2]string{{"precision", "Prec."}, {"coverage", "Covg."}} {
			for _, a := range [][2]string{{"average", "Avg."}, {"worst region", "Worst"}} {
				cells := make([]string, 4)
				for i := range vectors {
					if vectors[i] == c[0] && scores[i] == s[0] && of[i] == a[0] {
						for k, v := range numbers {
							cells[k] = fmt.Sprintf("%.3f", v[i])
						}
						cells[3] = percent[i]
					}
				}
				out.Columns = append(out.Columns, table.TextColumn(c[1]+", "+a[1]+" "+s[1], cells))
			}
		}
	}
	return out, nil
}
