package consistency

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
	"antipode/metrics/internal/labels"
	"antipode/metrics/internal/tabular"
)

// CellOptions are the options of [PaperCells].
type CellOptions struct {
	Table int     `json:"table,omitempty" required:"true" values:"2,3,4,6,7,8,9,10,11" help:"number of the printed table"`
	Score string  `json:"score,omitempty" default:"igc" help:"column of the score"`
	Scale float64 `json:"scale,omitempty" default:"100" help:"factor of the scores: 100 for cosines, 1 for printed values"`

	Labels []string `json:"labels,omitempty" help:"labels of models in the paper's table, each as MODEL=LABEL; others by the paper's list of names"`
}

// cellRow is a row of [PaperCells].
type cellRow struct {
	Model      string  `column:"model" help:"label in the paper"`
	Language   string  `column:"language"`
	Printed    float64 `column:"printed"`
	Value      float64 `column:"value" help:"the score times scale"`
	Difference float64 `column:"difference"`
	Equal      float64 `column:"equal" help:"1 if both agree in two decimals; no value without a score"`
	Computed   string  `column:"computed" help:"the model whose score it is; blank without a score"`
}

var printedCells = datasets.Define(datasets.Operation[CellOptions, cellRow]{
	Name: "indictti-cells", Title: "scores compared with a printed table, cell by cell", Version: 2,
	Unit: "cosine × 100", Range: "[-100, 100]", Citation: tableCitation, Inputs: inModels, Compute: computeCells,
})

// PaperCells is the table operation indictti-cells: scores compared with a printed table (2–4, 6–11), one row per
// cell, without a value where the scores have none. Models are found by [CellOptions].Labels and [indictti.ModelNames].
// Cells that are lost, cut or uncertain in print are left out. A note counts the cells that were computed.
func PaperCells(scores datasets.Table, options ...CellOptions) datasets.Table {
	return printedCells.Of(scores, options...)
}

const tableCitation = citation + ", Tables 2–4 and 6–11"

var inModels = []datasets.Input{{Role: "in", Columns: datasets.Columns("model:text", "language:text"),
	About: "scores by model and language"}}

// byCell returns a score by model and language, and the models in the paper's order.
func byCell(call *datasets.Call, score string, scale float64) (map[[2]string]float64, []string, error) {
	in := tabular.Read(call, "in")
	scores, models, languages := in.Numbers(score), slices.Clone(in.Texts("model")), in.Texts("language")
	if in.Err != nil {
		return nil, nil, in.Err
	}
	values := map[[2]string]float64{}
	for i, v := range scores {
		key := [2]string{models[i], languages[i]}
		if _, twice := values[key]; twice {
			return nil, nil, table.BadRow{Row: in.Frame.RowNumber(i), ID: key[0], Column: "language",
				Reason: fmt.Sprintf("the model has two scores for %s", key[1])}
		}
		values[key] = scale * v
	}
	slices.SortFunc(models, func(a, b string) int {
		place := func(m string) int {
			if i := slices.Index(indictti.Models, m); i >= 0 {
				return i
			}
			return len(indictti.Models)
		}
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
	})
	return values, slices.Compact(models), nil
}

// decimals rounds to two decimals, as printed.
func decimals(v float64) float64 { return math.Round(100*v) / 100 }

func computeCells(_ context.Context, call *datasets.Call, o CellOptions) ([]cellRow, error) {
	cells, err := indictti.PrintedTable(o.Table)
	if err != nil {
		return nil, err
	}
	values, models, err := byCell(call, o.Score, o.Scale)
	if err != nil {
		return nil, err
	}
	known := labels.Models{Printed: indictti.Models, Names: indictti.ModelNames}
	of, err := known.Of(models, o.Labels)
	if err != nil {
		return nil, err
	}
	var rows []cellRow
	illegible, computed := 0, 0
	for _, c := range cells {
		if c.State != indictti.Legible {
			illegible++
			continue
		}
		none := math.NaN()
		row := cellRow{Model: c.Model, Language: c.Language, Printed: c.Value, Value: none, Difference: none,
			Equal: none}
		if v, has := values[[2]string{of[c.Model], c.Language}]; has && of[c.Model] != "" && !math.IsNaN(v) {
			computed++
			row.Value, row.Difference, row.Equal, row.Computed = v, v-c.Value, 0, of[c.Model]
			if decimals(v) == c.Value {
				row.Equal = 1
			}
		}
		rows = append(rows, row)
	}
	call.Notef("%s; %d more cannot be read in print", known.Note(fmt.Sprintf("Table %d", o.Table), computed, len(rows),
		models), illegible)
	return rows, nil
}
