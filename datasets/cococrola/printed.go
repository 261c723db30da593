package cococrola

import (
	"context"
	_ "embed"
	"encoding/json"
	"math"

	"antipode/datasets"
	"antipode/datasets/manifest"
)

//go:embed printed.csv
var printed []byte

// Average names the row of the mean over models and the column of the mean over languages in Table 2.
const Average = "Avg"

// Models are the paper's, in the order of Table 2.
var Models = []string{"DALL-E Mega", "DALL-E Mini", "SD 1.1", "SD 1.2", "SD 1.4", "SD 2", "CogView 2", "DALL-E 2", "AltDiffusion m9"}

// PrintedCell is a cell of Table 2 of the paper: mean correctness ×100, rounded; NaN where the table is blank.
type PrintedCell struct {
	Model, Language string // [Average] for the means
	Xc, Wc          float64
}

// PrintedTable is Table 2 of the paper, row by row. Xc of CogView 2 is relative to Chinese, of all others to English.
func PrintedTable() ([]PrintedCell, error) {
	s, err := manifest.ReadSheet("printed.csv", printed, "model")
	if err != nil {
		return nil, err
	}
	var out []PrintedCell
	for row := range s.Rows {
		for _, language := range append(append([]string(nil), Languages...), Average) {
			c := PrintedCell{Model: s.Rows[row][0], Language: language}
			if c.Xc, err = s.Number(row, s.Column(language+"_xc")); err != nil {
				return nil, err
			}
			if c.Wc, err = s.Number(row, s.Column(language+"_wc")); err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

var printedColumns = datasets.Columns("model:text", "language:text", "cross_consistency:number", "text_match:number")

// Printed is the table of [PrintedTable] in the columns of the metric cococrola-means: model, language, cross_consistency (0 to 1) and text_match
// (×100).
func Printed() datasets.Table {
	return datasets.New("cococrola-printed", nil, printedColumns).Named("CoCo-CroLa Table 2, as printed")
}

func init() {
	datasets.RegisterSource("cococrola-printed", func(context.Context, json.RawMessage, datasets.SourceEnv) (*datasets.Frame, error) {
		cells, err := PrintedTable()
		if err != nil {
			return nil, err
		}
		f := empty(printedColumns)
		for _, c := range cells {
			if math.IsNaN(c.Xc) && math.IsNaN(c.Wc) {
				continue
			}
			texts(f, c.Model, c.Language)
			numbers(f, c.Xc/100, c.Wc)
		}
		return f, nil
	})
}
