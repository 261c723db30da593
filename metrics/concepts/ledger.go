package concepts

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

var ledgerValues = datasets.Define(datasets.Operation[CellOptions, metrics.ValueRow]{
	Name: "cococrola-values", Version: 3, // 2 knew no undecided claims
	Title:    "the values of Table 2 and the claims of CoCo-CroLa, from scores and means",
	Citation: citation + ", section 5, Table 2",
	Inputs: []metrics.Input{
		{Role: "scores", Columns: inScores[0].Columns, About: inScores[0].About},
		{Role: "means", Columns: inMeans[0].Columns, About: "their means by model and language, from cococrola-means"}},
	Compute: computeItems,
})

// Values returns the values of the items that cococrola.PrintedItems lists, for metrics.Ledger: the cells of
// Table 2 with their intervals, ×100 as printed, and whether the claims hold: undecided where the interval of the
// difference of two cells allows both. A cell or claim has a row if the models
// and languages that it is about are among the scores; models are found as in [PaperCells]. means are those of
// [LanguageMeans] of the scores.
func Values(scores, means datasets.Table, options ...CellOptions) datasets.Table {
	return ledgerValues.Table(map[string]datasets.Table{"scores": scores, "means": means}, options...)
}

// paperScores is what the claims of the paper are about. Missing values are NaN.
type paperScores struct {
	cells                                  // of Table 2
	rows    []Scored                       // by concept
	values  map[[3]string]interval.Bounded // of the cells, by label, language and score
	wins    map[string]int                 // columns of Xc, by label
	inverse map[string]float64             // mean of Dt over models, by language
}

// pair are two values that a claim says are in ascending order.
type pair [2]interval.Bounded

// exactly returns a value without an interval.
func exactly(v float64) interval.Bounded {
	return interval.Bounded{Value: v, Low: math.NaN(), High: math.NaN()}
}

// all returns the verdict of interval.Bounded on every pair, "" if a value is missing.
func all(pairs ...pair) string {
	var verdicts []string
	for _, p := range pairs {
		if math.IsNaN(p[0].Value) || math.IsNaN(p[1].Value) {
			return Unknown
		}
		verdicts = append(verdicts, p[1].Minus(p[0]).Within(0, math.Inf(1)))
	}
	return interval.Every(verdicts...)
}

func (s *paperScores) value(label, language, score string) interval.Bounded {
	if v, ok := s.values[[3]string{label, language, score}]; ok {
		return v
	}
	return exactly(math.NaN())
}

// below returns the pairs of which each value of a model in some languages is below each in others.
func (s *paperScores) below(label, score string, low, high []string) (pairs []pair) {
	for _, l := range low {
		for _, h := range high {
			pairs = append(pairs, pair{s.value(label, l, score), s.value(label, h, score)})
		}
	}
	return pairs
}

// best returns the pairs of which the value of a model is the largest of all models, the smallest if sign is −1.
func (s *paperScores) best(label, language, score string, sign float64) (pairs []pair) {
	for _, other := range cococrola.Models {
		if other != label {
			of := pair{s.value(other, language, score), s.value(label, language, score)}
			if sign < 0 {
				of[0], of[1] = of[1], of[0]
			}
			pairs = append(pairs, of)
		}
	}
	return pairs
}

// english are the labels of the models that the paper calls trained in English.
var english = []string{"DALL-E Mega", "DALL-E Mini", "SD 1.1", "SD 1.2", "SD 1.4", "SD 2"}

// trainedInEnglish returns the pairs of claim about models trained in English, of those that were computed.
func (s *paperScores) trainedInEnglish(of func(label string) []pair) (pairs []pair) {
	for _, label := range english {
		if s.of[label] != "" {
			pairs = append(pairs, of(label)...)
		}
	}
	if pairs == nil {
		return []pair{{exactly(math.NaN())}}
	}
	return pairs
}

func without(languages []string, except ...string) []string {
	return slices.DeleteFunc(slices.Clone(languages), func(l string) bool { return slices.Contains(except, l) })
}

// uneven is the range of a model's Xc over the languages of Europe and East Asia.
func (s *paperScores) uneven(label string) interval.Bounded {
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range []string{"en", "es", "de", "zh", "ja"} {
		v := s.value(label, l, "Xc").Value
		low, high = min(low, v), max(high, v) // NaN if one is
	}
	return exactly(high - low)
}

// mostWins returns the pairs of the claim that a model is best in the most columns of Xc.
func (s *paperScores) mostWins(label string) (pairs []pair) {
	for _, other := range cococrola.Models {
		if math.IsNaN(s.value(other, cococrola.Average, "Xc").Value) {
			return []pair{{exactly(math.NaN())}}
		}
		if other != label {
			pairs = append(pairs, pair{exactly(float64(s.wins[other])), exactly(float64(s.wins[label]))})
		}
	}
	return pairs
}

// correlated returns the pairs of the claim about Figure 7.
func (s *paperScores) correlated() (pairs []pair) {
	r := map[[2]string]float64{}
	all, _ := ComputeLanguageCorrelations(s.cells.paperRows(s.rows), scoreOf("cross_consistency"), true,
		metrics.Intervals{})
	for _, c := range all {
		r[[2]string{c.A, c.B}], r[[2]string{c.B, c.A}] = c.R.Value, c.R.Value
	}
	of := func(a, b string) interval.Bounded {
		if v, known := r[[2]string{a, b}]; known {
			return exactly(v)
		}
		return exactly(math.NaN())
	}
	for _, p := range [][2]string{{"es", "de"}, {"es", "id"}, {"zh", "ja"}} {
		pairs = append(pairs, pair{of("es", "ja"), of(p[0], p[1])})
	}
	return pairs
}

// paperRows returns the scores of the paper's models.
func (c cells) paperRows(rows []Scored) (out []Scored) {
	for _, label := range cococrola.Models {
		for _, r := range rows {
			if r.Model != "" && c.of[label] == r.Model {
				out = append(out, r)
			}
		}
	}
	return out
}

// overModels returns the pairs of the mean over the computed models in one language, and those in others.
func (s *paperScores) overModels(score, low string, high []string) (pairs []pair) {
	of := func(language string) interval.Bounded {
		var values []float64
		for _, label := range slices.Sorted(maps.Keys(s.of)) { // for the same rounding in every run
			values = append(values, s.value(label, language, score).Value)
		}
		return exactly(mean(values, nil))
	}
	for _, h := range high {
		pairs = append(pairs, pair{of(low), of(h)})
	}
	return pairs
}

// snow returns the verdict on the possession of snow.
func (s *paperScores) snow() string {
	possessed := map[[2]string]string{}
	for _, r := range s.rows {
		if r.Concept == "snow" {
			possessed[[2]string{r.Model, r.Language}] = r.Possessed
		}
	}
	out := interval.Pass
	for _, label := range []string{"DALL-E Mega", "AltDiffusion m9", "SD 2"} {
		for language, want := range map[string]string{"en": Yes, "es": Yes,
			"ja": map[bool]string{true: Yes, false: No}[label == "SD 2"]} {
			switch possessed[[2]string{s.of[label], language}] {
			case Unknown:
				return Unknown
			case want:
			default:
				out = interval.Fail
			}
		}
	}
	return out
}

// inverseOrder returns the pairs of the claim about Figure 9.
func (s *paperScores) inverseOrder() (pairs []pair) {
	of := func(language string) interval.Bounded {
		if v, known := s.inverse[language]; known {
			return exactly(v)
		}
		return exactly(math.NaN())
	}
	latin := []string{"en", "es", "de", "id"}
	for _, l := range without(cococrola.Languages, "he") {
		pairs = append(pairs, pair{of(l), of("he")})
	}
	for _, l := range latin {
		pairs = append(pairs, pair{of(l), of("zh")}, pair{of(l), of("ja")})
	}
	return pairs
}

// claims returns the verdict on each claim.
func (s *paperScores) claims() map[string]string {
	latin, alt := []string{"en", "es", "de", "id"}, "AltDiffusion m9"
	over := func(languages []string, of func(language string) []pair) (pairs []pair) {
		for _, l := range languages {
			pairs = append(pairs, of(l)...)
		}
		return pairs
	}
	out := map[string]string{
		"English-trained models are best in English": all(s.trainedInEnglish(func(m string) []pair {
			return s.below(m, "Xc", without(cococrola.Languages, "en"), []string{"en"})
		})...),
		"CogView 2 is best in Chinese": all(s.below("CogView 2", "Xc", without(cococrola.Languages, "zh"),
			[]string{"zh"})...),
		"DALL-E 2 is more even over EN, ES, DE, ZH and JA than the English-trained models": all(
			s.trainedInEnglish(func(m string) []pair {
				return []pair{{s.uneven("DALL-E 2"), s.uneven(m)}}
			})...),
		"AltDiffusion m9 is better in EN, ES, DE, ZH and JA than in HE and ID": all(s.below(alt, "Xc",
			[]string{"he", "id"}, without(cococrola.Languages, "he", "id"))...),
		"AltDiffusion m9 has the highest average Xc":        all(s.best(alt, cococrola.Average, "Xc", 1)...),
		"AltDiffusion m9 is best in the most columns by Xc": all(s.mostWins(alt)...),
		"DALL-E Mega has the highest Xc in EN, ES, DE and ID": all(over(latin, func(l string) []pair {
			return s.best("DALL-E Mega", l, "Xc", 1)
		})...),
		"DALL-E Mega has the highest average Wc": all(s.best("DALL-E Mega", cococrola.Average, "Wc", 1)...),
		"AltDiffusion m9 is better than SD 2 in JA and HE, and worse in EN and DE": all(
			pair{s.value("SD 2", "ja", "Xc"), s.value(alt, "ja", "Xc")},
			pair{s.value("SD 2", "he", "Xc"), s.value(alt, "he", "Xc")},
			pair{s.value(alt, "en", "Xc"), s.value("SD 2", "en", "Xc")},
			pair{s.value(alt, "de", "Xc"), s.value("SD 2", "de", "Xc")}),
		"CogView 2 has the lowest average Xc and Wc": all(append(s.best("CogView 2", cococrola.Average, "Xc", -1),
			s.best("CogView 2", cococrola.Average, "Wc", -1)...)...),
		"Hebrew has the lowest Xc and Wc of the languages": all(append(
			s.overModels("Xc", "he", without(cococrola.Languages, "he")),
			s.overModels("Wc", "he", without(cococrola.Languages, "he"))...)...),
	}
	out["Xc correlates more between ES and DE, ES and ID, and ZH and JA than between ES and JA"] =
		all(s.correlated()...)
	out["Hebrew has the highest inverse distinctiveness, and EN, ES, DE and ID the lowest"] = all(s.inverseOrder()...)
	out["snow is possessed in EN and ES by DALL-E Mega, AltDiffusion m9 and SD 2, and in JA by SD 2 alone"] = s.snow()
	return out
}

// readMeans returns the ends of the intervals of the scores, by model, language and score.
func (s *paperScores) readMeans(means *table.Frame) map[[3]string][2]float64 {
	ends := map[[3]string][2]float64{}
	for i, model := range means.Texts("model") {
		language := means.Texts("language")[i]
		for _, c := range correctness {
			ends[[3]string{model, language, c.name}] = [2]float64{
				percent(c.name, tabular.Number(means, c.column+"_low", i)),
				percent(c.name, tabular.Number(means, c.column+"_high", i))}
		}
		if model == cococrola.Average {
			s.inverse[language] = tabular.Number(means, "inverse_distinctiveness", i)
		}
	}
	return ends
}

func computeItems(_ context.Context, call *datasets.Call, o CellOptions) (_ []metrics.ValueRow, err error) {
	var out metrics.ValueRows
	f, means := call.Inputs["scores"], call.Inputs["means"]
	s := &paperScores{values: map[[3]string]interval.Bounded{}, wins: map[string]int{}, inverse: map[string]float64{}}
	if s.rows, err = readScored(f); err != nil {
		return nil, err
	}
	if s.cells, err = readCells(means, o.Labels); err != nil {
		return nil, err
	}
	images := map[[2]string]float64{} // of a model and language
	for i, r := range s.rows {
		for _, key := range [][2]string{{r.Model, r.Language}, {r.Model, cococrola.Average},
			{cococrola.Average, r.Language}} {
			images[key] += tabular.Number(f, "n_used", i)
		}
	}
	ends := s.readMeans(means)
	rounded := map[[2]string]float64{}
	for _, c := range s.cells.rows {
		if c.Computed == "" {
			continue
		}
		end := ends[[3]string{c.Computed, c.Language, c.Score}]
		out.Add(cococrola.Item(c.Model, c.Language, c.Score), metrics.Estimate{Value: c.Value, Low: end[0],
			High: end[1]}, images[[2]string{c.Computed, c.Language}])
		s.values[[3]string{c.Model, c.Language, c.Score}] = interval.Bounded{Value: c.Value, Low: end[0], High: end[1]}
		if c.Score == "Xc" {
			rounded[[2]string{c.Model, c.Language}] = math.Round(c.Value)
		}
	}
	for _, w := range ComputeColumnWins(rounded) {
		s.wins[w.Model] = len(w.Languages)
	}
	count := func(of func(Scored) string) float64 {
		var names []string
		for _, r := range s.paperRows(s.rows) {
			names = append(names, of(r))
		}
		return float64(len(unique(names, cmp.Compare[string])))
	}
	if len(s.of) > 0 {
		for item, n := range map[string]float64{
			"section 4: concepts":  count(func(r Scored) string { return r.Concept }),
			"section 4: languages": count(func(r Scored) string { return r.Language }),
			"section 5: models":    count(func(r Scored) string { return r.Model }),
		} {
			out.Add(item, metrics.Exact(n), math.NaN())
		}
	}
	for item, verdict := range s.claims() {
		if verdict != Unknown {
			out.AddVerdict(item, verdict)
		}
	}
	slices.SortFunc(out, func(a, b metrics.ValueRow) int { return cmp.Compare(a.Item, b.Item) })
	return out, nil
}
