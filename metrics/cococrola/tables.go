package cococrola

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/cococrola"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// correctness are the two scores of Table 2 with their columns.
var correctness = []struct{ name, column string }{{"Xc", "cross_consistency"}, {"Wc", "text_match"}}

// readMeans gives means by model and language for each score of Table 2.
func readMeans(f *client.Frame) (map[string]map[[2]string]float64, error) {
	out := map[string]map[[2]string]float64{}
	models, languages := f.Texts("model"), f.Texts("language")
	for _, s := range correctness {
		out[s.name] = map[[2]string]float64{}
		for i, v := range f.Numbers(s.column) {
			key := [2]string{models[i], languages[i]}
			if _, twice := out[s.name][key]; twice {
				return nil, client.BadRow{Row: i + 1, ID: models[i], Column: "language", Reason: "another row has the same model and language"}
			}
			out[s.name][key] = v
		}
	}
	return out, nil
}

// head names a column of Table 2.
func head(language, score string) string {
	if language != data.Average {
		language = strings.ToUpper(language)
	}
	return language + " " + score
}

func layoutColumns(args metrics.Args) []client.ColumnSpec {
	list, given := args.Options["languages"]
	if !given {
		list = tableOptions[0].Default
	}
	names := []string{"=model"}
	for _, l := range datasets.SplitColumns(list) {
		for _, s := range correctness {
			names = append(names, head(l, s.name))
		}
	}
	return tabular.Specs(names...)
}

func computeLayout(_ context.Context, call metrics.Call) (*client.Frame, error) {
	means, err := readMeans(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	models := slices.Clone(call.Inputs["in"].Texts("model"))
	slices.SortFunc(models, compareModels)
	var out [][]any
	for _, m := range slices.Compact(models) {
		row := []any{m}
		for _, l := range datasets.SplitColumns(call.Options["languages"]) {
			for _, s := range correctness {
				v, known := means[s.name][[2]string{m, l}]
				if !known {
					v = math.NaN()
				}
				row = append(row, rounded(s.name, v))
			}
		}
		out = append(out, row)
	}
	return tabular.Result("cococrola-table", call, out)
}

func computeCells(_ context.Context, call metrics.Call) (*client.Frame, error) {
	means, err := readMeans(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	printed, err := data.PrintedTable()
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, p := range printed {
		for _, s := range correctness {
			was := map[string]float64{"Xc": p.Xc, "Wc": p.Wc}[s.name]
			v, known := means[s.name][[2]string{p.Model, p.Language}]
			if !known || math.IsNaN(v) || math.IsNaN(was) {
				continue
			}
			v = percent(s.name, v)
			equal := 0
			if math.Abs(v-was) <= 0.5*(1+1e-9) {
				equal = 1
			}
			out = append(out, []any{p.Model, p.Language, s.name, was, v, v - was, equal})
		}
	}
	return tabular.Result("cococrola-cells", call, out)
}

func computeWins(_ context.Context, call metrics.Call) (*client.Frame, error) {
	means, err := readMeans(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, s := range correctness {
		if call.Options["round"] == "integer" {
			for key, v := range means[s.name] {
				means[s.name][key] = rounded(s.name, v)
			}
		}
		for _, w := range Wins(means[s.name]) {
			out = append(out, []any{w.Model, s.name, len(w.Languages), len(w.Shared), strings.Join(w.Languages, ", "), strings.Join(w.Shared, ", ")})
		}
	}
	return tabular.Result("cococrola-wins", call, out)
}

func computeRanking(_ context.Context, call metrics.Call) (*client.Frame, error) {
	top, err := tabular.Count(call, "top")
	if err != nil {
		return nil, err
	}
	f, name := call.Inputs["in"], call.Options["score"]
	rows, err := readScored(f)
	if err != nil {
		return nil, err
	}
	at := func(column string, row int) float64 {
		if v := f.Numbers(column); v != nil {
			return v[row]
		}
		return math.NaN()
	}
	var out [][]any
	for _, r := range Rank(rows, scoreOf(name), call.Options["order"] == "ascending", top) {
		s := rows[r.Row]
		used := at("n_used", r.Row)
		if name == "text_match" {
			used = at("n_text", r.Row)
		}
		out = append(out, []any{s.Model, s.Language, r.Rank, s.Concept, name, scoreOf(name)(s), at(name+"_low", r.Row), at(name+"_high", r.Row), r.Of, used, call.Options["order"]})
	}
	return tabular.Result("cococrola-ranking", call, out)
}

func computeCorrelations(_ context.Context, call metrics.Call) (*client.Frame, error) {
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	public := call.Options["profile"] == PublicCode
	except := datasets.SplitColumns(call.Options["except"])
	if call.Options["except"] == profileReading {
		if except = nil; public {
			except = []string{"CogView 2"}
		}
	}
	drop := call.Options["outside"] == "drop" || (call.Options["outside"] == profileReading && public)
	rows = slices.DeleteFunc(rows, func(s Scored) bool { return slices.Contains(except, s.Model) })
	value := func(s Scored) float64 {
		v := scoreOf(call.Options["score"])(s)
		if drop && (v < 0 || v > 1) {
			return math.NaN()
		}
		return v
	}
	var out [][]any
	for _, c := range Correlations(rows, value, call.Options["models"] == "pooled", draws, call.Seed) {
		model := c.Model
		if model == "" {
			model = "all"
		}
		out = append(out, []any{c.A, c.B, model, c.R.Value, c.R.Low, c.R.High, c.R.Value * c.R.Value, c.Slope, c.Intercept, c.Used, c.Concepts, call.Options["score"], call.Options["profile"], intervalName(draws, "concepts")})
	}
	return tabular.Result("cococrola-correlations", call, out)
}

func computeFailures(_ context.Context, call metrics.Call) (*client.Frame, error) {
	rows, err := readScored(call.Inputs["in"])
	if err != nil {
		return nil, err
	}
	threshold := func(option, score string) (func(model string) float64, error) {
		if text := call.Options[option]; text != "median" {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(x) {
				return nil, fmt.Errorf("option %s=%q: give a number or median", option, text)
			}
			return func(string) float64 { return x }, nil
		}
		by := map[string][]float64{}
		for _, s := range rows {
			if v := scoreOf(score)(s); !math.IsNaN(v) {
				by[s.Model] = append(by[s.Model], v)
			}
		}
		for _, v := range by {
			sort.Float64s(v)
		}
		return func(model string) float64 { return tabular.Quantile(by[model], 0.5) }, nil
	}
	sc, err := threshold("high_sc", "self_consistency")
	if err != nil {
		return nil, err
	}
	dt, err := threshold("high_dt", "inverse_distinctiveness")
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, s := range rows {
		if s.Possessed == No {
			highSc, highDt := sc(s.Model), dt(s.Model)
			out = append(out, []any{s.Model, s.Language, s.Concept, KindOf(s.Sc, s.Dt, highSc, highDt), s.Xc, s.Wc, s.Sc, s.Dt, highSc, highDt})
		}
	}
	return tabular.Result("cococrola-failures", call, out)
}
