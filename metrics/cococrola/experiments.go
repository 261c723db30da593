package cococrola

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/cococrola"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Wordings is the metric cococrola-wordings, the prompt-wording experiment (Appendix B): for every model, language and score the mean of each wording, over the concepts that all wordings of this
// model and language have a score of, and how far the wordings lie apart. scores is the table of [ConceptScores] with [ByWording], whose models are MODEL / WORDING. Columns: model, language,
// wording, score, mean, n_used (concepts), n_left_out (scored by some wordings only), difference (from the mean of the wordings), wordings_mean, wordings_sd (n − 1), wordings_low,
// wordings_high (the smallest and largest mean), wordings_range, n_wordings. Blank where no concept is left.
func Wordings(scores datasets.Table) datasets.Table {
	return tabular.Of("cococrola-wordings", scores, nil)
}

// ByWording scores each wording of a prompt as a model of its own; column names it, prompt_id in datasets/cococrola's Prompts.
func ByWording(column string) metrics.Setting { return tabular.Set("wording", column) }

// CreativePossession is the metric cococrola-creative (section 5.6, Figure 10): for each creative prompt, language and model the concepts inside, a row each, with their Xc, Wc and possession: is a
// prompt whose concepts a model possesses drawn right? all_possessed is yes where all are, no where one is not, blank where an answer is missing; n_possessed and n_concepts count. prompts has
// prompt_id, language, prompt and concepts (A, B, …); nil = the paper's two in three languages.
func CreativePossession(scores datasets.Table, prompts *datasets.Table) datasets.Table {
	inputs := map[string]datasets.Table{"in": scores}
	if prompts != nil {
		inputs["prompts"] = *prompts
	}
	return tabular.Table("cococrola-creative", inputs, nil)
}

// FailureCounts is the metric cococrola-failure-counts: how many failures of each kind a model has in a language. failures is the table of [Failures], or any with model, language, concept
// and kind (non-specific, specific collision, generic collision, or blank); labels holds kinds given by hand in the same columns, which stand in place of the rule's; nil = none. Columns:
// model, language, kind, n, share (of the failures), n_by_hand, n_by_rule, n_changed (the hand gave another kind than the rule).
func FailureCounts(failures datasets.Table, labels *datasets.Table) datasets.Table {
	inputs := map[string]datasets.Table{"in": failures}
	if labels != nil {
		inputs["labels"] = *labels
	}
	return tabular.Table("cococrola-failure-counts", inputs, nil)
}

// Kinds are the kinds of failure, and blank: not labelled.
var Kinds = []string{NonSpecific, SpecificCollision, GenericCollision, ""}

func init() {
	kinds := append(slices.Clone(cellColumns), datasets.Columns("kind:text")...)
	register("cococrola-wordings", "mean of each score by the wording of the prompt, and the spread of wordings", cosines, spans, "small spread: wording matters little", "Appendix B",
		[]metrics.Input{{Role: "in", Columns: cellColumns, About: "scores by model, language and concept, models named MODEL / WORDING"}}, nil,
		tabular.Fixed("=model", "=language", "=wording", "=score", "mean", "n_used", "n_left_out", "difference", "wordings_mean", "wordings_sd", "wordings_low", "wordings_high", "wordings_range", "n_wordings"), computeWordings)
	register("cococrola-creative", "possession of the concepts inside creative prompts", cosines, spans, toward, "section 5.6, Figure 10",
		[]metrics.Input{inScores, {Role: "prompts", Columns: datasets.Columns("prompt_id:text", "language:text", "prompt:text", "concepts:text"), Optional: true, About: "creative prompts with the concepts inside; without it the paper's"}}, nil,
		tabular.Fixed("=prompt_id", "=language", "=prompt", "=model", "=concept", "cross_consistency", "text_match", "=possessed", "=all_possessed", "n_possessed", "n_concepts"), computeCreative)
	register("cococrola-failure-counts", "failures of each kind by model and language, by hand or by rule", "concepts", "[0, concepts]", "lower is better", "section 5.2", []metrics.Input{
		{Role: "in", Columns: kinds, About: "failures with the kind that a rule gave them"}, {Role: "labels", Columns: kinds, Optional: true, About: "kinds given by hand"}}, nil,
		tabular.Fixed("=model", "=language", "=kind", "n", "share", "n_by_hand", "n_by_rule", "n_changed"), computeFailureCounts)
}

func computeWordings(_ context.Context, call metrics.Call) (*client.Frame, error) {
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	type key struct{ model, language string }
	byWording := map[key]map[string]map[string]Scored{} // wording, concept
	var keys []key
	for i, r := range rows {
		at := strings.LastIndex(r.Model, mark)
		if at < 0 {
			return nil, client.BadRow{Row: i + 1, ID: r.Concept, Column: "model", Reason: fmt.Sprintf("%q names no wording; compute cococrola-scores with the option wording (its models are MODEL%sWORDING)", r.Model, mark)}
		}
		k, wording := key{r.Model[:at], r.Language}, r.Model[at+len(mark):]
		if byWording[k] == nil {
			byWording[k] = map[string]map[string]Scored{}
			keys = append(keys, k)
		}
		if byWording[k][wording] == nil {
			byWording[k][wording] = map[string]Scored{}
		}
		byWording[k][wording][r.Concept] = r
	}
	slices.SortFunc(keys, func(a, b key) int {
		if c := compareModels(a.model, b.model); c != 0 {
			return c
		}
		return compareLanguages(a.language, b.language)
	})
	var out [][]any
	for _, k := range keys {
		var wordings []string
		for w := range byWording[k] {
			wordings = append(wordings, w)
		}
		slices.SortFunc(wordings, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b) // numbers in order: 2 before 10
			}
			return strings.Compare(a, b)
		})
		for _, name := range scoreNames {
			means, n, left := commonMeans(byWording[k], wordings, scoreOf(name))
			middle, square := mean(means, nil), 0.
			for _, m := range means {
				square += (m - middle) * (m - middle)
			}
			low, high := slices.Min(means), slices.Max(means)
			for i, w := range wordings {
				out = append(out, []any{k.model, k.language, w, name, means[i], n, left, means[i] - middle, middle, math.Sqrt(square / float64(len(means)-1)), low, high, high - low, len(means)})
			}
		}
	}
	return tabular.Result("cococrola-wordings", call, out)
}

// commonMeans are the wordings' means over the n concepts that all have a score of; left counts the others that some have.
func commonMeans(rows map[string]map[string]Scored, wordings []string, score func(Scored) float64) (means []float64, n, left int) {
	count, sums := map[string]int{}, map[string][]float64{}
	for i, w := range wordings {
		for concept, r := range rows[w] {
			v := score(r)
			if math.IsNaN(v) {
				continue
			}
			if sums[concept] == nil {
				sums[concept] = make([]float64, len(wordings))
			}
			sums[concept][i] = v
			count[concept]++
		}
	}
	var concepts []string
	for concept, k := range count {
		if k == len(wordings) {
			concepts = append(concepts, concept)
		} else {
			left++
		}
	}
	slices.Sort(concepts)
	means = make([]float64, len(wordings))
	for i := range means {
		for _, c := range concepts {
			means[i] += sums[c][i]
		}
		means[i] /= float64(len(concepts))
	}
	return means, len(concepts), left
}

func computeCreative(_ context.Context, call metrics.Call) (*client.Frame, error) {
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	prompts := data.CreativePrompts()
	if f := call.Inputs["prompts"]; f != nil {
		prompts = nil
		for i, id := range f.Texts("prompt_id") {
			concepts := datasets.SplitColumns(f.Texts("concepts")[i])
			if len(concepts) == 0 {
				return nil, client.BadRow{Row: i + 1, ID: id, Column: "concepts", Reason: "it names no concept; give A, B, …"}
			}
			prompts = append(prompts, data.CreativePrompt{ID: id, Language: f.Texts("language")[i], Text: f.Texts("prompt")[i], Concepts: concepts})
		}
	}
	scored, models := map[string]map[Cell]Scored{}, []string{}
	for _, r := range rows {
		if scored[r.Model] == nil {
			scored[r.Model] = map[Cell]Scored{}
			models = append(models, r.Model)
		}
		scored[r.Model][r.Cell] = r
	}
	slices.SortFunc(models, compareModels)
	var out [][]any
	for _, p := range prompts {
		for _, m := range models {
			all, have := Yes, 0
			from := len(out)
			for _, concept := range p.Concepts {
				s, known := scored[m][Cell{p.Language, concept}]
				if !known {
					s = Scored{Xc: math.NaN(), Wc: math.NaN()}
				}
				switch {
				case s.Possessed == Yes:
					have++
				case s.Possessed == No:
					all = No
				case all == Yes:
					all = Unknown
				}
				out = append(out, []any{p.ID, p.Language, p.Text, m, concept, s.Xc, s.Wc, s.Possessed, "", 0, len(p.Concepts)})
			}
			for _, row := range out[from:] {
				row[8], row[9] = all, have
			}
		}
	}
	return tabular.Result("cococrola-creative", call, out)
}

func computeFailureCounts(_ context.Context, call metrics.Call) (*client.Frame, error) {
	type key struct{ model, language, concept string }
	read := func(role string) (map[key]string, []key, error) {
		f := call.Inputs[role]
		out, order := map[key]string{}, []key{}
		if f == nil {
			return out, order, nil
		}
		for i, kind := range f.Texts("kind") {
			k := key{f.Texts("model")[i], f.Texts("language")[i], f.Texts("concept")[i]}
			if _, twice := out[k]; twice {
				return nil, nil, fmt.Errorf("table %q, row %d: the concept %q has a kind already for model %q, language %q", role, i+1, k.concept, k.model, k.language)
			}
			if !slices.Contains(Kinds, kind) {
				return nil, nil, fmt.Errorf("table %q, row %d (concept %q): the kind %q is none of %s", role, i+1, k.concept, kind, strings.Join(Kinds[:3], ", "))
			}
			out[k] = kind
			order = append(order, k)
		}
		return out, order, nil
	}
	rule, order, err := read("in")
	if err != nil {
		return nil, err
	}
	hand, labelled, err := read("labels")
	if err != nil {
		return nil, err
	}
	outside := 0
	for _, k := range labelled {
		if _, known := rule[k]; !known {
			outside++
		}
	}
	if outside > 0 && call.Note != nil {
		call.Note("%d labels are of concepts that are not among the failures, and count nowhere", outside)
	}
	type cell struct{ model, language string }
	type tally struct{ n, hand, rule, changed int }
	counts, totals, cells := map[cell]map[string]*tally{}, map[cell]int{}, []cell{}
	for _, k := range order {
		c := cell{k.model, k.language}
		if counts[c] == nil {
			counts[c] = map[string]*tally{}
			for _, kind := range Kinds {
				counts[c][kind] = &tally{}
			}
			cells = append(cells, c)
		}
		kind := rule[k]
		given, labelled := hand[k]
		if labelled = labelled && given != ""; labelled {
			kind = given
		}
		t := counts[c][kind]
		totals[c]++
		t.n++
		switch {
		case !labelled:
			t.rule++
		default:
			t.hand++
			if given != rule[k] {
				t.changed++
			}
		}
	}
	slices.SortFunc(cells, func(a, b cell) int {
		if d := compareModels(a.model, b.model); d != 0 {
			return d
		}
		return compareLanguages(a.language, b.language)
	})
	var out [][]any
	for _, c := range cells {
		for _, kind := range Kinds {
			t := counts[c][kind]
			if kind == "" && t.n == 0 {
				continue
			}
			out = append(out, []any{c.model, c.language, kind, t.n, float64(t.n) / float64(totals[c]), t.hand, t.rule, t.changed})
		}
	}
	return tabular.Result("cococrola-failure-counts", call, out)
}
