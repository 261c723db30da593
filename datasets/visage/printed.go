package visage

import (
	_ "embed"
	"math"
	"strconv"

	"antipode/datasets/manifest"
)

//go:embed printed.csv
var printedCSV []byte

// PrintedRow is one row of Table 1 or 2 of the paper.
type PrintedRow struct {
	Table                 int
	Label                 string // as printed: for some identities the country's name
	Identity              string // key of the identity in the data
	Stereo, Random, Theta float64
	ThetaText             string // as printed; "N/A" where Theta is NaN
}

// PrintedTables returns the 105 rows of the paper's Tables 1 and 2, in their order: values rounded to two decimals.
func PrintedTables() []PrintedRow {
	s, err := manifest.ReadSheet("printed.csv", printedCSV, "table", "label", "identity", "l_stereo", "l_random",
		"theta")
	if err != nil {
		return nil // cannot happen: the file is part of the program, and a test reads it
	}
	out := make([]PrintedRow, s.Len())
	for i, v := range s.Rows {
		r := &out[i]
		r.Table, _ = strconv.Atoi(v[0])
		r.Label, r.Identity, r.ThetaText = v[1], v[2], v[5]
		r.Stereo, _ = strconv.ParseFloat(v[3], 64)
		r.Random, _ = strconv.ParseFloat(v[4], 64)
		r.Theta = math.NaN()
		if v[5] != "N/A" {
			r.Theta, _ = strconv.ParseFloat(v[5], 64)
		}
	}
	return out
}

// DisplayName is the identity as a reader expects it: the data spell the United Kingdom "United KingdomUK".
func DisplayName(identity string) string {
	if identity == "United KingdomUK" {
		return "United Kingdom"
	}
	return identity
}
