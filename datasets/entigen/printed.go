package entigen

import (
	_ "embed"
	"fmt"
	"strconv"

	"antipode/datasets/manifest"
)

//go:embed printed.csv
var printedCSV []byte

//go:embed claims.csv
var claimsCSV []byte

// paper names the paper in ledgers.
const paper = "Bansal et al., EMNLP 2022, arXiv 2210.15230"

// PrintedCell is one value of the paper's Tables 1, 2, 3 or 6.
type PrintedCell struct {
	Table    int    // 1 professions, 6 objects, 2 weddings: diversity scores; 3: good images per attribute
	Category string // profession, object, culture
	Prompt   string // original, P-G1, …
	Axis     string // a perceived axis; "" in Table 3
	Judge    string // "human" or "clip"
	Model    string
	Text     string // as printed
	Value    float64
}

// Item names the value in a ledger: "Table 1, P-G1, perceived gender by clip, minDALL-E".
func (c PrintedCell) Item() string {
	of := c.Axis + " by " + c.Judge
	if c.Table == 3 {
		of = "images of " + c.Category
	}
	return fmt.Sprintf("Table %d, %s, %s, %s", c.Table, c.Prompt, of, c.Model)
}

// PrintedTables returns the values of Tables 1, 2, 3 and 6, row by row.
func PrintedTables() []PrintedCell {
	s, err := manifest.ReadSheet("printed.csv", printedCSV, "table", "category", "prompt_id", "axis", "judge", "model",
		"printed")
	if err != nil {
		return nil // cannot happen: the file is part of the program, and a test reads it
	}
	out := make([]PrintedCell, s.Len())
	for i, v := range s.Rows {
		c := &out[i]
		c.Table, _ = strconv.Atoi(v[0])
		c.Category, c.Prompt, c.Axis, c.Judge, c.Model, c.Text = v[1], v[2], v[3], v[4], v[5], v[6]
		c.Value, _ = strconv.ParseFloat(v[6], 64)
	}
	return out
}
