package consistency

import (
	"context"
	"math"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ValueTables are the inputs of [Values].
type ValueTables struct {
	// Complete and Common have a row for each model, language and score, as for [Claims], over each model's own prompts
	// and over those that all models have.
	Complete, Common datasets.Table
	Pairs            datasets.Table // SCAL by model and pair of languages over the common prompts
	Overall          datasets.Table // [SCALOverall] by model over the common prompts, one method
}

var studyValues = datasets.Define(datasets.Operation[ClaimOptions, metrics.ValueRow]{
	Name: "indictti-values", Title: "the values of IndicTTI's tables and claims, from the scores of a run",
	Version: 4, Citation: tableCitation, // 2 knew no undecided claims
	Inputs: []datasets.Input{
		{Role: "complete", Columns: inStudy[0].Columns, About: inStudy[0].About + ", on the complete sets"},
		{Role: "common", Columns: inStudy[0].Columns, About: "the same on the common set"}, inStudy[1],
		{Role: "overall", Optional: true, Columns: datasets.Columns("model:text", "scal:number"),
			About: "overall SCAL by model"}},
	Compute: computeStudy,
})

// Values returns the values of the items that indictti.PrintedItems lists, for metrics.Ledger: the cells of the
// printed tables, the numbers of the text, and whether each claim of [Claims] holds.
func Values(s ValueTables, options ...ClaimOptions) datasets.Table {
	return studyValues.Table(map[string]datasets.Table{"complete": s.Complete, "common": s.Common, "pairs": s.Pairs,
		"overall": s.Overall}, options...)
}

func computeStudy(_ context.Context, call *datasets.Call, o ClaimOptions) (_ []metrics.ValueRow, err error) {
	var out metrics.ValueRows
	complete, err := readLabeled(call, "complete", o.Labels)
	if err != nil {
		return nil, err
	}
	common, err := readLabeled(call, "common", o.Labels)
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
		if has && c.State == indictti.Legible && !math.IsNaN(v.Value) {
			out.Add(c.Item(), metrics.Estimate{Value: 100 * v.Value, Low: 100 * v.Low, High: 100 * v.High}, v.n)
		}
	}
	none := math.NaN()
	number := func(name, model string, value, low, high float64) {
		if !math.IsNaN(value) {
			out.Add(indictti.Quoted{Name: name, Model: model}.Item(),
				metrics.Estimate{Value: 100 * value, Low: 100 * low, High: 100 * high}, none)
		}
	}
	if call.Inputs["overall"] != nil {
		in := tabular.Read(call, "overall")
		models, scal := in.Texts("model"), in.Numbers("scal")
		if in.Err != nil {
			return nil, in.Err
		}
		for i, m := range models {
			for _, label := range indictti.Models {
				if m != "" && common.of[label] == m {
					number(indictti.QuotedSCAL, label, scal[i], tabular.Number(in.Frame, "scal_low", i),
						tabular.Number(in.Frame, "scal_high", i))
				}
			}
		}
	}
	for _, m := range indictti.Models {
		drop := func(score string) float64 {
			return common.mean(score, m, english).Value - common.mean(score, m, other).Value
		}
		number(indictti.QuotedDropCLGC, m, drop("CLGC"), none, none)
		number(indictti.QuotedDropIGC, m, drop("IGC"), none, none)
		number(indictti.QuotedMeanLGC, m, common.mean("LGC", m, other).Value, none, none)
	}
	for _, c := range common.claims() {
		out.AddVerdict(c.name, c.a.Minus(c.b).Within(0, math.Inf(1)))
	}
	return out, nil
}
