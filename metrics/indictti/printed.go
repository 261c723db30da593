package indictti

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/indictti"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ResultTable is the metric indictti-table: scores in the layout of the paper's Tables 2–4 and 6–11: a row for each model (the paper's order), a column for each language of a block (1: English and
// the first fifteen, 2: English and the other fifteen), 100 times the score, two decimals; no value where there is none. scores has model, language and the score's column, as [CLGC], [IGC],
// [LGC], [SCWL] or [DWL] by model give them. [ListedIn] names other languages, [Scale] another factor.
func ResultTable(scores datasets.Table, score string, block int, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-table", scores, append([]metrics.Setting{tabular.Set("score", score), tabular.Set("block", strconv.Itoa(block))}, settings...))
}

// PrintedCells is the metric indictti-cells: scores beside a printed table (2–4, 6–11), cell by cell: model, language, printed, value (100 times the score), difference, equal (1 where both are
// the same in two decimals). Cells that are lost, cut or uncertain in print, and cells without a score, are left out; a note counts them.
func PrintedCells(scores datasets.Table, score string, table int, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-cells", scores, append([]metrics.Setting{tabular.Set("score", score), tabular.Set("table", strconv.Itoa(table))}, settings...))
}

// ListedIn are the languages of the tables, in their order; the default is the paper's.
func ListedIn(codes ...string) metrics.Setting {
	return tabular.Set("languages", strings.Join(codes, ","))
}

// Scale multiplies scores before they are printed or compared: 100 (the default) for cosines, 1 for values that are printed already.
func Scale(x float64) metrics.Setting {
	return tabular.Set("scale", strconv.FormatFloat(x, 'g', -1, 64))
}

var (
	inModels    = []metrics.Input{{Role: "in", Columns: datasets.Columns("model:text", "language:text"), About: "scores by model and language"}}
	scaleOption = metrics.Option{Name: "scale", Default: "100", About: "what scores are multiplied by"}
	scoreColumn = metrics.Option{Name: "score", Default: "igc", About: "the column of the score"}
	codesOption = metrics.Option{Name: "languages", Default: strings.Join(codes(data.Languages()), ","), About: "the languages in the order of the tables, A,B,…"}
)

func codes(list []data.Language) (out []string) {
	for _, l := range list {
		out = append(out, l.Code)
	}
	return out
}

func init() {
	tables := []string{}
	for _, n := range data.Tables {
		tables = append(tables, strconv.Itoa(n))
	}
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "indictti-table", Title: "scores in the layout of the paper's result tables", Unit: "cosine × 100", Range: "[-100, 100]", Direction: "higher is more faithful", Citation: citation + ", Tables 2–4 and 6–11"},
		Version: 1, Inputs: inModels, Options: []metrics.Option{scoreColumn, {Name: "block", Default: "1", About: "which block of languages, from 1"}, codesOption, scaleOption}, Columns: resultColumns, Compute: resultTable,
	})
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "indictti-cells", Title: "scores beside a printed table, cell by cell", Unit: "cosine × 100", Range: "[-100, 100]", Direction: "none", Citation: citation + ", Tables 2–4 and 6–11"},
		Version: 1, Inputs: inModels, Options: []metrics.Option{scoreColumn, {Name: "table", Values: tables, About: "the printed table"}, scaleOption},
		Columns: tabular.Fixed("=model", "=language", "printed", "value", "difference", "equal"), Compute: printedCells,
	})
}

// blockOf are the languages of a block of the tables.
func blockOf(list, block string) ([]string, error) {
	var languages []data.Language
	for _, c := range datasets.SplitColumns(list) {
		languages = append(languages, data.Language{Code: c})
	}
	blocks := data.Blocks(languages)
	n, err := strconv.Atoi(block)
	if err != nil || n < 1 || n > len(blocks) {
		return nil, fmt.Errorf("option block=%q: the languages make %d blocks, counted from 1", block, len(blocks))
	}
	return blocks[n-1], nil
}

func resultColumns(a metrics.Args) []client.ColumnSpec {
	list, block := codesOption.Default, "1"
	if l, given := a.Options["languages"]; given {
		list = l
	}
	if b, given := a.Options["block"]; given {
		block = b
	}
	columns, _ := blockOf(list, block) // a wrong block is told when it is computed
	return append(tabular.Specs("=model"), tabular.Specs(columns...)...)
}

// byCell are a score's values by model and language.
func byCell(call metrics.Call) (map[[2]string]float64, []string, error) {
	f := call.Inputs["in"]
	c, err := f.Need(call.Options["score"], client.Number)
	if err != nil {
		return nil, nil, fmt.Errorf("table %q: %w", "in", err)
	}
	scale, err := tabular.Number(call, "scale")
	if err != nil {
		return nil, nil, err
	}
	values, models := map[[2]string]float64{}, slices.Clone(f.Texts("model"))
	for i, v := range c.Numbers {
		key := [2]string{models[i], f.Texts("language")[i]}
		if _, twice := values[key]; twice {
			return nil, nil, client.BadRow{Row: i + 1, ID: key[0], Column: "language", Reason: fmt.Sprintf("%s has a score of this model already", key[1])}
		}
		values[key] = scale * v
	}
	slices.SortFunc(models, func(a, b string) int {
		place := func(m string) int {
			if i := slices.Index(data.Models, m); i >= 0 {
				return i
			}
			return len(data.Models)
		}
		if d := place(a) - place(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return values, slices.Compact(models), nil
}

// decimals rounds to two, as the paper prints.
func decimals(v float64) float64 { return math.Round(100*v) / 100 }

func resultTable(_ context.Context, call metrics.Call) (*client.Frame, error) {
	block, err := blockOf(call.Options["languages"], call.Options["block"])
	if err != nil {
		return nil, err
	}
	values, models, err := byCell(call)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, m := range models {
		row := []any{m}
		for _, l := range block {
			v, known := values[[2]string{m, l}]
			if !known {
				v = math.NaN()
			}
			row = append(row, decimals(v))
		}
		rows = append(rows, row)
	}
	return tabular.Result("indictti-table", call, rows)
}

func printedCells(_ context.Context, call metrics.Call) (*client.Frame, error) {
	number, _ := strconv.Atoi(call.Options["table"]) // one of the option's closed list
	cells, err := data.PrintedTable(number)
	if err != nil {
		return nil, err
	}
	values, _, err := byCell(call)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	illegible, without := 0, 0
	for _, c := range cells {
		v, known := values[[2]string{c.Model, c.Language}]
		switch {
		case c.State != data.Legible:
			illegible++
		case !known || math.IsNaN(v):
			without++
		default:
			equal := 0
			if decimals(v) == c.Value {
				equal = 1
			}
			rows = append(rows, []any{c.Model, c.Language, c.Value, v, v - c.Value, equal})
		}
	}
	if call.Note != nil {
		call.Note("Table %d: %d cells compared; %d cannot be read in print, %d have no score here", number, len(rows), illegible, without)
	}
	return tabular.Result("indictti-cells", call, rows)
}
