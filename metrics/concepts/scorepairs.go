package concepts

import (
	"cmp"
	"context"
	"math"
	"slices"

	"antipode/datasets"
)

// ScorePairOptions are the options of [ScorePairs].
type ScorePairOptions struct {
	Score string `json:"score,omitempty" default:"cross_consistency" values:"cross_consistency,text_match,self_consistency,inverse_distinctiveness" help:"score to pair"`
}

// scorePairRow is a row of [ScorePairs].
type scorePairRow struct {
	A       string  `column:"language_a"`
	B       string  `column:"language_b"`
	Model   string  `column:"model"`
	Concept string  `column:"concept"`
	ValueA  float64 `column:"value_a"`
	ValueB  float64 `column:"value_b"`
	Score   string  `column:"score"`
}

var scorePairs = datasets.Define(datasets.Operation[ScorePairOptions, scorePairRow]{
	Name: "cococrola-score-pairs", Version: 1,
	Title:    "a score of each concept in every two languages",
	Citation: citation + ", Figure 7", Inputs: inScores,
	Compute: func(_ context.Context, call *datasets.Call, o ScorePairOptions) (out []scorePairRow, err error) {
		rows, err := readScored(call.Inputs["in"])
		if err != nil {
			return nil, err
		}
		score := scoreOf(o.Score)
		of := map[[2]string][]Scored{} // by model and concept
		for _, r := range rows {
			if !math.IsNaN(score(r)) {
				of[[2]string{r.Model, r.Concept}] = append(of[[2]string{r.Model, r.Concept}], r)
			}
		}
		for _, a := range rows {
			for _, b := range of[[2]string{a.Model, a.Concept}] {
				if compareLanguages(a.Language, b.Language) < 0 && !math.IsNaN(score(a)) {
					out = append(out, scorePairRow{a.Language, b.Language, a.Model, a.Concept, score(a), score(b),
						o.Score})
				}
			}
		}
		slices.SortStableFunc(out, func(p, q scorePairRow) int {
			return cmp.Or(compareLanguages(p.A, q.A), compareLanguages(p.B, q.B), compareModels(p.Model, q.Model),
				cmp.Compare(p.Concept, q.Concept))
		})
		return out, nil
	},
})

// ScorePairs is the table operation cococrola-score-pairs, the points of Figure 7: a score of each concept and
// model in every two languages, one row per pair of languages. [LanguageCorrelations] has the line and the
// correlation of each pair. Concepts without a score in one of the languages are left out.
func ScorePairs(scores datasets.Table, options ...ScorePairOptions) datasets.Table {
	return scorePairs.Of(scores, options...)
}
