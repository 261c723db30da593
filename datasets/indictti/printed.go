package indictti

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/manifest"
)

//go:embed printed.csv
var printed []byte

// The states of a printed cell.
const (
	Legible   = ""          // the printed value
	Lost      = "lost"      // cannot be read
	Cut       = "cut"       // only the first digits can be read
	Uncertain = "uncertain" // a digit or the row is in doubt
)

// Cell is a cell of a printed table.
type Cell struct {
	Table           int // 2–4: common set; 6–8: the same with m9; 9–11: complete sets
	Score           string
	Model, Language string
	Value           float64 // 100 times the score, two decimals; NaN unless State is [Legible]
	Printed         string  // the transcribed text
	State           string
}

// ScoreNames are the scores of the printed tables by [Cell.Score].
var ScoreNames = map[string]string{"clgc": "CLGC", "igc": "IGC", "lgc": "LGC"}

// Item names the cell: "Table 7, Dalle3, hin_Deva".
func (c Cell) Item() string { return fmt.Sprintf("Table %d, %s, %s", c.Table, c.Model, c.Language) }

// Tables are the numbers of the printed result tables.
var Tables = []int{2, 3, 4, 6, 7, 8, 9, 10, 11}

// Blocks splits languages into the blocks of the result tables: English and fifteen other languages each.
func Blocks(languages []Language) [][]string {
	var codes []string
	for _, l := range languages {
		if l.Code != English {
			codes = append(codes, l.Code)
		}
	}
	var out [][]string
	for part := range slices.Chunk(codes, 15) {
		out = append(out, append([]string{English}, part...))
	}
	return out
}

// PrintedCells returns the cells of Tables 2–4 and 6–11, row by row. Each model has one cell for English, which the
// paper prints in both blocks.
func PrintedCells() ([]Cell, error) {
	s, err := manifest.ReadSheet("printed.csv", printed, "table", "score", "model", English)
	if err != nil {
		return nil, err
	}
	var out []Cell
	for row, cells := range s.Rows {
		table, err := strconv.Atoi(cells[0])
		if err != nil {
			return nil, s.Errorf(row, 0, "%q is not a table number", cells[0])
		}
		for column := 3; column < len(cells); column++ {
			c := Cell{Table: table, Score: cells[1], Model: cells[2], Language: s.Header[column],
				Printed: cells[column], Value: math.NaN()}
			switch text := cells[column]; {
			case text == "":
				c.State = Lost
			case strings.Contains(text, "…"):
				c.State = Cut
			case strings.Contains(text, "?"):
				c.State = Uncertain
			default:
				if c.Value, err = s.Number(row, column); err != nil {
					return nil, err
				}
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// PrintedTable returns the cells of one table.
func PrintedTable(number int) ([]Cell, error) {
	if !slices.Contains(Tables, number) {
		return nil, fmt.Errorf("indictti: Table %d is not a result table; use one of %v", number, Tables)
	}
	cells, err := PrintedCells()
	return slices.DeleteFunc(cells, func(c Cell) bool { return c.Table != number }), err
}
