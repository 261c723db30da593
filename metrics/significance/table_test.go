package significance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// scored is a table of images' scores: three groups over the same prompts, two images of each, under two models;
// some have no value.
func scored(rng *rand.Rand, missing float64) *table.Frame {
	var ids, models, groups, prompts []string
	var values []float64
	for _, model := range []string{"k", "m"} {
		for k := range 12 {
			effect := rng.NormFloat64()
			for g, group := range []string{"en", "hi", "ta"} {
				for r := range 2 {
					v := effect + 0.5*float64(g) + 0.3*rng.NormFloat64()
					if rng.Float64() < missing {
						v = math.NaN()
					}
					ids = append(ids, fmt.Sprint(model, k, group, r))
					models, groups, prompts, values = append(models, model), append(groups, group),
						append(prompts, fmt.Sprint("p", k)), append(values, v)
				}
			}
		}
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("model", models),
		table.TextColumn("language", groups), table.TextColumn("prompt_id", prompts),
		table.NumberColumn("score", values)}}
}

var byLanguage = map[string]string{"value": "score", "group": "language"}

func with(options map[string]string, pairs ...string) map[string]string {
	out := map[string]string{}
	for k, v := range options {
		out[k] = v
	}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

func run(t *testing.T, metric string, in *table.Frame, options map[string]string, by ...string) *table.Frame {
	t.Helper()
	f := must.Get(tabulartest.Run(metric, in, options, by...))(t)
	must.Do(t, f.Check())
	return f
}

// pick returns the values of a group's rows by prompt, in the order of the table.
func pick(f *table.Frame, model, language string) map[string][]float64 {
	out := map[string][]float64{}
	for i, v := range f.Numbers("score") {
		if f.Texts("model")[i] == model && f.Texts("language")[i] == language && !math.IsNaN(v) {
			out[f.Texts("prompt_id")[i]] = append(out[f.Texts("prompt_id")[i]], v)
		}
	}
	return out
}

func flat(by map[string][]float64) (out []float64) {
	for _, v := range by {
		out = append(out, v...)
	}
	return out
}

// The metrics equal the pure functions on values selected by hand, whatever the order of the rows and
// whoever else is in the table.
func TestTablesEqualFunctions(t *testing.T) {
	rng := near.Rand(t, 81)
	f := scored(rng, 0.1)
	moved := f.Pick(rng.Perm(f.Len()))
	p := run(t, "permutation-test", moved, with(byLanguage, "resamples", "300"), "model")
	e := run(t, "effect-size", moved, with(byLanguage, "resamples", "50"), "model")
	if p.Len() != 6 || e.Len() != 6 {
		t.Fatal(p.Len(), e.Len())
	}
	for i := range 6 {
		model, a, b := p.Texts("model")[i], p.Texts("group_a")[i], p.Texts("group_b")[i]
		x, y := flat(pick(f, model, a)), flat(pick(f, model, b))
		slices.Sort(x)
		slices.Sort(y)
		want := must.Get(Means(x, y, 300, 1))(t)
		d, _ := CohensD(x, y)
		delta, _ := CliffsDelta(x, y)
		for name, c := range map[string][2]float64{"p": {p.Numbers("p")[i], want.P},
			"difference": {p.Numbers("difference")[i], want.Difference}, "d": {p.Numbers("cohens_d")[i], d},
			"delta":     {e.Numbers("cliffs_delta")[i], delta},
			"effect":    {e.Numbers("difference")[i], want.Difference},
			"ratio":     {e.Numbers("ratio")[i], mean(x) / mean(y)},
			"n_a":       {p.Numbers("n_a")[i], float64(len(x))},
			"n_missing": {p.Numbers("n_missing")[i], float64(48 - len(x) - len(y))}} {
			check(t, fmt.Sprint(model, a, b, " ", name), c[0], c[1], 1e-9)
		}
		if low, high := e.Numbers("difference_low")[i], e.Numbers("difference_high")[i]; !(low < want.Difference &&
			want.Difference < high) {
			t.Errorf("difference %v in [%v, %v]", want.Difference, low, high)
		}
	}
	holm, bh, err := adjusted(p.Numbers("p"))
	if err != nil || near.Compare(p.Numbers("p_holm"), holm, 0, 1e-12) != nil || near.Compare(p.Numbers("p_bh"), bh, 0,
		1e-12) != nil || p.Numbers("n_tests")[5] != 6 {
		t.Errorf("family %v, %v, %v", p.Numbers("p_holm"), holm, err)
	}
	alone := f.Pick(rows(f, "model", "m"))
	single := run(t, "permutation-test", alone, with(byLanguage, "resamples", "300"), "model")
	near.Check(t, "next to another model", single.Numbers("p"), p.Numbers("p")[3:], 0, 0)
}

func rows(f *table.Frame, column, value string) (out []int) {
	for i, v := range f.Texts(column) {
		if v == value {
			out = append(out, i)
		}
	}
	return out
}

// With units, rows of a prompt are averaged, and pairs are pairs of prompts; the gap that prompts hide is found by
// the paired test alone.
func TestUnitsAndPairs(t *testing.T) {
	rng := near.Rand(t, 82)
	f := scored(rng, 0).Pick(rows(scored(near.Rand(t, 82), 0), "model", "m"))
	f.Columns[4].Numbers = slices.Clone(f.Columns[4].Numbers)
	for i, prompt := range f.Texts("prompt_id") {
		if prompt == "p3" && f.Texts("language")[i] == "hi" {
			f.Columns[4].Numbers[i] = math.NaN() // no value of this prompt in this language
		}
	}
	paired := run(t, "permutation-test", f.Pick(rng.Perm(f.Len())), with(byLanguage, "unit", "prompt_id", "paired",
		"true", "against", "en"))
	loose := run(t, "permutation-test", f, with(byLanguage, "unit", "prompt_id", "against", "en"))
	if paired.Len() != 2 || paired.Texts("group_a")[0] != "hi" || paired.Texts("group_b")[0] != "en" ||
		paired.Numbers("n_a")[0] != 11 || paired.Numbers("n_left_out")[0] != 1 || paired.Numbers("n_missing")[0] != 2 ||
		loose.Numbers("n_a")[0] != 11 || loose.Numbers("n_b")[0] != 12 {
		t.Fatalf("%v", datasets.Format(paired, 0))
	}
	x, y := pick(f, "m", "ta"), pick(f, "m", "en")
	var differences []float64
	for prompt := range x {
		differences = append(differences, mean(x[prompt])-mean(y[prompt]))
	}
	want, err := Paired(differences, 10, 1)
	if err != nil || !want.Exact {
		t.Fatal(err)
	}
	check(t, "paired p", paired.Numbers("p")[1], want.P, 1e-12)
	check(t, "paired difference", paired.Numbers("difference")[1], want.Difference, 1e-9)
	if !(paired.Numbers("p")[1] < 0.01) || paired.Texts("exact")[1] != "yes" {
		t.Errorf("a gap of 1 between paired prompts: p %v", paired.Numbers("p")[1])
	}
	if !(loose.Numbers("p")[1] > paired.Numbers("p")[1]) {
		t.Errorf("p of pairs %v, of loose prompts %v", paired.Numbers("p")[1], loose.Numbers("p")[1])
	}
	effect := run(t, "effect-size", f, with(byLanguage, "unit", "prompt_id", "against", "en"))
	whole := run(t, "effect-size", f, with(byLanguage, "against", "en"))
	if wide, narrow := whole.Numbers("difference_high")[1]-whole.Numbers("difference_low")[1],
		effect.Numbers("difference_high")[1]-effect.Numbers("difference_low")[1]; !(narrow < wide) {
		t.Errorf("prompts that both groups share: interval %v wide, of loose rows %v", narrow, wide)
	}
	must.Equal(t, effect.Texts("interval")[0], "95 % bootstrap interval over prompt_id")
}

// The same values in both groups: p is 1, effects 0; groups swapped: signs turn; a larger gap: smaller p, larger
// effects.
func TestIdentityAndDirection(t *testing.T) {
	rng := near.Rand(t, 83)
	base := normal(rng, 9, 2)
	tab := func(shift float64, a, b string) *table.Frame {
		var groups []string
		var values []float64
		for _, v := range base {
			groups, values = append(groups, a, b), append(values, v, v+shift)
		}
		return &table.Frame{Columns: []table.Column{table.TextColumn("group", groups),
			table.NumberColumn("value", values)}}
	}
	same := run(t, "permutation-test", tab(0, "a", "b"), nil)
	if same.Numbers("p")[0] != 1 || same.Numbers("difference")[0] != 0 || same.Numbers("cliffs_delta")[0] != 0 {
		t.Errorf("%v", datasets.Format(same, 0))
	}
	small, large := run(t, "permutation-test", tab(0.5, "a", "b"), nil),
		run(t, "permutation-test", tab(2, "a", "b"), nil)
	if !(large.Numbers("p")[0] < small.Numbers("p")[0]) ||
		!(large.Numbers("cohens_d")[0] < small.Numbers("cohens_d")[0] && small.Numbers("cohens_d")[0] < 0) {
		t.Errorf("p %v and %v, d %v and %v", small.Numbers("p"), large.Numbers("p"), small.Numbers("cohens_d"),
			large.Numbers("cohens_d"))
	}
	turned := run(t, "effect-size", tab(2, "b", "a"), nil)
	straight := run(t, "effect-size", tab(2, "a", "b"), nil)
	check(t, "difference of swapped groups", turned.Numbers("difference")[0], -straight.Numbers("difference")[0], 1e-12)
	check(t, "delta of swapped groups", turned.Numbers("cliffs_delta")[0], -straight.Numbers("cliffs_delta")[0], 1e-12)
	check(t, "ratio of swapped groups", turned.Numbers("ratio")[0]*straight.Numbers("ratio")[0], 1, 1e-12)
}

// Labels of 0 and 1: h, and the shares that are distinguishable; means of 0 have no ratio.
func TestShares(t *testing.T) {
	var groups []string
	var values []float64
	for i := range 100 {
		groups, values = append(groups, "a", "b", "none"), append(values, float64(min(1, i/70)), float64(min(1, i/40)),
			0)
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("group", groups),
		table.NumberColumn("value", values)}}
	e := run(t, "effect-size", f, nil)
	check(t, "h", e.Numbers("cohens_h")[0], CohensH(0.3, 0.6), 1e-12)
	check(t, "ratio", e.Numbers("ratio")[0], 0.5, 1e-12)
	if !math.IsNaN(e.Numbers("ratio")[1]) || !math.IsNaN(e.Numbers("ratio_low")[1]) ||
		math.IsNaN(e.Numbers("difference_low")[1]) {
		t.Errorf("a ratio to 0: %v", datasets.Format(e, 0))
	}
}

// What is missing is counted and blank; what is wrong is named.
func TestTableEdges(t *testing.T) {
	nan := math.NaN()
	tab := func(groups string, values ...float64) *table.Frame {
		return &table.Frame{Columns: []table.Column{table.TextColumn("group", strings.Split(groups, "")),
			table.NumberColumn("value", values)}}
	}
	p := run(t, "permutation-test", tab("aabbc", 1, 2, nan, nan, 3), nil)
	if p.Len() != 3 || p.Texts("reason")[0] != "no values of b" || !math.IsNaN(p.Numbers("p")[0]) ||
		p.Numbers("n_missing")[0] != 2 || p.Numbers("n_tests")[0] != 0 || p.Numbers("n_tests")[1] != 1 ||
		!math.IsNaN(p.Numbers("cohens_d")[1]) {
		t.Errorf("an empty group: %v", datasets.Format(p, 0))
	}
	must.Equal(t, p.Numbers("p_holm")[1], p.Numbers("p")[1], "the family")
	must.Near(t, p.Numbers("p_holm")[2], math.NaN(), 0, "the family")
	e := run(t, "effect-size", tab("aabbc", 1, 2, nan, nan, 3), nil)
	must.Near(t, e.Numbers("difference")[0], math.NaN(), 0)
	must.Equal(t, e.Numbers("difference")[1], -1.5)
	must.Near(t, e.Numbers("difference_low")[1], math.NaN(), 0)
	must.Equal(t, e.Texts("interval")[1], "")
	e = run(t, "effect-size", tab("aabb", 1, 1, 2, 2), nil)
	must.Near(t, e.Numbers("cohens_d")[0], math.NaN(), 0, "no deviation within groups")
	for _, metric := range []string{"permutation-test", "effect-size", "clustered-mean", "adjust-p"} {
		column := "value"
		if metric == "adjust-p" {
			column = "p"
		}
		must.Equal(t, run(t, metric, (&table.Frame{Columns: []table.Column{table.TextColumn("group", nil),
			table.NumberColumn(column, nil)}}), nil).Len(), 0, metric, "of an empty table", "rows")
	}
	alone := run(t, "permutation-test", tab("aaa", 1, 2, 3), nil)
	must.Equal(t, alone.Len(), 0, "one group")
	ascending := make([]float64, 40)
	for i := range ascending {
		ascending[i] = float64(i)
	}
	twice := tab("ab", 1, 2).With(table.TextColumn("id", []string{"x", "x"}))
	for want, c := range map[string]struct {
		metric  string
		in      *table.Frame
		options map[string]string
	}{
		`row 2 (id "x"), column id`: {"permutation-test", twice, nil},
		"row 1 has the same id":     {"clustered-mean", twice, nil},
		"the value is infinite":     {"effect-size", tab("ab", 1, math.Inf(1)), nil},
		`no such column: "prompt_id"`: {"effect-size", tab("ab", 1, 2),
			map[string]string{"unit": "prompt_id"}},
		`there is no group "c"`: {"permutation-test", tab("ab", 1, 2),
			map[string]string{"against": "c"}},
		"set unit": {"permutation-test", tab("ab", 1, 2),
			map[string]string{"paired": "true"}},
		"level is 95; it must be above 0 and below 1": {"effect-size", tab("ab", 1, 2),
			map[string]string{"level": "95"}},
		`no such column: "score"`: {"permutation-test", tab("ab", 1, 2),
			map[string]string{"value": "score"}},
		"a permutation test of 40 values needs": {"permutation-test",
			tab(strings.Repeat("ab", 20), ascending...), map[string]string{"resamples": "0"}},
	} {
		must.Fail(tabulartest.Run(c.metric, c.in, c.options))(t, want)
	}
}

// The intervals of effect-size contain the true value at their nominal level: groups that share prompts with effects
// of their own, true difference 0.5, true ratio 1.25.
func TestCalibrationOfEffects(t *testing.T) {
	rng := near.Rand(t, 85)
	const trials = 300
	differences, ratios := 0, 0
	for range trials {
		var groups, prompts []string
		var values []float64
		for k := range 30 {
			effect := 0.5 * rng.NormFloat64()
			for range 3 {
				groups, prompts, values = append(groups, "a", "b"), append(prompts, fmt.Sprint(k), fmt.Sprint(k)),
					append(values, 2.5+effect+rng.NormFloat64(), 2+effect+rng.NormFloat64())
			}
		}
		f := &table.Frame{Columns: []table.Column{table.TextColumn("group", groups),
			table.TextColumn("prompt_id", prompts), table.NumberColumn("value", values)}}
		e := run(t, "effect-size", f, map[string]string{"unit": "prompt_id", "resamples": "300"})
		if e.Numbers("difference_low")[0] <= 0.5 && 0.5 <= e.Numbers("difference_high")[0] {
			differences++
		}
		if e.Numbers("ratio_low")[0] <= 1.25 && 1.25 <= e.Numbers("ratio_high")[0] {
			ratios++
		}
	}
	t.Logf("held: difference %d, ratio %d of %d", differences, ratios, trials)
	if least := 261; differences < least || ratios < least || differences > 298 {
		t.Errorf("held in %d and %d of %d trials, want at least %d", differences, ratios, trials, least)
	}
}

// TestFamily: with family, the intervals of a group of by have the level of all its comparisons together.
func TestFamily(t *testing.T) {
	in := table.NewFrame(datasets.Columns("id:text", "model:text", "language:text", "score:number"))
	for i := range 60 {
		model := []string{"a", "b"}[i%2]
		language := []string{"en", "hi", "bn", "ta", "te"}[i%5]
		if model == "b" && language == "te" {
			language = "ta"
		}
		in.Add([]string{fmt.Sprint(i), model, language}, float64(i*i%7))
	}
	for model, m := range map[string]float64{"a": 4, "b": 3} {
		options := map[string]string{"value": "score", "group": "language", "against": "en"}
		var rows []int
		for i, name := range in.Texts("model") {
			if name == model {
				rows = append(rows, i)
			}
		}
		one := in.Pick(rows)
		options["level"] = fmt.Sprint(1 - 0.05/m)
		want := run(t, "effect-size", one, options)
		delete(options, "level")
		options["family"] = "true"
		all := run(t, "effect-size", in, options, "model")
		got := 0
		for i, name := range all.Texts("model") {
			if name == model {
				must.Equal(t, all.Numbers("difference_low")[i], want.Numbers("difference_low")[got], model, "low end")
				got++
			}
		}
		must.Equal(t, got, int(m), model, "comparisons")
	}
}
