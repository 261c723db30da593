package representation

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/labels"
)

// compared is a printed value with the one from the ratings, or from labels by CLIP.
type compared struct {
	data.PrintedCell
	value    float64
	usable   int
	computed string // the model whose ratings there are, "" = none
	equal    bool
	most     int // images that could have been usable
}

// paperScores holds the cells of ratings and of labels by CLIP, with the models that the paper's labels stand for.
type paperScores struct {
	by     map[string]map[key]*cell     // by judge: human, clip
	of     map[string]map[string]string // by judge and label: the model
	models []string
	known  labels.Models

	resampling Resampling // of the claims' intervals
}

// labeledBy reads the inputs in and clip; either may be missing. given labels models.
func labeledBy(call *metrics.Call, o Labeling, given []string) (*paperScores, error) {
	s := &paperScores{by: map[string]map[key]*cell{"human": {}, "clip": {}}, of: map[string]map[string]string{},
		known: labels.Models{Printed: data.Models, Names: data.ModelNames}}
	for _, from := range [][2]string{{"human", "in"}, {"clip", "clip"}} {
		judge, role := from[0], from[1]
		if call.Inputs[role] == nil {
			continue
		}
		all, err := cells(call, role, o)
		if err != nil {
			return nil, fmt.Errorf("table %q: %w", role, err)
		}
		for _, c := range all {
			s.by[judge][c.key] = c
		}
		own := call.Inputs[role].Texts("model")
		if s.of[judge], err = s.known.Of(own, given); err != nil {
			return nil, fmt.Errorf("table %q: %w", role, err)
		}
		s.models = append(s.models, own...)
	}
	return s, nil
}

// cell returns the cell of a model by its label, nil without one.
func (s *paperScores) cell(judge, category, prompt, axis, label string) *cell {
	return s.by[judge][key{category, prompt, axis, s.of[judge][label]}]
}

// printed returns the cell of a printed value, nil without one.
func (s *paperScores) printed(p data.PrintedCell) *cell {
	axis := p.Axis
	if p.Table == 3 {
		axis = data.PerceivedGender
		if p.Category == data.Culture {
			axis = data.PerceivedScene
		}
	}
	return s.cell(p.Judge, p.Category, p.Prompt, axis, p.Model)
}

// compare compares the printed values of a table (1, 2, 3, 6 or all); both includes those by CLIP. given labels models.
func compare(call *metrics.Call, o Labeling, given []string, table string, both bool) ([]compared, error) {
	s, err := labeledBy(call, o, given)
	if err != nil {
		return nil, err
	}
	var out []compared
	computed := 0
	for _, p := range data.PrintedTables() {
		if (p.Judge != "human" && !both) || (table != "all" && table != strconv.Itoa(p.Table)) {
			continue
		}
		c := s.printed(p)
		if c == nil {
			out = append(out, compared{PrintedCell: p, value: math.NaN()})
			continue
		}
		d := ComputeDiversity(c.counts)
		r := compared{PrintedCell: p, value: d.Value, usable: d.Usable, most: d.Asked, computed: c.model}
		if p.Table == 3 {
			r.value = perAttribute(c.counts)
		}
		printed, err := ParsePrinted(p.Text)
		if err != nil {
			return nil, err
		}
		r.equal = printed.Agrees(r.value)
		computed++
		out = append(out, r)
	}
	what := "Table " + table
	if table == "all" {
		what = "Tables 1, 2, 3, 6"
	}
	call.Notef("%s", s.known.Note(what, computed, len(out), s.models))
	return out, nil
}

// CellOptions are the options of [PaperCells].
type CellOptions struct {
	Labeling
	Table string `json:"table" default:"all" values:"all,1,2,3,6" help:"table of the paper"`

	Labels []string `json:"labels,omitempty" help:"labels of models in the paper's table, each as MODEL=LABEL; others by the paper's list of names"`
}

// PaperCells is the table operation entigen-cells (Bansal et al., EMNLP 2022, Tables 1, 2, 3, 6): every human value
// of the paper's tables next to the same from the ratings, one a row: printed, value in [0, 1] (Table 3: images, [0,
// 9]), equal (1 where the value agrees with the printed one, [PrintedNumber.Agrees]), feasible (whether the printed
// value is possible with so few images, [Feasible]), n_used, computed (the model whose ratings they are). A cell
// without ratings has no value; a note counts the others. Models are found by Labels and
// [antipode/datasets/entigen.ModelNames].
func PaperCells(ratings datasets.Table, options ...CellOptions) datasets.Table {
	return paperCells.Of(ratings, options...)
}

type paperCellRow struct {
	Table    int     `column:"table"`
	Category string  `column:"category"`
	Prompt   string  `column:"prompt_id"`
	Axis     string  `column:"axis"`
	Model    string  `column:"model"`
	Printed  string  `column:"printed"`
	Value    float64 `column:"value" unit:"share; images in Table 3" range:"[0, 1]; [0, 9]"`
	Used     int     `column:"n_used" unit:"images"`
	Equal    float64 `column:"equal" help:"no value without ratings"`
	Feasible string  `column:"feasible"`
	Computed string  `column:"computed" help:"the model whose ratings they are; blank without ratings"`
	Rule     string  `column:"rule"`
	noted
}

var paperCells = listing(4, metrics.Definition[CellOptions, paperCellRow]{
	Name: "entigen-cells", Title: "every human value of the paper's tables, and the same from the ratings",
	Citation: "Tables 1, 2, 3, 6", Inputs: []metrics.Input{ratingsIn},
	Compute: func(_ context.Context, call *metrics.Call, o CellOptions) ([]paperCellRow, error) {
		all, err := compare(call, o.Labeling, o.Labels, o.Table, false)
		var out []paperCellRow
		for _, c := range all {
			r := paperCellRow{Table: c.Table, Category: c.Category, Prompt: c.Prompt, Axis: c.Axis, Model: c.Model,
				Printed: c.Text, Value: c.value, Used: c.usable, Computed: c.computed, Rule: o.Rule}
			switch {
			case c.computed == "":
				r.Equal = math.NaN()
			case c.equal:
				r.Equal = 1
			}
			if printed, err := ParsePrinted(c.Text); err == nil && c.Table != 3 && c.computed != "" {
				_, ok := Feasible(printed, c.most)
				r.Feasible = map[bool]string{true: "yes", false: "no"}[ok]
			}
			out = append(out, r)
		}
		return out, err
	},
})

// TableOptions are the options of [PaperTable].
type TableOptions struct {
	Labeling
	Table    string `json:"table" default:"1" values:"1,2,3,6" help:"table of the paper"`
	Judges   string `json:"judges" default:"human" values:"human,both" help:"human ratings, or also labels by CLIP"`
	Decimals int    `json:"decimals" default:"2" none:"-1" min:"0" help:"decimals of the values"`
	Rounding string `json:"rounding" default:"round" values:"round,cut" help:"how values get their decimals; the paper does both"`

	Labels []string `json:"labels,omitempty" help:"labels of models in the paper's table, each as MODEL=LABEL; others by the paper's list of names"`
}

// PaperTable is the table operation entigen-table (Bansal et al., EMNLP 2022, Tables 1, 2, 3, 6): one of the paper's
// tables in its own layout, a row for each prompt and a column for each axis and model. A value is followed by the
// printed one where the two differ; a cell without ratings has the printed one only. With Judges "both" the columns by
// CLIP are included. clip are labels by CLIP from [ClipLabels]; one of the two may be a zero table. Models are found as
// by [PaperCells].
func PaperTable(ratings, clip datasets.Table, options ...TableOptions) datasets.Table {
	return paperTable.Table(map[string]datasets.Table{"in": ratings, "clip": clip}, options...)
}

var paperTable = listing(4, metrics.Definition[TableOptions, struct{}]{
	Name: "entigen-table", Title: "a table of the paper in its own layout, from the ratings",
	Citation: "Tables 1, 2, 3, 6",
	Inputs: []metrics.Input{
		{Role: "in", Columns: ratingsIn.Columns, Optional: true, About: ratingsIn.About},
		{Role: "clip", Optional: true, Columns: columnsOf(ratingColumns),
			About: "labels by CLIP, as entigen-clip-labels returns them; with judges=both"}},
	Columns: TableOptions.columns,
	Frame: func(_ context.Context, call *metrics.Call, o TableOptions) (*table.Frame, error) {
		all, err := compare(call, o.Labeling, o.Labels, o.Table, o.Judges == "both")
		if err != nil {
			return nil, err
		}
		var rows []map[string]string
		last := ""
		for _, c := range all {
			if row := c.Category + "/" + c.Prompt; row != last {
				last = row
				rows = append(rows, map[string]string{"category": c.Category, "prompt_id": c.Prompt,
					"kind": data.Kind(c.Prompt), "note": Note})
			}
			text := "(printed " + c.Text + ")"
			if c.computed != "" {
				value := rounded(c.value, o.Decimals, o.Rounding == "cut")
				if text = value + " " + text; c.equal {
					text = value
				}
			}
			rows[len(rows)-1][layoutHead(c.Axis, c.Judge, c.Model)] = text
		}
		f := table.NewFrame(o.columns())
		for i := range f.Columns {
			for _, r := range rows {
				f.Columns[i].Texts = append(f.Columns[i].Texts, r[f.Columns[i].Name])
			}
		}
		return f, nil
	},
})

func (o TableOptions) columns() []table.ColumnSpec {
	names := []string{"prompt_id", "kind"}
	if o.Table == "3" {
		names = append([]string{"category"}, names...)
	}
	names = append(append(names, layoutHeads(o.Table, o.Judges == "both")...), "note")
	specs := make([]table.ColumnSpec, len(names))
	for i, n := range names {
		specs[i] = table.ColumnSpec{Name: n, Kind: table.KindText}
	}
	return specs
}

// short are the models' names in the column labels of the paper.
var short = map[string]string{data.MinDALLE: "minD", data.DALLEMini: "D-mini", data.SD: "SD"}

// layoutHeads returns the columns of a table after prompt_id and kind: one for each axis, judge and model.
func layoutHeads(table string, both bool) (heads []string) {
	gender, skin := data.PerceivedGender, data.PerceivedSkin
	groups := map[string][][2]string{"1": {{gender, "human"}, {skin, "human"}}, "2": {{data.PerceivedScene, "human"}},
		"3": {{"", "human"}}}
	groups["6"] = groups["1"]
	judged := groups[table]
	if both && (table == "1" || table == "6") {
		judged = append([][2]string{{gender, "clip"}}, judged...)
	}
	for _, g := range judged {
		for _, m := range []string{data.MinDALLE, data.DALLEMini, data.SD} {
			heads = append(heads, layoutHead(g[0], g[1], m))
		}
	}
	return heads
}

func layoutHead(axis, judge, model string) string {
	switch {
	case axis == "":
		return short[model]
	case judge == "clip":
		return axis + " (CLIP), " + short[model]
	}
	return axis + ", " + short[model]
}

// rounded formats a value with the decimals, rounded (ties to even digits, as Go prints) or cut.
func rounded(v float64, decimals int, cut bool) string {
	if math.IsNaN(v) {
		return "not available"
	}
	if cut {
		unit := math.Pow(10, float64(decimals))
		v = math.Trunc(v*unit+1e-9) / unit
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}
