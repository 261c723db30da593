package concepts

import (
	"context"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/table"
	"antipode/metrics/internal/labels"
	"antipode/metrics/internal/tabular"
)

// correctness are the two scores of Table 2 and their columns.
var correctness = []struct{ name, column string }{{"Xc", "cross_consistency"}, {"Wc", "text_match"}}

// rounded returns a mean as printed in Table 2: ×100 (Wc already is), an integer.
func rounded(score string, v float64) float64 { return math.Round(percent(score, v)) }

func percent(score string, v float64) float64 {
	if score == "Xc" {
		return 100 * v
	}
	return v
}

// label returns a column label of Table 2.
func label(language, score string) string {
	if language != cococrola.Average {
		language = strings.ToUpper(language)
	}
	return language + " " + score
}

// TableOptions are the options of [PaperTable].
type TableOptions struct {
	Languages []string `json:"languages,omitempty" default:"en,es,de,zh,ja,he,id,Avg" help:"languages of the table, in order"`
}

var paperTable = datasets.Define(datasets.Operation[TableOptions, struct{}]{
	Name:    "cococrola-table",
	Title:   "Table 2 in its own layout: mean Xc and Wc ×100, rounded",
	Version: 1, Citation: citation + ", Table 2", Inputs: inMeans,
	Columns: func(o TableOptions) []table.ColumnSpec {
		specs := datasets.Columns("model:text")
		for _, l := range o.Languages {
			for _, s := range correctness {
				specs = append(specs, table.ColumnSpec{Name: label(l, s.name), Kind: table.KindNumber})
			}
		}
		return specs
	},
	Frame: func(_ context.Context, call *datasets.Call, o TableOptions) (*table.Frame, error) {
		in := call.Inputs["in"]
		means, err := readMeans(in)
		if err != nil {
			return nil, err
		}
		models := unique(slices.Clone(in.Texts("model")), compareModels)
		out := &table.Frame{Columns: []table.Column{table.TextColumn("model", models)}}
		for _, l := range o.Languages {
			for _, s := range correctness {
				c := table.NumberColumn(label(l, s.name), make([]float64, len(models)))
				for i, m := range models {
					v, known := means[s.name][[2]string{m, l}]
					if !known {
						v = math.NaN()
					}
					c.Numbers[i] = rounded(s.name, v)
				}
				out.Columns = append(out.Columns, c)
			}
		}
		return out, nil
	},
})

// PaperTable is the table operation cococrola-table: Table 2 in its own layout, from the table of [LanguageMeans] or
// [cococrola.Printed]: one row per model, then the averages, and 100 × Xc and Wc for each language, rounded to
// integers.
func PaperTable(means datasets.Table, options ...TableOptions) datasets.Table {
	return paperTable.Of(means, options...)
}

// CellOptions are the options of [PaperCells].
type CellOptions struct {
	Labels []string `json:"labels,omitempty" help:"labels of models in the paper's table, each as MODEL=LABEL; others by the paper's list of names"`
}

// cellRow is a row of [PaperCells].
type cellRow struct {
	Model      string  `column:"model" help:"label in the paper"`
	Language   string  `column:"language"`
	Score      string  `column:"score"`
	Printed    float64 `column:"printed" unit:"×100"`
	Value      float64 `column:"value" unit:"×100"`
	Difference float64 `column:"difference" unit:"×100"`
	Equal      float64 `column:"equal" help:"1 if the value rounds to the printed one; no value without a mean"`
	Computed   string  `column:"computed" help:"the model whose mean it is; blank without a mean"`
}

var paperCells = datasets.Define(datasets.Operation[CellOptions, cellRow]{
	Name:    "cococrola-cells",
	Title:   "means compared with the printed Table 2, cell by cell",
	Version: 2, Unit: "cosine ×100", Range: "[-100, 100]", Citation: citation + ", Table 2", Inputs: inMeans,
	Compute: func(_ context.Context, call *datasets.Call, o CellOptions) ([]cellRow, error) {
		c, err := readCells(call.Inputs["in"], o.Labels)
		if err != nil {
			return nil, err
		}
		call.Notef("%s", paperModels.Note("Table 2", c.computed, len(c.rows), c.models))
		return c.rows, nil
	},
})

var paperModels = labels.Models{Printed: cococrola.Models, Names: cococrola.ModelNames}

// cells are means compared with the printed Table 2.
type cells struct {
	rows     []cellRow
	computed int               // of the rows
	models   []string          // of the means
	of       map[string]string // the model of each label
}

// readCells compares a table of means with the printed Table 2; given has labels of models, see [CellOptions].
func readCells(f *table.Frame, given []string) (c cells, err error) {
	means, err := readMeans(f)
	if err != nil {
		return c, err
	}
	printed, err := cococrola.PrintedTable()
	if err != nil {
		return c, err
	}
	c.models = slices.DeleteFunc(slices.Clone(f.Texts("model")), func(m string) bool { return m == cococrola.Average })
	if c.of, err = paperModels.Of(c.models, given); err != nil {
		return c, err
	}
	mean := func(score, model, language string) float64 {
		if v, has := means[score][[2]string{model, language}]; has && model != "" {
			return v
		}
		return math.NaN()
	}
	for _, p := range printed {
		for _, s := range correctness {
			printed := map[string]float64{"Xc": p.Xc, "Wc": p.Wc}[s.name]
			if math.IsNaN(printed) {
				continue
			}
			none := math.NaN()
			row := cellRow{Model: p.Model, Language: p.Language, Score: s.name, Printed: printed, Value: none,
				Difference: none, Equal: none}
			model, complete := c.of[p.Model], true
			if p.Model == cococrola.Average { // of the paper's models, or it is another quantity
				model, complete = p.Model, len(unique(slices.Clone(c.models), compareModels)) == len(cococrola.Models)
				for _, m := range cococrola.Models {
					complete = complete && !math.IsNaN(mean(s.name, c.of[m], p.Language))
				}
			}
			if p.Language == cococrola.Average {
				for _, l := range cococrola.Languages {
					complete = complete && !math.IsNaN(mean(s.name, model, l))
				}
			}
			if v := percent(s.name, mean(s.name, model, p.Language)); complete && !math.IsNaN(v) {
				c.computed++
				row.Value, row.Difference, row.Equal, row.Computed = v, v-printed, 0, model
				if math.Abs(v-printed) <= 0.5*(1+1e-9) {
					row.Equal = 1
				}
			}
			c.rows = append(c.rows, row)
		}
	}
	return c, nil
}

// PaperCells is the table operation cococrola-cells: means compared with the printed Table 2, one row per printed cell,
// without a value where the means have none. Models are found by [CellOptions].Labels and [cococrola.ModelNames]. An
// average is compared only if no cell that it averages is missing. A note counts the cells that were computed.
func PaperCells(means datasets.Table, options ...CellOptions) datasets.Table {
	return paperCells.Of(means, options...)
}

// RankingOptions are the options of [Ranking].
type RankingOptions struct {
	Score string `json:"score,omitempty" default:"cross_consistency" values:"cross_consistency,text_match,self_consistency,inverse_distinctiveness" help:"score to order by"`
	Order string `json:"order,omitempty" default:"descending" values:"descending,ascending" help:"largest or smallest score first"`
	Top   int    `json:"top,omitempty" min:"0" help:"entries per list; 0 = all"`
}

// rankingRow is a row of [Ranking].
type rankingRow struct {
	Model    string  `column:"model"`
	Language string  `column:"language"`
	Rank     int     `column:"rank"`
	Concept  string  `column:"concept"`
	Score    string  `column:"score"`
	Value    float64 `column:"value"`
	Low      float64 `column:"value_low"`
	High     float64 `column:"value_high"`
	Ranked   int     `column:"n_ranked" unit:"concepts"`
	Used     float64 `column:"n_used" unit:"images"`
	Order    string  `column:"order"`
}

var ranking = datasets.Define(datasets.Operation[RankingOptions, rankingRow]{
	Name:    "cococrola-ranking",
	Title:   "concepts in the order of a score, for each model and language",
	Version: 1, Unit: cosines, Range: ranges, Citation: citation + ", section 5.5", Inputs: inScores,
	Compute: func(_ context.Context, call *datasets.Call, o RankingOptions) ([]rankingRow, error) {
		f := call.Inputs["in"]
		rows, err := readScored(f)
		if err != nil {
			return nil, err
		}
		used := "n_used"
		if o.Score == "text_match" {
			used = "n_text"
		}
		var out []rankingRow
		for _, r := range ComputeRanking(rows, scoreOf(o.Score), o.Order == "ascending", o.Top) {
			s := rows[r.Row]
			out = append(out, rankingRow{s.Model, s.Language, r.Rank, s.Concept, o.Score, scoreOf(o.Score)(s),
				tabular.Number(f, o.Score+"_low", r.Row), tabular.Number(f, o.Score+"_high", r.Row), r.Of,
				tabular.Number(f, used, r.Row), o.Order})
		}
		return out, nil
	},
})

// Ranking is the table operation cococrola-ranking (section 5.5): concepts in the order of a score, for each model and
// language. Equal scores share a rank; concepts without a score are left out.
func Ranking(scores datasets.Table, options ...RankingOptions) datasets.Table {
	return ranking.Of(scores, options...)
}
