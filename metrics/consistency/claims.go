package consistency

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
	"antipode/metrics/internal/labels"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// ClaimOptions are the options of [Claims] and [Values].
type ClaimOptions struct {
	Labels []string `json:"labels,omitempty" help:"labels of models in the paper, each as MODEL=LABEL; others by the paper's list of names"`
}

// claimRow is a row of [Claims].
type claimRow struct {
	Claim   string  `column:"claim"`
	Verdict string  `column:"verdict" help:"pass, FAIL or undecided"`
	AName   string  `column:"a_name"`
	BName   string  `column:"b_name"`
	A       float64 `column:"a"`
	B       float64 `column:"b"`
	Low     float64 `column:"difference_low" help:"interval of a − b"`
	High    float64 `column:"difference_high"`
}

var inStudy = []datasets.Input{
	{Role: "scores", Columns: datasets.Columns("model:text", "language:text", "score:text", "value:number"),
		About: "one row per model, language and score (CLGC, IGC, LGC, SCWL, DWL)"},
	{Role: "pairs", Optional: true, About: "SCAL by model and pair of languages",
		Columns: datasets.Columns("model:text", "language_a:text", "language_b:text", "kind:text", "scal:number")},
}

var claims = datasets.Define(datasets.Operation[ClaimOptions, claimRow]{
	Name: "indictti-claims", Title: "the findings of IndicTTI as expectations of a new run: pass, FAIL or undecided",
	Version: 3, Citation: citation + ", section 6 and supplement", Inputs: inStudy,
	Compute: func(_ context.Context, call *datasets.Call, o ClaimOptions) (out []claimRow, err error) {
		s, err := readLabeled(call, "scores", o.Labels)
		if err != nil {
			return nil, err
		}
		for _, c := range s.claims() {
			d := c.a.Minus(c.b)
			out = append(out, claimRow{c.name, d.Within(0, math.Inf(1)), c.aName, c.bName, c.a.Value, c.b.Value, d.Low,
				d.High})
		}
		return out, nil
	},
})

// Claims is the table operation indictti-claims: the findings that the paper states without a number, as expectations
// of a new run, one row each with the two numbers that it compares; a above b passes. Where the scores have intervals,
// a claim is undecided if the interval of a − b contains 0 (interval.Bounded; the ends of a mean over languages are the
// means of theirs, which is wide enough however the languages' scores are correlated). scores has a row for each model,
// language and score (CLGC, IGC, LGC, SCWL, DWL) with the column value; pairs is [SCAL] by model, or the zero Table. A
// claim whose models or languages are missing has no row: those about one model need that model alone, and those that
// name no model are about every model.
func Claims(scores, pairs datasets.Table, options ...ClaimOptions) datasets.Table {
	return claims.Table(map[string]datasets.Table{"scores": scores, "pairs": pairs}, options...)
}

// paperScores holds the scores of a run by the labels of the paper; other models keep their names.
type paperScores struct {
	of     map[string]string // model of the table by label
	models []string
	cells  map[[3]string]scored                      // score, model, language
	pairs  map[string]map[[2]string]interval.Bounded // by model; pairs of different languages
}

// scored is a value with its interval and number of images.
type scored struct {
	interval.Bounded
	n float64
}

func readLabeled(call *datasets.Call, role string, given []string) (paperScores, error) {
	s := paperScores{cells: map[[3]string]scored{}, pairs: map[string]map[[2]string]interval.Bounded{}}
	in := tabular.Read(call, role)
	models, languages, scores, values := in.Texts("model"), in.Texts("language"), in.Texts("score"), in.Numbers("value")
	if in.Err != nil {
		return s, in.Err
	}
	var err error
	s.of, err = labels.Models{Printed: indictti.Models, Names: indictti.ModelNames}.Of(models, given)
	if err != nil {
		return s, err
	}
	label := map[string]string{}
	for l, model := range s.of {
		label[model] = l
	}
	name := func(model string) string {
		if l := label[model]; l != "" {
			return l
		}
		return model
	}
	low, high, n := tabular.NumberOf(in.Frame, "value_low"), tabular.NumberOf(in.Frame, "value_high"),
		tabular.NumberOf(in.Frame, "n")
	for i, score := range scores {
		key := [3]string{score, name(models[i]), languages[i]}
		if _, twice := s.cells[key]; twice {
			return s, table.BadRow{Row: in.Frame.RowNumber(i), ID: key[1], Column: "score",
				Reason: fmt.Sprintf("the model has two values of %s for %s", score, key[2])}
		}
		s.cells[key] = scored{interval.Bounded{Value: values[i], Low: low(i), High: high(i)}, n(i)}
		if !slices.Contains(s.models, key[1]) {
			s.models = append(s.models, key[1])
		}
	}
	if call.Inputs["pairs"] == nil {
		return s, nil
	}
	p := tabular.Read(call, "pairs")
	names, as, bs, kinds, scal := p.Texts("model"), p.Texts("language_a"), p.Texts("language_b"), p.Texts("kind"),
		p.Numbers("scal")
	if p.Err != nil {
		return s, p.Err
	}
	low, high = tabular.NumberOf(p.Frame, "scal_low"), tabular.NumberOf(p.Frame, "scal_high")
	for i, model := range names {
		if kinds[i] == "SCAL" {
			if s.pairs[name(model)] == nil {
				s.pairs[name(model)] = map[[2]string]interval.Bounded{}
			}
			s.pairs[name(model)][[2]string{as[i], bs[i]}] = interval.Bounded{Value: scal[i], Low: low(i),
				High: high(i)}
		}
	}
	return s, nil
}

// values returns a model's values of a score in the languages that keep selects, sorted.
func (s paperScores) values(score, model string, keep func(language string) bool) (values []interval.Bounded) {
	for key, c := range s.cells {
		if key[0] == score && key[1] == model && keep(key[2]) && !math.IsNaN(c.Value) {
			values = append(values, c.Bounded)
		}
	}
	sortValues(values)
	return values
}

// sortValues sorts values of a map, for the same results in every run.
func sortValues(values []interval.Bounded) {
	slices.SortFunc(values, func(a, b interval.Bounded) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High))
	})
}

// mean returns the mean of a model's score over the languages that keep selects; NaN without one.
func (s paperScores) mean(score, model string, keep func(language string) bool) interval.Bounded {
	return meanValue(s.values(score, model, keep))
}

// between is mean for the pairs of languages.
func (s paperScores) between(model string, keep func(a, b string) bool) interval.Bounded {
	var values []interval.Bounded
	for pair, v := range s.pairs[model] {
		if keep(pair[0], pair[1]) && !math.IsNaN(v.Value) {
			values = append(values, v)
		}
	}
	sortValues(values)
	return meanValue(values)
}

// meanValue returns the means of values and of the ends of their intervals; 0/0 is NaN.
func meanValue(values []interval.Bounded) (sum interval.Bounded) {
	for _, v := range values {
		sum = interval.Bounded{Value: sum.Value + v.Value, Low: sum.Low + v.Low, High: sum.High + v.High}
	}
	n := float64(len(values))
	return interval.Bounded{Value: sum.Value / n, Low: sum.Low / n, High: sum.High / n}
}

// extremes returns the smallest and the largest value of a model's score in the selected languages; NaN without one.
func (s paperScores) extremes(score, model string, keep func(language string) bool) (least, most interval.Bounded) {
	values := s.values(score, model, keep)
	if len(values) == 0 {
		none := interval.Bounded{Value: math.NaN()}
		return none, none
	}
	return values[0], values[len(values)-1]
}

// claim is an expectation: a is above b.
type claim struct {
	name, aName, bName string
	a, b               interval.Bounded
}

func other(language string) bool     { return language != indictti.English }
func english(language string) bool   { return language == indictti.English }
func bengali(language string) bool   { return strings.HasSuffix(language, "_Beng") }
func unwritten(language string) bool { return language == "sat_Olck" || language == "mni_Mtei" }
func unknown(language string) bool {
	return unwritten(language) || language == "brx_Deva" || language == "mni_Beng"
}

func without(drop func(string) bool) func(string) bool {
	return func(language string) bool { return other(language) && !drop(language) }
}

// claims returns the expectations that can be computed, in the order of the paper.
func (s paperScores) claims() (out []claim) {
	add := func(name, aName string, a interval.Bounded, bName string, b interval.Bounded) {
		if !math.IsNaN(a.Value) && !math.IsNaN(b.Value) {
			out = append(out, claim{name, aName, bName, a, b})
		}
	}
	const sd, alt, m9, mj, dalle = "Stable Diffusion", "Alt Diffusion", "Alt Diffusion m9", "Midjourney", "Dalle3"
	correctness := []string{"CLGC", "IGC", "LGC"}
	for _, score := range correctness {
		for _, m := range s.models {
			add(fmt.Sprintf("claims 2 to 7: %s higher in English than in other languages, %s", score, m), "English",
				s.mean(score, m, english), "others", s.mean(score, m, other))
		}
	}
	for _, m := range s.models {
		add("claim 9: CLGC low for languages in Bengali script, "+m, "others", s.mean("CLGC", m, without(bengali)),
			"Bengali", s.mean("CLGC", m, bengali))
	}
	// against compares a model with the highest (sign 1) or lowest (−1) of others, over languages, if all are there.
	against := func(name, score, model string, sign float64, keep func(string) bool, others ...string) {
		best, of := interval.Bounded{Value: math.NaN()}, ""
		for _, m := range others {
			v := s.mean(score, m, keep)
			if math.IsNaN(v.Value) {
				return
			}
			if !(sign*v.Value <= sign*best.Value) {
				best, of = v, m
			}
		}
		if v := s.mean(score, model, keep); sign > 0 {
			add(name+", "+score, model, v, of, best)
		} else {
			add(name+", "+score, of, best, model, v)
		}
	}
	for _, score := range correctness {
		against("claim 10: Dalle3 highest in other languages", score, dalle, 1, other, sd, alt, mj)
		against("claim 10: Alt Diffusion next after Dalle3 in other languages", score, alt, 1, other, sd, mj)
		against("claim 10: Alt Diffusion lowest in English", score, alt, -1, english, sd, mj, dalle)
	}
	overall := func(m string) interval.Bounded { return s.between(m, func(a, b string) bool { return true }) }
	rising := []string{m9, alt, sd, mj, dalle}
	for i, low := range rising[:4] {
		add(fmt.Sprintf("claim 11: overall SCAL of %s above that of %s", rising[i+1], low), rising[i+1],
			overall(rising[i+1]), low, overall(low))
	}
	for _, score := range correctness {
		against("claim 12: Alt Diffusion m9 highest but for Dalle3 in other languages", score, m9, 1, other, sd, alt,
			mj)
		against("claim 12: Alt Diffusion m9 lowest in English", score, m9, -1, english, sd, alt, mj, dalle)
	}
	against("claim 13: Alt Diffusion m9 more distinct than the other open models", "DWL", m9, 1, other, sd, alt)
	against("claim 13: Alt Diffusion m9 less consistent than the other open models", "SCWL", m9, -1, other, sd, alt)
	falling := []string{dalle, alt, sd, mj}
	for i, high := range falling[:3] {
		add(fmt.Sprintf("claim 14: DWL of %s above that of %s", high, falling[i+1]), high, s.mean("DWL", high, other),
			falling[i+1], s.mean("DWL", falling[i+1], other))
	}
	lowest := func(name, score, model, of string, few func(string) bool) {
		least, _ := s.extremes(score, model, without(few))
		_, most := s.extremes(score, model, few)
		add(name, "others", least, of, most)
	}
	const two, four = "sat_Olck and mni_Mtei", "sat_Olck, mni_Mtei, brx_Deva and mni_Beng"
	lowest("claim 14: DWL of Dalle3 lowest in "+two, "DWL", dalle, two, unwritten)
	for _, m := range s.models {
		add("claim 15: SCWL higher in English than in other languages, "+m, "English", s.mean("SCWL", m, english),
			"others", s.mean("SCWL", m, other))
	}
	lowest("claim 15: SCWL of Dalle3 lowest in "+four, "SCWL", dalle, four, unknown)
	lowest("claim 15: SCWL of Midjourney lowest in "+two, "SCWL", mj, two, unwritten)
	for _, m := range s.models {
		if m != dalle && m != m9 {
			add("claim 16: other languages more similar to each other than to English, "+m, "each other",
				s.between(m, func(a, b string) bool { return other(a) && other(b) }), "English",
				s.between(m, func(a, b string) bool { return english(a) }))
		}
	}
	devanagari := func(a, b string) bool {
		return strings.HasSuffix(a, "_Deva") && strings.HasSuffix(b, "_Deva")
	}
	add("claim 16: SCAL higher within Devanagari, Midjourney", "Devanagari", s.between(mj, devanagari), "others",
		s.between(mj, func(a, b string) bool { return other(a) && other(b) && !devanagari(a, b) }))
	add("claim 16: SCAL of English lower with "+four+", Dalle3", "other languages",
		s.between(dalle, func(a, b string) bool { return english(a) && !unknown(b) }), four,
		s.between(dalle, func(a, b string) bool { return english(a) && unknown(b) }))
	return out
}
