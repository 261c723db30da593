package concepts

import (
	"context"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
)

var inScores = []metrics.Input{{Role: "in",
	Columns: append(slices.Clone(cellColumns), datasets.Columns("cross_consistency:number", "text_match:number")...),
	About:   "scores by model, language and concept, from cococrola-scores"}}

var inMeans = []metrics.Input{{Role: "in",
	Columns: datasets.Columns("model:text", "language:text", "cross_consistency:number", "text_match:number"),
	About:   "means by model and language, from cococrola-means"}}

// MeanOptions are the options of [LanguageMeans].
type MeanOptions struct {
	Profile string `json:"profile,omitempty" default:"paper" values:"paper,public-code" help:"defaults of the paper or of the public code"`
	Blank   string `json:"blank,omitempty" values:"leave-out,minus-one" help:"treatment of blank scores; default: the profile's"`
	metrics.Intervals
}

// meanRow is a row of [LanguageMeans].
type meanRow struct {
	Mean
	Blank    string `column:"blank"`
	Interval string `column:"interval"`
}

var languageMeans = metrics.Define(metrics.Definition[MeanOptions, meanRow]{
	Name:    "cococrola-means",
	Title:   "mean over concepts of each score by model and language, and share of concepts possessed",
	Version: 3, Unit: cosines + "; share", Range: ranges + "; share [0, 1]", Direction: toward,
	Citation: citation + ", Table 2", Inputs: inScores,
	Compute: func(_ context.Context, call *metrics.Call, o MeanOptions) ([]meanRow, error) {
		_, preset, err := ProfileOf(o.Profile)
		if err != nil {
			return nil, err
		}
		rows, err := readScored(call.Inputs["in"])
		if err != nil {
			return nil, err
		}
		blank := orDefault(o.Blank, preset)
		var out []meanRow
		means, err := ComputeLanguageMeans(rows, blank, o.Intervals)
		for _, m := range means {
			out = append(out, meanRow{m, blank, o.Label("concepts", m.Dt, m.Sc, m.Xc, m.Wc, m.Possessed)})
		}
		return out, err
	},
})

// LanguageMeans is the metric cococrola-means, the cells of Table 2, one per row, from the table of [ConceptScores]:
// the mean over concepts of Dt, Sc, Xc and Wc for each model and language, and share_possessed (an addition: the
// paper defines no such share), with 95 % bootstrap intervals over concepts. Rows "Avg" are means of the unrounded
// cells over models or languages. n_asked, n_used, n_text and n_answered count concepts.
func LanguageMeans(scores datasets.Table, options ...MeanOptions) datasets.Table {
	return languageMeans.Of(scores, options...)
}

// CorrelationOptions are the options of [LanguageCorrelations].
type CorrelationOptions struct {
	Score   string   `json:"score,omitempty" default:"cross_consistency" values:"cross_consistency,text_match,self_consistency,inverse_distinctiveness" help:"score to correlate"`
	Profile string   `json:"profile,omitempty" default:"paper" values:"paper,public-code" help:"defaults of the paper or of the public code"`
	Models  string   `json:"models,omitempty" default:"pooled" values:"pooled,each" help:"all models pooled, or each separately"`
	Except  []string `json:"except,omitempty" help:"models to leave out, A,B,… or none; default: the profile's (public-code: CogView 2)"`
	Outside string   `json:"outside,omitempty" values:"keep,drop" help:"treatment of values outside [0, 1]; default: the profile's"`
	metrics.Intervals
}

// correlationRow is a row of [LanguageCorrelations].
type correlationRow struct {
	Correlation
	Score    string `column:"score"`
	Profile  string `column:"profile"`
	Interval string `column:"interval"`
}

var languageCorrelations = metrics.Define(metrics.Definition[CorrelationOptions, correlationRow]{
	Name:    "cococrola-correlations",
	Title:   "correlation of a score between languages, over concepts and models, with the least-squares line",
	Version: 3, Unit: "Pearson's r", Range: "[-1, 1]", Direction: "none", Citation: citation + ", Figure 7",
	Inputs: inScores,
	Compute: func(_ context.Context, call *metrics.Call, o CorrelationOptions) ([]correlationRow, error) {
		rows, err := readScored(call.Inputs["in"])
		if err != nil {
			return nil, err
		}
		if o.Profile == PublicCode {
			o.Outside = orDefault(o.Outside, "drop")
			if o.Except == nil {
				o.Except = []string{"CogView 2"}
			}
		}
		rows = slices.DeleteFunc(rows, func(s Scored) bool { return slices.Contains(o.Except, s.Model) })
		value := func(s Scored) float64 {
			v := scoreOf(o.Score)(s)
			if o.Outside == "drop" && (v < 0 || v > 1) {
				return math.NaN()
			}
			return v
		}
		var out []correlationRow
		all, err := ComputeLanguageCorrelations(rows, value, o.Models == "pooled", o.Intervals)
		for _, c := range all {
			out = append(out, correlationRow{c, o.Score, o.Profile, o.Label("concepts", c.R)})
		}
		return out, err
	},
})

// LanguageCorrelations is the metric cococrola-correlations: Pearson's r of a score between every two languages (Figure
// 7), with r_squared and the least-squares line language_b = slope · language_a + intercept, over pairs of concept and
// model (n_used); blank under three pairs or if a score is constant.
func LanguageCorrelations(scores datasets.Table, options ...CorrelationOptions) datasets.Table {
	return languageCorrelations.Of(scores, options...)
}

// WinOptions are the options of [ColumnWins].
type WinOptions struct {
	Round string `json:"round,omitempty" default:"integer" values:"integer,none" help:"compare means ×100 rounded as printed, or unrounded"`
}

// winRow is a row of [ColumnWins].
type winRow struct {
	Model     string `column:"model"`
	Score     string `column:"score"`
	Wins      int    `column:"n_wins" unit:"languages"`
	Shared    int    `column:"n_shared" unit:"languages"`
	Languages string `column:"languages"`
	SharedIn  string `column:"shared"`
}

var columnWins = metrics.Define(metrics.Definition[WinOptions, winRow]{
	Name:    "cococrola-wins",
	Title:   "languages in which a model has the best mean, and those where it ties",
	Version: 1, Unit: "languages", Range: "[0, languages]", Direction: "higher is better",
	Citation: citation + ", section 5.3", Inputs: inMeans,
	Compute: func(_ context.Context, call *metrics.Call, o WinOptions) ([]winRow, error) {
		means, err := readMeans(call.Inputs["in"])
		if err != nil {
			return nil, err
		}
		var out []winRow
		for _, s := range correctness {
			if o.Round == "integer" {
				for key, v := range means[s.name] {
					means[s.name][key] = rounded(s.name, v)
				}
			}
			for _, w := range ComputeColumnWins(means[s.name]) {
				out = append(out, winRow{w.Model, s.name, len(w.Languages), len(w.Shared),
					strings.Join(w.Languages, ", "), strings.Join(w.Shared, ", ")})
			}
		}
		return out, nil
	},
})

// ColumnWins is the metric cococrola-wins (section 5.3): the languages in which a model has the best mean Xc or Wc
// (n_wins, languages), and those where another model has the same (n_shared, shared). Averages are left out.
func ColumnWins(means datasets.Table, options ...WinOptions) datasets.Table {
	return columnWins.Of(means, options...)
}

// readMeans returns the means by model and language for each score of Table 2.
func readMeans(f *table.Frame) (map[string]map[[2]string]float64, error) {
	out := map[string]map[[2]string]float64{}
	models, languages := f.Texts("model"), f.Texts("language")
	for _, s := range correctness {
		out[s.name] = map[[2]string]float64{}
		for i, v := range f.Numbers(s.column) {
			key := [2]string{models[i], languages[i]}
			if _, twice := out[s.name][key]; twice {
				return nil, table.BadRow{Row: f.RowNumber(i), ID: models[i], Column: "language",
					Reason: "another row has the same model and language"}
			}
			out[s.name][key] = v
		}
	}
	return out, nil
}
