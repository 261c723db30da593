package significance

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

func TestAdjustTable(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("axis", []string{"a", "a", "b", "a", "b"}),
		table.TextColumn("note", []string{"1", "2", "3", "4", "5"}),
		table.NumberColumn("p", []float64{0.01, 0.04, 0.2, math.NaN(), 0.02})}}
	all := run(t, "adjust-p", f, nil)
	if err := near.Compare(all.Numbers("p_holm"), []float64{0.04, 0.08, 0.2, math.NaN(), 0.06}, 0, 1e-12); err != nil {
		t.Error(err)
	}
	if err := near.Compare(all.Numbers("p_bh"), []float64{0.04, 0.16 / 3, 0.2, math.NaN(), 0.04}, 0,
		1e-12); err != nil {
		t.Error(err)
	}
	if !slices.Equal(all.Texts("found_holm"), []string{"yes", "no", "no", "", "no"}) ||
		!slices.Equal(all.Texts("found_bh"), []string{"yes", "no", "no", "", "yes"}) || all.Texts("note")[4] != "5" ||
		all.Numbers("n_tests")[0] != 4 || all.Numbers("n_tests")[3] != 0 {
		t.Errorf("%v", datasets.Format(all, 0))
	}
	by := run(t, "adjust-p", f, map[string]string{"alpha": "0.03"}, "axis")
	if err := near.Compare(by.Numbers("p_holm"), []float64{0.02, 0.04, 0.2, math.NaN(), 0.04}, 0, 1e-12); err != nil ||
		by.Texts("found_holm")[1] != "no" {
		t.Error(err)
	}
	f.Columns[2].Numbers[1] = 1.2
	if _, err := tabulartest.Run("adjust-p", f, nil); err == nil || !strings.Contains(err.Error(), "row 2") ||
		!strings.Contains(err.Error(), "1.2 is not a probability") {
		t.Error(err)
	}
}

// Means and ratios by group, with prompts as units: intervals over prompts are wider than over rows where rows of a
// prompt are alike.
func TestClusteredMeans(t *testing.T) {
	f := scored(near.Rand(t, 84), 0.05)
	f = f.With(table.NumberColumn("ones", slices.Repeat([]float64{2}, f.Len())))
	prompts := run(t, "clustered-mean", f, map[string]string{"value": "score", "unit": "prompt_id"}, "model")
	single := run(t, "clustered-mean", f, map[string]string{"value": "score"}, "model")
	half := run(t, "clustered-mean", f, map[string]string{"value": "score", "over": "ones", "unit": "prompt_id"},
		"model")
	for i, model := range []string{"k", "m"} {
		values := slices.Concat(flat(pick(f, model, "en")), flat(pick(f, model, "hi")), flat(pick(f, model, "ta")))
		check(t, "mean", prompts.Numbers("value")[i], mean(values), 1e-9)
		check(t, "ratio", half.Numbers("value")[i], mean(values)/2, 1e-9)
		if prompts.Texts("model")[i] != model || prompts.Numbers("n_units")[i] != 12 ||
			prompts.Numbers("n_rows")[i]+prompts.Numbers("n_missing")[i] != 72 {
			t.Errorf("%v", datasets.Format(prompts, 0))
		}
		width := func(f *table.Frame) float64 { return f.Numbers("value_high")[i] - f.Numbers("value_low")[i] }
		if !(width(prompts) > 1.2*width(single)) {
			t.Errorf("interval over prompts %v wide, over rows %v", width(prompts), width(single))
		}
	}
	one := run(t, "clustered-mean", f.Pick(rows(f, "prompt_id", "p1")),
		map[string]string{"value": "score", "unit": "prompt_id"})
	if one.Numbers("n_units")[0] != 1 || !math.IsNaN(one.Numbers("value_low")[0]) ||
		math.IsNaN(one.Numbers("value")[0]) {
		t.Errorf("one prompt: %v", datasets.Format(one, 0))
	}
	f.Columns[5].Numbers = make([]float64, f.Len())
	zero := run(t, "clustered-mean", f, map[string]string{"value": "score", "over": "ones"})
	if !math.IsNaN(zero.Numbers("value")[0]) || !math.IsNaN(zero.Numbers("value_low")[0]) {
		t.Errorf("denominators of 0: %v", datasets.Format(zero, 0))
	}
}
