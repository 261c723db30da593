package cococrola

import (
	"context"
	"fmt"
	"math"
	"strings"

	data "antipode/datasets/cococrola"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// versions are those of metrics that gave other columns or values before.
var versions = map[string]int{"cococrola-scores": 2, "cococrola-correlations": 2}

func register(name, title, unit, span, direction, source string, inputs []metrics.Input, options []metrics.Option, specs func(metrics.Args) []client.ColumnSpec, compute func(context.Context, metrics.Call) (*client.Frame, error)) {
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: name, Title: title, Unit: unit, Range: span, Direction: direction, Citation: data.Citation + ", " + source},
		Version: max(1, versions[name]), Inputs: inputs, Options: options, Columns: specs,
		Compute: func(ctx context.Context, call metrics.Call) (*client.Frame, error) {
			if len(call.By) > 0 {
				return nil, fmt.Errorf("CoCo-CroLa's scores are by model, language and concept; there is no grouping by %v", call.By)
			}
			return compute(ctx, call)
		},
	})
}

const (
	cosines = "cosine; Wc: 100 × cosine"
	spans   = "[-1, 1]; Wc [-100, 100]"
	toward  = "self_consistency, cross_consistency, text_match, distinctiveness: higher is better; inverse_distinctiveness: lower is better"
)

func init() {
	scores, means := []metrics.Input{inScores}, []metrics.Input{inMeans}
	register("cococrola-scores", "distinctiveness, self-consistency and correctness of each concept in each language", cosines, spans, toward, "equations 2 to 6, section 5.6",
		[]metrics.Input{inImages, inWords}, scoreOptions,
		tabular.Fixed("=model", "=language", "=concept", "inverse_distinctiveness", "inverse_distinctiveness_low", "inverse_distinctiveness_high", "distinctiveness", "distinctiveness_low", "distinctiveness_high",
			"self_consistency", "self_consistency_low", "self_consistency_high", "cross_consistency", "cross_consistency_low", "cross_consistency_high", "text_match", "text_match_low", "text_match_high",
			"=possessed", "n_asked", "n_refused", "n_used", "n_reference", "n_others", "n_text", "=source", "=vector", "=joint", "=profile", "=interval"), computeScores)
	register("cococrola-means", "mean over concepts of each score by model and language, and share of concepts possessed", cosines+"; share", spans+"; share [0, 1]", toward, "Table 2",
		scores, []metrics.Option{profileOption, reading("blank", "what a blank score counts as", string(LeaveOut), string(MinusOne)), drawsOption},
		tabular.Fixed("=model", "=language", "inverse_distinctiveness", "inverse_distinctiveness_low", "inverse_distinctiveness_high", "self_consistency", "self_consistency_low", "self_consistency_high",
			"cross_consistency", "cross_consistency_low", "cross_consistency_high", "text_match", "text_match_low", "text_match_high", "share_possessed", "share_possessed_low", "share_possessed_high",
			"n_asked", "n_used", "n_text", "n_answered", "=blank", "=interval"), computeMeans)
	register("cococrola-table", "Table 2 in its own layout: mean Xc and Wc ×100, rounded", "cosine ×100", "[-100, 100]", "higher is better", "Table 2", means, tableOptions, layoutColumns, computeLayout)
	register("cococrola-cells", "own means beside the printed Table 2, cell by cell", "cosine ×100", "[-100, 100]", "none", "Table 2", means, nil,
		tabular.Fixed("=model", "=language", "=score", "printed", "value", "difference", "equal"), computeCells)
	register("cococrola-wins", "in which languages a model has the best mean, ties shown", "languages", "[0, languages]", "higher is better", "section 5.3", means,
		[]metrics.Option{{Name: "round", Default: "integer", About: "compare means ×100 as printed, rounded, or as they are", Values: []string{"integer", "none"}}},
		tabular.Fixed("=model", "=score", "n_wins", "n_shared", "=languages", "=shared"), computeWins)
	register("cococrola-ranking", "concepts in order of a score, for each model and language", cosines, spans, "rank 1 is first in the order asked for", "section 5.5", scores,
		[]metrics.Option{scoreOption, {Name: "order", Default: "descending", About: "largest or smallest score first", Values: []string{"descending", "ascending"}}, {Name: "top", Default: "0", About: "places of each list; 0 = all"}},
		tabular.Fixed("=model", "=language", "rank", "=concept", "=score", "value", "value_low", "value_high", "n_ranked", "n_used", "=order"), computeRanking)
	register("cococrola-correlations", "correlation of a score between languages, over concepts and models, with the line of the fit", "Pearson's r", "[-1, 1]", "none", "Figure 7", scores,
		[]metrics.Option{scoreOption, profileOption, {Name: "models", Default: "pooled", About: "all models in one, or each", Values: []string{"pooled", "each"}},
			{Name: "except", Default: profileReading, About: "models left out, A,B,…; profile = none, public-code CogView 2"},
			reading("outside", "whether values outside 0 to 1 count", "keep", "drop"), drawsOption},
		tabular.Fixed("=language_a", "=language_b", "=model", "pearson", "pearson_low", "pearson_high", "r_squared", "slope", "intercept", "n_used", "n_concepts", "=score", "=profile", "=interval"), computeCorrelations)
	register("cococrola-failures", "concepts not possessed, with the kind of failure that their scores suggest", cosines, spans, "none", "section 5.2; the rule is an addition", scores,
		[]metrics.Option{{Name: "high_sc", Default: "median", About: "from it on Sc is high: a number, or the median of the model's scores"}, {Name: "high_dt", Default: "median", About: "from it on Dt is high: a number, or the median of the model's scores"}},
		tabular.Fixed("=model", "=language", "=concept", "=kind", "cross_consistency", "text_match", "self_consistency", "inverse_distinctiveness", "high_sc", "high_dt"), computeFailures)
}

// intervalName says what the intervals of a table are, "" where it has none.
func intervalName(draws int, over string) string {
	if draws == 0 {
		return ""
	}
	return "95 % bootstrap interval over " + over
}

func triple(v Value) []any { return []any{v.Value, v.Low, v.High} }

func readOptions(call metrics.Call) (Options, Rule, error) {
	o, _, err := ProfileOf(call.Options["profile"])
	if err != nil {
		return o, Rule{}, err
	}
	for name, into := range map[string]*string{"self": (*string)(&o.Self), "sample": (*string)(&o.Sample), "own": (*string)(&o.Own), "replacement": (*string)(&o.Replacement), "product": (*string)(&o.Product)} {
		if v := call.Options[name]; v != profileReading {
			*into = v
		}
	}
	if call.Options["m"] != profileReading {
		if o.M, err = tabular.Count(call, "m"); err != nil {
			return o, Rule{}, err
		}
	}
	if o.Draws, err = tabular.Count(call, "draws"); err != nil {
		return o, Rule{}, err
	}
	o.Word, o.Seed = call.Options["word"], call.Seed
	r := Rule{When: call.Options["when"]}
	if r.Xc, err = tabular.Number(call, "xc_below"); err != nil {
		return o, r, err
	}
	r.Wc, err = tabular.Number(call, "wc_below")
	return o, r, err
}

func computeScores(ctx context.Context, call metrics.Call) (*client.Frame, error) {
	o, rule, err := readOptions(call)
	if err != nil {
		return nil, err
	}
	in, err := readInput(call)
	if err != nil {
		return nil, err
	}
	joint := ""
	if call.Inputs["words"] != nil {
		joint = call.Options["joint"]
	}
	var out [][]any
	var without []string // by model: how many cells lack images in the source language
	for i, set := range in.sets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if call.Progress != nil {
			call.Progress(client.Progress{Stage: "CoCo-CroLa scores", Done: i, Total: len(in.sets)})
		}
		if o.Source, err = SourceOf(call.Options["source"], in.asked(set.Model)); err != nil {
			return nil, err
		}
		word := o.Word
		if word == "source" {
			word = o.Source
		}
		scores, err := Score(set, o)
		if err != nil {
			return nil, in.locate(err, call, word)
		}
		lacking := 0
		for _, s := range scores {
			if s.Used > 0 && s.Reference == 0 {
				lacking++
			}
			possessed, err := rule.Possessed(s.Xc.Value, s.Wc.Value)
			if err != nil {
				return nil, err
			}
			n := in.counts[set.Model][s.Cell]
			row := append([]any{set.Model, s.Language, s.Concept}, triple(s.Dt)...)
			row = append(row, 1-s.Dt.Value, 1-s.Dt.High, 1-s.Dt.Low)
			row = append(append(append(row, triple(s.Sc)...), triple(s.Xc)...), triple(s.Wc)...)
			out = append(out, append(row, possessed, n.asked, n.refused, s.Used, s.Reference, s.Others, s.Text, o.Source, call.Options["vector"], joint, call.Options["profile"], intervalName(o.Draws, "pictures")))
		}
		if lacking > 0 {
			without = append(without, fmt.Sprintf("%s (%d cells, source language %s)", set.Model, lacking, o.Source))
		}
	}
	if len(without) > 0 && call.Note != nil {
		call.Note("cells with images but none in the source language have no cross-consistency; by model: %s", strings.Join(without, ", "))
	}
	return tabular.Result("cococrola-scores", call, out)
}

func computeMeans(_ context.Context, call metrics.Call) (*client.Frame, error) {
	_, treat, err := ProfileOf(call.Options["profile"])
	if err != nil {
		return nil, err
	}
	if v := call.Options["blank"]; v != profileReading {
		treat = Blank(v)
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, m := range Means(rows, treat, draws, call.Seed) {
		row := []any{m.Model, m.Language}
		for _, v := range []Value{m.Dt, m.Sc, m.Xc, m.Wc, m.Possessed} {
			row = append(row, triple(v)...)
		}
		out = append(out, append(row, m.Asked, m.Used, m.Text, m.Answered, string(treat), intervalName(draws, "concepts")))
	}
	return tabular.Result("cococrola-means", call, out)
}

// rounded is a mean as Table 2 prints it: ×100 (Wc is so already), an integer.
func rounded(score string, v float64) float64 { return math.Round(percent(score, v)) }

func percent(score string, v float64) float64 {
	if score == "Xc" {
		return 100 * v
	}
	return v
}
