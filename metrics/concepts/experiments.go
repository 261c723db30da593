package concepts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/table"
	"antipode/metrics"
)

// templateRow is a row of [CompareTemplates].
type templateRow struct {
	Model      string  `column:"model"`
	Language   string  `column:"language"`
	Template   string  `column:"template"`
	Score      string  `column:"score"`
	Mean       float64 `column:"mean"`
	Used       int     `column:"n_used" unit:"concepts" help:"with a score for every template"`
	LeftOut    int     `column:"n_left_out" unit:"concepts" help:"with a score for some templates only"`
	Difference float64 `column:"difference" help:"from templates_mean"`
	Average    float64 `column:"templates_mean"`
	SD         float64 `column:"templates_sd" help:"n − 1"`
	Low        float64 `column:"templates_low" help:"smallest mean"`
	High       float64 `column:"templates_high" help:"largest mean"`
	Range      float64 `column:"templates_range"`
	Templates  int     `column:"n_templates"`
}

var compareTemplates = metrics.Define(metrics.Definition[struct{}, templateRow]{
	Name:    "cococrola-templates",
	Title:   "mean of each score by prompt template, and its spread over templates",
	Version: 1, Unit: cosines, Range: ranges, Direction: "small spread: the template matters little",
	Citation: citation + ", Appendix B",
	Inputs: []metrics.Input{{Role: "in", Columns: cellColumns,
		About: "scores by model, language and concept, with models named MODEL / TEMPLATE"}},
	Compute: computeTemplates,
})

// CompareTemplates is the metric cococrola-templates (Appendix B): for every model, language and score the mean of each
// prompt template, over the concepts that have a score for all templates of the model and language, and its spread over
// templates. scores is the table of [ConceptScores] with [ScoreOptions.Template].
func CompareTemplates(scores datasets.Table) datasets.Table { return compareTemplates.Of(scores) }

func computeTemplates(_ context.Context, call *metrics.Call, _ struct{}) ([]templateRow, error) {
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	all := map[modelLanguage]map[string]map[string]Scored{} // by template and concept
	var keys []modelLanguage
	for i, r := range rows {
		at := strings.LastIndex(r.Model, separator)
		if at < 0 {
			return nil, table.BadRow{Row: call.Inputs["in"].RowNumber(i), ID: r.Concept, Column: "model",
				Reason: fmt.Sprintf("%q has no template; compute cococrola-scores with the option template "+
					"(its models are named MODEL%sTEMPLATE)", r.Model, separator)}
		}
		k, template := modelLanguage{r.Model[:at], r.Language}, r.Model[at+len(separator):]
		if all[k] == nil {
			all[k] = map[string]map[string]Scored{}
			keys = append(keys, k)
		}
		if all[k][template] == nil {
			all[k][template] = map[string]Scored{}
		}
		all[k][template][r.Concept] = r
	}
	slices.SortFunc(keys, modelLanguage.compare)
	var out []templateRow
	for _, k := range keys {
		templates := slices.SortedFunc(maps.Keys(all[k]), func(a, b string) int { // 2 before 10
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		})
		for _, name := range scoreNames {
			means, n, left := commonMeans(all[k], templates, scoreOf(name))
			average, square := mean(means, nil), 0.
			for _, m := range means {
				square += (m - average) * (m - average)
			}
			low, high := slices.Min(means), slices.Max(means)
			for i, w := range templates {
				out = append(out, templateRow{k.model, k.language, w, name, means[i], n, left, means[i] - average,
					average, math.Sqrt(square / float64(len(means)-1)), low, high, high - low, len(means)})
			}
		}
	}
	return out, nil
}

// commonMeans returns the means of templates over the n concepts that have a score for all of them; left counts the
// concepts with a score for some.
func commonMeans(rows map[string]map[string]Scored, templates []string, score func(Scored) float64) (means []float64,
	n, left int) {
	count, scores := map[string]int{}, map[string][]float64{}
	for i, w := range templates {
		for concept, r := range rows[w] {
			v := score(r)
			if math.IsNaN(v) {
				continue
			}
			if scores[concept] == nil {
				scores[concept] = make([]float64, len(templates))
			}
			scores[concept][i] = v
			count[concept]++
		}
	}
	var concepts []string
	for concept, k := range count {
		if k == len(templates) {
			concepts = append(concepts, concept)
		} else {
			left++
		}
	}
	slices.Sort(concepts)
	means = make([]float64, len(templates))
	for i := range means {
		for _, c := range concepts {
			means[i] += scores[c][i]
		}
		means[i] /= float64(len(concepts))
	}
	return means, len(concepts), left
}

// creativeRow is a row of [CreativePossession].
type creativeRow struct {
	PromptID     string  `column:"prompt_id"`
	Language     string  `column:"language"`
	Prompt       string  `column:"prompt"`
	Model        string  `column:"model"`
	Concept      string  `column:"concept"`
	Xc           float64 `column:"cross_consistency" unit:"cosine" range:"[-1, 1]"`
	Wc           float64 `column:"text_match" unit:"100 × cosine" range:"[-100, 100]"`
	Possessed    string  `column:"possessed" help:"yes, no, or blank if unknown"`
	AllPossessed string  `column:"all_possessed" help:"yes if all concepts are, no if one is not, blank if unknown"`
	NPossessed   int     `column:"n_possessed" unit:"concepts"`
	Concepts     int     `column:"n_concepts" unit:"concepts"`
}

var creativePossession = metrics.Define(metrics.Definition[struct{}, creativeRow]{
	Name:    "cococrola-creative",
	Title:   "possession of the concepts in creative prompts",
	Version: 1, Unit: cosines, Range: ranges, Direction: toward, Citation: citation + ", section 5.6, Figure 10",
	Inputs: []metrics.Input{inScores[0],
		{Role: "prompts", Columns: datasets.Columns("prompt_id:text", "language:text", "prompt:text", "concepts:text"),
			Optional: true, About: "creative prompts with their concepts; default: the paper's"}},
	Compute: computeCreative,
})

// CreativePossession is the metric cococrola-creative (section 5.6, Figure 10): one row per creative prompt,
// language, model and concept in the prompt, with Xc, Wc and possession of the concept, and whether the model
// possesses all of them. prompts has prompt_id, language, prompt and concepts (A, B, …); the zero Table = the paper's
// two prompts in three languages.
func CreativePossession(scores, prompts datasets.Table) datasets.Table {
	return creativePossession.Table(map[string]datasets.Table{"in": scores, "prompts": prompts})
}

func computeCreative(_ context.Context, call *metrics.Call, _ struct{}) ([]creativeRow, error) {
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	prompts := cococrola.CreativePrompts()
	if f := call.Inputs["prompts"]; f != nil {
		prompts = nil
		for i, id := range f.Texts("prompt_id") {
			concepts := datasets.SplitColumns(f.Texts("concepts")[i])
			if len(concepts) == 0 {
				return nil, table.BadRow{Row: f.RowNumber(i), ID: id, Column: "concepts",
					Reason: "it is blank; use A, B, …"}
			}
			prompts = append(prompts, cococrola.CreativePrompt{ID: id, Language: f.Texts("language")[i],
				Text: f.Texts("prompt")[i], Concepts: concepts})
		}
	}
	scored := byModel(rows)
	models := slices.SortedFunc(maps.Keys(scored), compareModels)
	var out []creativeRow
	for _, p := range prompts {
		for _, m := range models {
			all, possessed := allPossessed(scored[m], p.Language, p.Concepts)
			for _, concept := range p.Concepts {
				s, known := scored[m][Cell{p.Language, concept}]
				if !known {
					s = Scored{Xc: math.NaN(), Wc: math.NaN()}
				}
				out = append(out, creativeRow{PromptID: p.ID, Language: p.Language, Prompt: p.Text, Model: m,
					Concept: concept, Xc: s.Xc, Wc: s.Wc, Possessed: s.Possessed, AllPossessed: all,
					NPossessed: possessed, Concepts: len(p.Concepts)})
			}
		}
	}
	return out, nil
}

func byModel(rows []Scored) map[string]map[Cell]Scored {
	out := map[string]map[Cell]Scored{}
	for _, r := range rows {
		if out[r.Model] == nil {
			out[r.Model] = map[Cell]Scored{}
		}
		out[r.Model][r.Cell] = r
	}
	return out
}

// allPossessed returns whether a model possesses all of some concepts in a language, and how many it does.
func allPossessed(of map[Cell]Scored, language string, concepts []string) (all string, possessed int) {
	all = Yes
	for _, c := range concepts {
		switch s := of[Cell{language, c}]; {
		case s.Possessed == Yes:
			possessed++
		case s.Possessed == No:
			all = No
		case all == Yes:
			all = Unknown
		}
	}
	return all, possessed
}

// failureCountRow is a row of [FailureCounts].
type failureCountRow struct {
	Model    string  `column:"model"`
	Language string  `column:"language"`
	Kind     string  `column:"kind"`
	N        int     `column:"n" unit:"concepts"`
	Share    float64 `column:"share" unit:"share of failures" range:"[0, 1]"`
	ByHand   int     `column:"n_by_hand" unit:"concepts" help:"labeled by hand"`
	ByRule   int     `column:"n_by_rule" unit:"concepts" help:"labeled by the rule"`
	Changed  int     `column:"n_changed" unit:"concepts" help:"whose label differs from the rule's"`
}

var kindColumns = append(slices.Clone(cellColumns), datasets.Columns("kind:text")...)

var failureCounts = metrics.Define(metrics.Definition[struct{}, failureCountRow]{
	Name:    "cococrola-failure-counts",
	Title:   "failures of each kind by model and language, labeled by hand or by rule",
	Version: 1, Unit: "concepts", Range: "[0, concepts]", Direction: "lower is better",
	Citation: citation + ", section 5.2",
	Inputs: []metrics.Input{{Role: "in", Columns: kindColumns, About: "failures with the kind from the rule"},
		{Role: "labels", Columns: kindColumns, Optional: true, About: "kinds labeled by hand"}},
	Compute: computeFailureCounts,
})

// FailureCounts is the metric cococrola-failure-counts: the number of failures of each kind by model and language.
// failures is the table of [Failures], or any table with model, language, concept and kind ([Kinds]). labels, with the
// same columns, holds kinds labeled by hand or by a judge ([JudgedKinds]), which replace those of the rule; the zero
// Table = none.
func FailureCounts(failures, labels datasets.Table) datasets.Table {
	return failureCounts.Table(map[string]datasets.Table{"in": failures, "labels": labels})
}

// failureKey identifies a failure.
type failureKey struct {
	modelLanguage
	concept string
}

// readKinds returns the kinds of a table in the order of its rows.
func readKinds(call *metrics.Call, role string) (map[failureKey]string, []failureKey, error) {
	f := call.Inputs[role]
	out, order := map[failureKey]string{}, []failureKey{}
	if f == nil {
		return out, order, nil
	}
	for i, kind := range f.Texts("kind") {
		k := failureKey{modelLanguage{f.Texts("model")[i], f.Texts("language")[i]}, f.Texts("concept")[i]}
		if _, twice := out[k]; twice {
			return nil, nil, fmt.Errorf("table %q, row %d: concept %q occurs twice for model %q, language %q", role,
				f.RowNumber(i), k.concept, k.model, k.language)
		}
		if !slices.Contains(Kinds, kind) {
			return nil, nil, fmt.Errorf("table %q, row %d (concept %q): kind is %q; it must be one of %s, or blank",
				role, f.RowNumber(i), k.concept, kind, strings.Join(Kinds[:3], ", "))
		}
		out[k] = kind
		order = append(order, k)
	}
	return out, order, nil
}

func computeFailureCounts(_ context.Context, call *metrics.Call, _ struct{}) ([]failureCountRow, error) {
	rule, order, err := readKinds(call, "in")
	if err != nil {
		return nil, err
	}
	hand, paperScores, err := readKinds(call, "labels")
	if err != nil {
		return nil, err
	}
	outside := 0
	for _, k := range paperScores {
		if _, known := rule[k]; !known {
			outside++
		}
	}
	if outside > 0 {
		call.Notef("%d labels are of concepts that are not among the failures, and are ignored", outside)
	}
	counts, totals, cells := map[modelLanguage]map[string]*failureCountRow{}, map[modelLanguage]int{}, []modelLanguage{}
	for _, k := range order {
		c := k.modelLanguage
		if counts[c] == nil {
			counts[c] = map[string]*failureCountRow{}
			for _, kind := range Kinds {
				counts[c][kind] = &failureCountRow{Model: c.model, Language: c.language, Kind: kind}
			}
			cells = append(cells, c)
		}
		label := hand[k]
		r := counts[c][orDefault(label, rule[k])]
		totals[c]++
		r.N++
		switch label {
		case "":
			r.ByRule++
		case rule[k]:
			r.ByHand++
		default:
			r.ByHand++
			r.Changed++
		}
	}
	slices.SortFunc(cells, modelLanguage.compare)
	var out []failureCountRow
	for _, c := range cells {
		for _, kind := range Kinds {
			r := counts[c][kind]
			if kind == "" && r.N == 0 {
				continue
			}
			r.Share = float64(r.N) / float64(totals[c])
			out = append(out, *r)
		}
	}
	return out, nil
}
