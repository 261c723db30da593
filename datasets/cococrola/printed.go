package cococrola

import (
	_ "embed"
	"math"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

//go:embed printed.csv
var printed []byte

// Average is the name of the mean over models and of the mean over languages in Table 2.
const Average = "Avg"

// Models are the models of the paper, in the order of Table 2.
var Models = []string{"DALL-E Mega", "DALL-E Mini", "SD 1.1", "SD 1.2", "SD 1.4", "SD 2", "CogView 2", "DALL-E 2",
	"AltDiffusion m9"}

// ModelNames are the labels of [Models] by the names that checkpoints and programs have, in lower case, without an
// owner.
var ModelNames = map[string]string{"dalle-mega": "DALL-E Mega", "dalle-mini": "DALL-E Mini",
	"stable-diffusion-v1-1": "SD 1.1", "stable-diffusion-v1-2": "SD 1.2", "stable-diffusion-v1-4": "SD 1.4",
	"stable-diffusion-2": "SD 2", "cogview2": "CogView 2", "dall-e-2": "DALL-E 2",
	"altdiffusion-m9": "AltDiffusion m9"}

// PrintedCell is a cell of Table 2 of the paper: mean correctness ×100, rounded; NaN where the table is blank.
type PrintedCell struct {
	Model, Language string // [Average] for means
	Xc, Wc          float64
}

// PrintedTable returns Table 2 of the paper, row by row. The source language of Xc is Chinese for CogView 2 and English
// for the other models.
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

var printedTable = source.Define(source.Definition[struct{}]{
	Name: "cococrola-printed", Title: "CoCo-CroLa Table 2, as printed", Listed: true,
	Columns: "model:text language:text cross_consistency:number text_match:number",
	Read: func(_ struct{}, _ *datasets.Call, f *datasets.Frame) error {
		cells, err := PrintedTable()
		for _, c := range cells {
			if !math.IsNaN(c.Xc) || !math.IsNaN(c.Wc) {
				f.Add([]string{c.Model, c.Language}, c.Xc/100, c.Wc)
			}
		}
		return err
	}})

// Printed is the table of [PrintedTable] with columns of the metric cococrola-means: model, language, cross_consistency
// (0 to 1) and text_match (×100).
func Printed() datasets.Table { return printedTable.Table() }
