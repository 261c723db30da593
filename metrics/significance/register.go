package significance

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
)

var input = []metrics.Input{{Role: "in", About: "a row for each value (a score, a label as 0 or 1, a rating), with a " +
	"column of numbers and one of groups"}}

// TestOptions are the options of [PermutationTest].
type TestOptions struct {
	Value     string   `json:"value,omitempty" default:"value" help:"column of the values"`
	Group     string   `json:"group,omitempty" default:"group" help:"column of the groups to compare"`
	By        []string `json:"by,omitempty" help:"text columns that split the table"`
	Unit      string   `json:"unit,omitempty" help:"column of what is independent, e.g. prompt_id; empty = each row"`
	Paired    bool     `json:"paired,omitempty" help:"compare the same units in both groups"`
	Against   string   `json:"against,omitempty" help:"group to compare all others with; empty = all pairs"`
	Resamples int      `json:"resamples,omitempty" default:"10000" none:"-1" min:"0" help:"random permutations"`
	Seed      int64    `json:"seed,omitempty" help:"seed of the permutations"`
}

// testRow is a row of [PermutationTest].
type testRow struct {
	Split        metrics.Group
	A            string  `column:"group_a"`
	B            string  `column:"group_b"`
	MeanA        float64 `column:"mean_a"`
	MeanB        float64 `column:"mean_b"`
	Difference   float64 `column:"difference" help:"mean_a − mean_b"`
	P            float64 `column:"p" unit:"probability" range:"(0, 1]" help:"two-sided"`
	Holm         float64 `column:"p_holm" unit:"probability" range:"(0, 1]" help:"corrected over all rows"`
	BH           float64 `column:"p_bh" unit:"probability" range:"(0, 1]" help:"corrected over all rows"`
	CohensD      float64 `column:"cohens_d" unit:"standard deviations"`
	CliffsDelta  float64 `column:"cliffs_delta" range:"[-1, 1]"`
	NA           int     `column:"n_a" unit:"units"`
	NB           int     `column:"n_b" unit:"units"`
	LeftOut      int     `column:"n_left_out" unit:"units" help:"units that only one group has"`
	Missing      int     `column:"n_missing" unit:"rows" help:"rows without a value"`
	Tests        int     `column:"n_tests" unit:"tests" help:"size of the family"`
	Permutations int     `column:"permutations" help:"evaluated; 0 = p is computed from their distribution"`
	Exact        bool    `column:"exact" help:"p is of all permutations"`
	Design       string  `column:"design" help:"independent or paired"`
	Reason       string  `column:"reason" help:"why there is no p"`
}

var permutationTest = metrics.Define(metrics.Definition[TestOptions, testRow]{
	Name: "permutation-test", Title: "whether the means of two groups differ by chance, with corrections and " +
		"effect sizes",
	Version: 3, Unit: "probability", Range: "(0, 1]", Direction: "lower is less likely by chance",
	Citation: "Fisher, The Design of Experiments, 1935; Holm 1979; Benjamini and Hochberg 1995",
	Inputs:   input, Compute: permutation,
})

// PermutationTest is the metric permutation-test: a two-sided test for each pair of groups whether their means are
// equal. The groups' names (with Paired, the signs of the pairs' differences) are permuted in all ways if there are at
// most 20,000, else Resamples times at random; for values that are 0 or 1, p is exact (see [Means] and [Paired]):
//
//	p = #{permutations with |difference| ≥ the observed one} / all,   or (hits + 1)/(Resamples + 1)
//
// p_holm and p_bh are corrected over all tests of the table.
func PermutationTest(t datasets.Table, options ...TestOptions) datasets.Table {
	return permutationTest.Of(t, options...)
}

// EffectOptions are the options of [EffectSizes].
type EffectOptions struct {
	Value   string   `json:"value,omitempty" default:"value" help:"column of the values"`
	Group   string   `json:"group,omitempty" default:"group" help:"column of the groups to compare"`
	By      []string `json:"by,omitempty" help:"text columns that split the table"`
	Unit    string   `json:"unit,omitempty" help:"column of what is resampled, e.g. prompt_id; empty = rows"`
	Against string   `json:"against,omitempty" help:"group to compare all others with; empty = all pairs"`
	Family  bool     `json:"family,omitempty" help:"level is that of all comparisons of a group of by together (Bonferroni)"`
	metrics.Intervals
}

// effectRow is a row of [EffectSizes].
type effectRow struct {
	Split       metrics.Group
	A           string           `column:"group_a"`
	B           string           `column:"group_b"`
	MeanA       float64          `column:"mean_a"`
	MeanB       float64          `column:"mean_b"`
	Difference  metrics.Estimate `column:"difference" help:"mean_a − mean_b"`
	Ratio       metrics.Estimate `column:"ratio" unit:"ratio" help:"mean_a / mean_b"`
	CohensD     float64          `column:"cohens_d" unit:"standard deviations"`
	CohensH     float64          `column:"cohens_h" range:"[-π, π]" help:"for values that are 0 or 1"`
	CliffsDelta float64          `column:"cliffs_delta" range:"[-1, 1]"`
	NA          int              `column:"n_a" unit:"units"`
	NB          int              `column:"n_b" unit:"units"`
	Missing     int              `column:"n_missing" unit:"rows" help:"rows without a value"`
	Interval    string           `column:"interval"`
}

var effectSize = metrics.Define(metrics.Definition[EffectOptions, effectRow]{
	Name: "effect-size", Title: "how large the difference of two groups is", Version: 3,
	Unit: "the values'; standard deviations; share", Range: "(-∞, ∞); h [-π, π]; delta [-1, 1]",
	Direction: "0 is no difference; ratio 1", Citation: "Cohen 1988; Cliff 1993", Inputs: input, Compute: effects,
})

// EffectSizes is the metric effect-size: the size of the difference of each pair of groups. difference and ratio have
// bootstrap intervals over units (a unit's values in both groups are resampled together), next to [CohensD], [CohensH]
// and [CliffsDelta]. If mean_b is 0 there is no ratio; an end of its interval that falls on such resamples is missing.
func EffectSizes(t datasets.Table, options ...EffectOptions) datasets.Table {
	return effectSize.Of(t, options...)
}

func permutation(ctx context.Context, call *metrics.Call, o TestOptions) ([]testRow, error) {
	var rows []testRow
	var p []float64
	var tested []int
	s := selection{value: o.Value, group: o.Group, by: o.By, unit: o.Unit, against: o.Against, paired: o.Paired}
	err := s.eachPair(call, func(by []string, a, b sample, leftOut int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		x, y := a.values(), b.values()
		d, delta := sizes(x, y)
		r, reason, err := Result{P: math.NaN()}, "", error(nil)
		switch {
		case len(x) == 0 && len(y) == 0:
			reason = "no unit has a value in both groups"
		case len(x) == 0:
			reason = "no values of " + a.name
		case len(y) == 0:
			reason = "no values of " + b.name
		case o.Paired:
			r, err = Paired(less(x, y), o.Resamples, uint64(o.Seed))
		default:
			r, err = Means(x, y, o.Resamples, uint64(o.Seed))
		}
		if err != nil {
			return err
		}
		if reason == "" {
			p, tested = append(p, r.P), append(tested, len(rows))
		}
		rows = append(rows, testRow{Split: by, A: a.name, B: b.name, MeanA: mean(x), MeanB: mean(y),
			Difference: mean(x) - mean(y), P: r.P, Holm: math.NaN(), BH: math.NaN(), CohensD: d, CliffsDelta: delta,
			NA: len(x), NB: len(y), LeftOut: leftOut, Missing: a.missing + b.missing, Permutations: r.Permutations,
			Exact: r.Exact, Design: s.design(), Reason: reason})
		return nil
	})
	if err != nil {
		return nil, err
	}
	holm, bh, err := adjusted(p)
	if err != nil {
		return nil, err
	}
	for i, at := range tested {
		rows[at].Holm, rows[at].BH, rows[at].Tests = holm[i], bh[i], len(p)
	}
	return rows, nil
}

func effects(_ context.Context, call *metrics.Call, o EffectOptions) ([]effectRow, error) {
	var rows []effectRow
	s := selection{value: o.Value, group: o.Group, by: o.By, unit: o.Unit, against: o.Against}
	comparisons := map[string]float64{} // by group of the columns by
	if err := s.eachPair(call, func(by []string, _, _ sample, _ int) error {
		comparisons[strings.Join(by, "\x00")]++
		return nil
	}); err != nil {
		return nil, err
	}
	err := s.eachPair(call, func(by []string, a, b sample, _ int) error {
		at := o.Intervals
		if o.Family {
			at.Level = 1 - (1-at.Level)/comparisons[strings.Join(by, "\x00")]
		}
		x, y := a.values(), b.values()
		row := effectRow{Split: by, A: a.name, B: b.name, MeanA: mean(x), MeanB: mean(y), CohensH: math.NaN(),
			Difference: metrics.Exact(mean(x) - mean(y)), Ratio: metrics.Exact(finiteOrNaN(mean(x) / mean(y))),
			NA: len(x), NB: len(y), Missing: a.missing + b.missing}
		row.CohensD, row.CliffsDelta = sizes(x, y)
		if binary(x, y) {
			row.CohensH = CohensH(row.MeanA, row.MeanB)
		}
		if at.Resamples > 0 && len(x) > 1 && len(y) > 1 {
			parts, clusters := sums(a, b, o.Unit != "")
			var err1, err2 error
			row.Difference, err1 = resampled(parts, clusters, at.Bootstrap(),
				func(s []float64) float64 { return s[0]/s[1] - s[2]/s[3] })
			row.Ratio, err2 = resampled(parts, clusters, at.Bootstrap(),
				func(s []float64) float64 { return s[0] / s[1] / (s[2] / s[3]) })
			if err := errors.Join(err1, err2); err != nil {
				return inGroups(by, a.name, b.name, err)
			}
		}
		row.Interval = at.Label(cmp.Or(o.Unit, "rows"), row.Difference, row.Ratio)
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// less returns the differences of pairs.
func less(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] - y[i]
	}
	return out
}

func mean(x []float64) float64 { return sum(x) / float64(len(x)) }

// sizes returns Cohen's d and Cliff's delta, or NaN if they are not defined.
func sizes(a, b []float64) (d, delta float64) {
	d, delta = math.NaN(), math.NaN()
	if x, err := CohensD(a, b); err == nil {
		d = x
	}
	if x, err := CliffsDelta(a, b); err == nil {
		delta = x
	}
	return d, delta
}

// binary reports whether all values are 0 or 1.
func binary(groups ...[]float64) bool {
	for _, g := range groups {
		if len(g) == 0 || slices.ContainsFunc(g, func(v float64) bool { return v != 0 && v != 1 }) {
			return false
		}
	}
	return true
}
