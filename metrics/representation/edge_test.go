package representation

import (
	"math"
	"reflect"
	"slices"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

// labeled is a table of labels, one judge an image: model m, category profession.
func labelled(prompts, attributes, groups []string) *table.Frame {
	n := len(prompts)
	same := func(v string) []string { return slices.Repeat([]string{v}, n) }
	var names []string
	ones := make([]float64, n)
	for i := range prompts {
		names, ones[i] = append(names, prompts[i]+"/"+attributes[i]+"/"+string(rune('a'+i))), 1
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("model", same("m")),
		table.TextColumn("category", same(data.Profession)), table.TextColumn("prompt_id", prompts),
		table.TextColumn("attribute", attributes), table.TextColumn("image_id", names),
		table.TextColumn("perceived_gender", groups), table.NumberColumn("person", ones),
		table.NumberColumn("as_described", ones)}}
}

// TestOneImagePrompts: a prompt of one image scores 1 and says that it rests on one; an interval over one prompt
// there is none.
func TestOneImagePrompts(t *testing.T) {
	in := labelled([]string{"original"}, []string{"doctor"}, []string{"man"})
	f := tabulartest.Evaluate(t, "entigen-diversity", in, map[string]string{"cluster": "prompt"})
	if f.Numbers("diversity")[0] != 1 || f.Numbers("n_used")[0] != 1 ||
		f.Texts("warning")[0] != "few usable images: 1" || !math.IsNaN(f.Numbers("diversity_low")[0]) {
		t.Errorf("%g, %q", f.Numbers("diversity")[0], f.Texts("warning")[0])
	}
	must.Equal(t, tabulartest.Evaluate(t, "entigen-diversity", in,
		map[string]string{"min_used": "1"}).Texts("warning")[0], "")
}

// TestAllUncertain: with all votes uncertain a score is not available, in every table, and the images count as
// requested.
func TestAllUncertain(t *testing.T) {
	in := labelled([]string{"original", "original", "P-G1", "P-G1"}, []string{"doctor", "doctor", "doctor", "doctor"},
		[]string{"man", "woman", data.NoGroup, data.NoGroup})
	f := tabulartest.Evaluate(t, "entigen-diversity", in, nil)
	at := slices.Index(f.Texts("prompt_id"), "P-G1")
	if !math.IsNaN(f.Numbers("diversity")[at]) || !math.IsNaN(f.Numbers("change")[at]) ||
		f.Numbers("n_asked")[at] != 2 || f.Texts("warning")[at] != "not available: no usable image" ||
		f.Texts("no_usable_image")[at] != "doctor" {
		t.Errorf("%g of %g: %q", f.Numbers("diversity")[at], f.Numbers("n_asked")[at], f.Texts("warning")[at])
	}
	e := tabulartest.Evaluate(t, "entigen-interventions", in, nil)
	must.Equal(t, e.Texts("improves")[0], "not available")
	must.Equal(t, e.Numbers("n_not_available")[0], 1)
	if c := tabulartest.Evaluate(t, "entigen-controls", f, nil); c.Numbers("n_used")[0] != 0 ||
		!math.IsNaN(c.Numbers("share_improved")[0]) || c.Numbers("n_not_available")[0] != 1 {
		t.Errorf("%v", c.Numbers("n_used"))
	}
	q := tabulartest.Evaluate(t, "entigen-quality", in, nil)
	must.Equal(t, q.Numbers("quality_usable")[at], 0)
	must.Equal(t, q.Numbers("quality_as_described")[at], 2)
}

// TestBadRows: images of one name with different facts, and groups of another axis, are errors with their row; NaN
// in person and as_described is "not asked".
func TestBadRows(t *testing.T) {
	in := labelled([]string{"original", "original"}, []string{"doctor", "nurse"}, []string{"man", "woman"})
	must.Fail(tabulartest.Run("entigen-bias", in.With(table.TextColumn("image_id", []string{"x", "x"})),
		nil))(t, "row 2")
	must.Fail(tabulartest.Run("entigen-bias",
		in.With(table.TextColumn("perceived_gender", []string{"man", "Western"})), nil))(t, "row 2")
	must.Fail(tabulartest.Run("entigen-bias", in.With(table.TextColumn("perceived_gender", []string{"", ""})),
		nil))(t, "no row has a vote")
	must.Fail(tabulartest.Run("entigen-bias", in.With(table.TextColumn("image_id", []string{"x", ""})),
		nil))(t, "row 2", "image_id")
	for _, column := range []string{"person", "as_described"} {
		must.Fail(tabulartest.Run("entigen-bias", in.With(table.NumberColumn(column, []float64{1, 0.5})),
			nil))(t, "row 2", column+": 0.5 is neither 1 nor 0")
	}
	for _, name := range []string{"entigen-bias", "entigen-labels"} {
		must.Fail(tabulartest.Run(name, in.With(table.TextColumn("prompt_id", []string{"a", "b"})),
			nil))(t, "prompts=all")
	}
	nan := []float64{math.NaN(), math.NaN()}
	f := tabulartest.Evaluate(t, "entigen-bias",
		in.With(table.NumberColumn("person", nan), table.NumberColumn("as_described", nan)), nil)
	must.EqualSlices(t, f.Numbers("bias"), []float64{1, -1})
	for _, axes := range []string{"age=young/old", "perceived_age=young", "perceived_age=young/young",
		"perceived_gender=a/b", "perceived_age=/old"} {
		must.Fail(tabulartest.Run("entigen-bias", in, map[string]string{"axes": axes}))(t, "option axes") // axes=
	}
}

// TestOwnAxis: an axis of one's own is scored next to the paper's, and its interventions know it by the column kind.
func TestOwnAxis(t *testing.T) {
	in := labelled([]string{"original", "original", "X-A1", "X-A1"}, []string{"doctor", "doctor", "doctor", "doctor"},
		[]string{"", "", "", ""}).With(
		table.TextColumn("perceived_age", []string{"young", "young", "young", "old"}),
		table.TextColumn("kind", []string{data.Original, data.Original, "EI: perceived age", "EI: perceived age"}))
	f := tabulartest.Evaluate(t, "entigen-interventions", in, map[string]string{"axes": "perceived_age=young/old"})
	if f.Len() != 1 || f.Texts("axis")[0] != "perceived age" || f.Texts("relation")[0] != "own axis" ||
		f.Numbers("change")[0] != -1 {
		t.Errorf("%v %v %v", f.Texts("axis"), f.Texts("relation"), f.Numbers("change"))
	}
}

// TestQualityAxis: weddings are scored on perceived culture, others not on skin colour unless that is all there is.
func TestQualityAxis(t *testing.T) {
	in := labelled([]string{"original", "original", "C-1"}, []string{"wedding", "wedding", "wedding"},
		[]string{"man", "man", ""}).With(table.TextColumn("category", slices.Repeat([]string{data.Culture}, 3)),
		table.TextColumn("perceived_culture", []string{"Western", data.NoGroup, ""}),
		table.TextColumn("perceived_skin_colour", []string{"light-skinned", "light-skinned", "dark-skinned"}))
	f := tabulartest.Evaluate(t, "entigen-quality", in, nil)
	must.EqualSlices(t, f.Numbers("n_used"), []float64{1, 1})
}

// TestAblatedPrompts: the bias of each ablated prompt is next to the original's and the whole prompt's, by what
// was taken out.
func TestAblatedPrompts(t *testing.T) {
	all := must.Get(data.BuildAblations(data.AblationOptions{Attributes: []string{"police officer"},
		IDs: []string{"P-G1"}}))(t)
	var prompts, attributes, groups []string
	for k, p := range all {
		for i := range 4 {
			prompts, attributes = append(prompts, p.ID), append(attributes, p.Attribute)
			// the whole sentence flips it, without the span it is as before
			groups = append(groups, map[bool]string{true: "woman", false: "man"}[k == 1 && i < 3])
		}
	}
	f := tabulartest.Evaluate(t, "entigen-bias", labelled(prompts, attributes, groups), nil)
	got := map[string]string{}
	for i, p := range f.Texts("prompt_id") {
		got[p] = f.Texts("change")[i] + " " + f.Texts("kind")[i]
	}
	want := map[string]string{data.Original: "original original", "P-G1": "flipped EI: perceived gender",
		"P-G1 minus [irrespective of their gender]": "unchanged EI: perceived gender"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// TestRunAgain: the same rows, options and seed give the same tables, in whatever order the rows stand; another seed
// moves intervals alone. A model alone scores as next to others.
func TestRunAgain(t *testing.T) {
	in := released(t)
	order := near.Rand(t, 48).Perm(in.Len())
	for _, name := range []string{"entigen-diversity", "entigen-bias", "entigen-quality", "entigen-interventions"} {
		first, shuffled := tabulartest.Evaluate(t, name, in, nil), tabulartest.Evaluate(t, name, in.Pick(order), nil)
		if a, b := cellsOf(first), cellsOf(shuffled); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: the order of the rows matters", name)
		}
		var rows []int
		for i, m := range in.Texts("model") {
			if m == data.DALLEMini {
				rows = append(rows, i)
			}
		}
		var of [][]string
		for i, m := range first.Texts("model") {
			if m == data.DALLEMini {
				of = append(of, cellsOf(first)[i])
			}
		}
		if alone := cellsOf(tabulartest.Evaluate(t, name, in.Pick(rows), nil)); !reflect.DeepEqual(alone, of) {
			t.Errorf("%s: a model alone scores otherwise", name)
		}
	}
}

func cellsOf(f *table.Frame) (out [][]string) {
	for row := range f.Len() {
		var line []string
		for i := range f.Columns {
			line = append(line, f.Columns[i].Cell(row))
		}
		out = append(out, line)
	}
	return out
}

// TestClusters: draws of whole prompts are wider where prompts differ and images of one are alike.
func TestClusters(t *testing.T) {
	var counts []Counts
	for k := range 10 {
		counts = append(counts, []Counts{{"", 9, 0, 0}, {"", 5, 4, 0}}[k%2])
	}
	low, high := ends(Bootstrap(counts, diversityValue, Resampling{Most: 1, Intervals: metrics.Intervals{Resamples: 500,
		Level: 0.95}}))
	l, h := ends(Bootstrap(counts, diversityValue, Resampling{Cluster: ByPrompt, Most: 1,
		Intervals: metrics.Intervals{Resamples: 500, Level: 0.95}}))
	if !(l < low && h > high) {
		t.Errorf("images [%g, %g], prompts [%g, %g]", low, high, l, h)
	}
}
