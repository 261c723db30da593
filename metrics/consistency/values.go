package consistency

import (
	"context"
	"math"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/metrics/internal/tabular"
)

// StudyRow is a row of [StudyValues].
type StudyRow struct {
	Item  string  `column:"item"`
	Holds string  `column:"holds" help:"yes or no, of a claim; empty for a number"`
	Value float64 `column:"value" help:"100 times the score"`
	Low   float64 `column:"value_low"`
	High  float64 `column:"value_high"`
	N     float64 `column:"n" unit:"images"`
}

// Study is the input of [StudyValues].
type Study struct {
	// Complete and Common have a row for each model, language and score, as for [Claims], over each model's own prompts
	// and over those that all models have.
	Complete, Common datasets.Table
	Pairs            datasets.Table // SCAL by model and pair of languages over the common prompts
	Overall          datasets.Table // [SCALOverall] by model over the common prompts, one method
}

var studyValues = datasets.Define(datasets.Operation[ClaimOptions, StudyRow]{
	Name: "indictti-values", Title: "the values of IndicTTI's tables and claims, from the scores of a run",
	Version: 1, Citation: tableCitation,
	Inputs: []datasets.Input{
		{Role: "complete", Columns: inStudy[0].Columns, About: inStudy[0].About + ", on the complete sets"},
		{Role: "common", Columns: inStudy[0].Columns, About: "the same on the common set"}, inStudy[1],
		{Role: "overall", Optional: true, Columns: datasets.Columns("model:text", "scal:number"),
			About: "overall SCAL by model"}},
	Compute: computeStudy,
})

// StudyValues returns the values of the items that indictti.PrintedItems lists, for metrics.Ledger: the cells of the
// printed tables, the numbers of the text, and whether each claim of [Claims] holds.
func StudyValues(s Study, options ...ClaimOptions) datasets.Table {
	return studyValues.Table(map[string]datasets.Table{"complete": s.Complete, "common": s.Common, "pairs": s.Pairs,
		"overall": s.Overall}, options...)
}

func computeStudy(_ context.Context, call *datasets.Call, o ClaimOptions) (out []StudyRow, err error) {
	complete, err := readStudy(call, "complete", o.Labels)
	if err != nil {
		return nil, err
	}
	common, err := readStudy(call, "common", o.Labels)
	if err != nil {
		return nil, err
	}
	cells, err := indictti.PrintedCells()
	if err != nil {
		return nil, err
	}
	for _, c := range cells {
		of := common
		if c.Table >= 9 {
			of = complete
		}
		v, has := of.cells[[3]string{indictti.ScoreNames[c.Score], c.Model, c.Language}]
		if has && c.State == indictti.Legible && !math.IsNaN(v.value) {
			out = append(out, StudyRow{Item: c.Item(), Value: 100 * v.value, Low: 100 * v.low, High: 100 * v.high,
				N: v.n})
		}
	}
	none := math.NaN()
	number := func(name, model string, value, low, high float64) {
		if !math.IsNaN(value) {
			out = append(out, StudyRow{Item: indictti.Quoted{Name: name, Model: model}.Item(), Value: 100 * value,
				Low: 100 * low, High: 100 * high, N: none})
		}
	}
	if call.Inputs["overall"] != nil {
		in := tabular.Read(call, "overall")
		models, scal := in.Texts("model"), in.Numbers("scal")
		low, high := in.Numbers("scal_low"), in.Numbers("scal_high")
		if in.Err != nil {
			return nil, in.Err
		}
		for i, m := range models {
			for _, label := range indictti.Models {
				if common.of[label] == m {
					number(indictti.QuotedSCAL, label, scal[i], low[i], high[i])
				}
			}
		}
	}
	for _, m := range indictti.Models {
		drop := func(score string) float64 { return common.mean(score, m, english) - common.mean(score, m, other) }
		number(indictti.QuotedDropCLGC, m, drop("CLGC"), none, none)
		number(indictti.QuotedDropIGC, m, drop("IGC"), none, none)
		number(indictti.QuotedMeanLGC, m, common.mean("LGC", m, other), none, none)
	}
	for _, c := range common.claims() {
		holds := "no"
		if c.a > c.b {
			holds = "yes"
		}
		out = append(out, StudyRow{Item: c.name, Holds: holds, Value: none, Low: none, High: none, N: none})
	}
	return out, nil
}
