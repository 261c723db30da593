package stereotypes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// show makes n showings of an attribute for an image, k of them selected.
func show(identity string, image int, attribute string, stereotype bool, k, n int) []Showing {
	out := make([]Showing, n)
	for i := range out {
		out[i] = Showing{identity, image, attribute, i < k, stereotype}
	}
	return out
}

func join(parts ...[]Showing) (all []Showing) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// world is made up: Veltan has two stereotypes and two other attributes, Norra's others are never selected, Sul has
// no other option.
func world() []Showing {
	return join(
		show("Veltan", 1, "टोपी", true, 2, 3), show("Veltan", 2, "টুপি", true, 0, 3),
		show("Veltan", 2, "टोपी", true, 1, 3),
		show("Veltan", 1, "x", false, 1, 2), show("Veltan", 1, "y", false, 0, 4),
		show("Veltan", 1, NoneOfTheAbove, false, 0, 9),
		show("Norra", 1, "p", true, 1, 4), show("Norra", 1, "q", true, 0, 4), show("Norra", 2, "z", false, 0, 4),
		show("Sul", 1, "قبعة", true, 1, 2),
	)
}

func TestTendencyByHand(t *testing.T) {
	for method, want := range map[string]struct {
		random       int
		other, theta float64
	}{Compat: {3, 0.5 / 3, 0.25 / (0.5 / 3)}, Clean: {2, 0.25, 1}} {
		ts := must.Get(ComputeTendencies(world(), AssociationOptions{Method: method}))(t)
		by := map[string]Tendency{}
		for _, x := range ts {
			by[x.Identity] = x
		}
		v := by["Veltan"]
		if v.Stereotypes != 2 || v.Random != want.random || v.Stereo.Value != 0.25 ||
			math.Abs(v.Other.Value-want.other) > 1e-15 || math.Abs(v.Theta.Value-want.theta) > 1e-12 || v.Images != 2 {
			t.Errorf("%s: %+v", method, v)
		}
		if n := by["Norra"]; n.Stereo.Value != 0.125 || n.Other.Value != 0 || !math.IsNaN(n.Theta.Value) ||
			ThetaText(n) != "N/A" {
			t.Errorf("%s: %+v", method, n)
		}
		if s := by["Sul"]; s.Stereo.Value != 0.5 || !math.IsNaN(s.Other.Value) || !math.IsNaN(s.Theta.Value) {
			t.Errorf("%s: %+v", method, s)
		}
		if top := v.Attributes[0]; top.Attribute != "टोपी" && top.Value != 0.5 || top.Shown == 0 {
			t.Errorf("%s: most likely first: %+v", method, v.Attributes)
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	rows := world()
	o := AssociationOptions{Compat, metrics.Intervals{Resamples: 100, Seed: 5}}
	a := must.Get(ComputeTendencies(rows, o))(t)
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	must.Equal(t, cmp.Diff(a, must.Get(ComputeTendencies(rows, o))(t), cmpopts.EquateNaNs()), "")
	rows = slices.DeleteFunc(rows, func(r Showing) bool { return r.Identity != "Veltan" })
	alone := must.Get(ComputeTendencies(rows, o))(t) // nor do other identities
	at := slices.IndexFunc(a, func(x Tendency) bool { return x.Identity == "Veltan" })
	must.Equal(t, cmp.Diff(a[at:at+1], alone, cmpopts.EquateNaNs()), "")
}

func TestBadInput(t *testing.T) {
	must.Fail(ComputeTendencies(world(), AssociationOptions{}))(t, "compat")
	must.Fail(ComputeTendencies(world(), AssociationOptions{Clean, metrics.Intervals{Level: 2}}))(t) // level 2
	rows := append(world(), Showing{"Veltan", 1, "x", false, true})
	must.Fail(ComputeTendencies(rows, AssociationOptions{Method: Clean}))(t, "Veltan, x")
	must.Equal(t, len(must.Get(ComputeTendencies(nil, AssociationOptions{Method: Clean}))(t)), 0)
}

func TestVisual(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		scores [3]float64
		want   map[string]bool
	}{
		{[3]float64{5, 4, 4}, map[string]bool{AllAgree: true, MajorityAgree: true, AnyAgrees: true, MeanAgrees: true}},
		{[3]float64{5, 5, 3}, map[string]bool{AllAgree: false, MajorityAgree: true, AnyAgrees: true, MeanAgrees: true}},
		{[3]float64{5, 1, 1}, map[string]bool{AllAgree: false, MajorityAgree: false, AnyAgrees: true,
			MeanAgrees: false}},
		{[3]float64{nan, nan, nan}, map[string]bool{AllAgree: false, MajorityAgree: false, AnyAgrees: false,
			MeanAgrees: false}},
	} {
		for rule, want := range c.want {
			if got, err := Visual(c.scores, rule, 4); got != want || err != nil {
				t.Errorf("%v, %s: %v, %v", c.scores, rule, got, err)
			}
		}
	}
	must.Fail(Visual([3]float64{5, 5, 5}, "most", 4))(t) // an unknown rule
}

func TestConsensus(t *testing.T) {
	bars := must.Get(ComputeConsensus([][3]float64{{5, 5, 1}, {4, 1, 4}, {2, 3, 3}, {1, 2, 3}, {5, 5, 5}},
		metrics.Intervals{Seed: 1}))(t)
	got := map[string]int{}
	for _, b := range bars {
		got[b.Label] = b.Count
	}
	if got["Strongly Agree"] != 2 || got["Agree"] != 1 || got["Unsure"] != 1 || got["Disagree"] != 0 ||
		bars[0].Share.Value != 40 {
		t.Errorf("%+v", bars)
	}
	must.Fail(ComputeConsensus([][3]float64{{5, 4.5, 1}}, metrics.Intervals{Seed: 1}))(t, "rating 1")
}

func TestOverall(t *testing.T) {
	var ts []Tendency
	for _, v := range [][3]float64{{0.3, 0.1, 3}, {0.1, 0, math.NaN()}, {0.2, 0.2, 1}, {0.5, math.NaN(), math.NaN()}} {
		ts = append(ts, Tendency{Stereo: metrics.Exact(v[0]), Other: metrics.Exact(v[1]), Theta: metrics.Exact(v[2])})
	}
	want := map[string]float64{"ratio-of-means": 2, "mean-of-theta": 2, "median-of-theta": 2}
	for _, a := range aggregates(ts) {
		must.Near(t, a.Value, want[a.Name], 1e-12)
	}
	all := must.Get(ComputeOverallRatio(ts[1:2], metrics.Intervals{}))(t)
	must.Near(t, all[0].Value, math.NaN(), 0, "of nothing but stereotypes")
	for _, a := range aggregates(nil) {
		must.Near(t, a.Value, math.NaN(), 0, a, "of nothing")
		must.Equal(t, a.N, 0, a, "of nothing")
	}
}

func TestOffensiveness(t *testing.T) {
	ts := must.Get(ComputeTendencies(join(show("Veltan", 1, "a", true, 3, 4), show("Veltan", 1, "b", true, 1, 4),
		show("Veltan", 1, "c", true, 0, 4),
		show("Veltan", 1, "u", true, 1, 4), show("Veltan", 1, "r", false, 4, 4), show("Norra", 1, "a", true, 0, 4)),
		AssociationOptions{Method: Clean}))(t)
	mean := func(_, attribute string) float64 {
		return map[string]float64{"a": 3, "b": -1, "c": 4, "u": math.NaN(), "r": 4}[attribute]
	}
	for _, c := range []struct {
		o    OffensivenessVariant
		want float64
	}{
		{OffensivenessVariant{}, 1},                                 // (3 − 1)/2
		{OffensivenessVariant{Unrated: "zero"}, 2.0 / 3},            // (3 − 1 + 0)/3
		{OffensivenessVariant{Negative: "zero"}, 1.5},               // (3 + 0)/2
		{OffensivenessVariant{Weight: "likelihood"}, 2},             // (0.75·3 − 0.25·1)/1
		{OffensivenessVariant{Present: "share", Threshold: 0.5}, 3}, // a alone
		{OffensivenessVariant{Present: "share", Threshold: 1}, math.NaN()},
	} {
		rows := must.Get(ComputeOffensiveness(ts, mean, c.o, metrics.Intervals{}))(t)
		for _, r := range rows {
			want := c.want
			if r.Identity == "Norra" {
				want = math.NaN() // nothing was seen: no data, not 0
			}
			if r.Mean.Value != want && !(math.IsNaN(r.Mean.Value) && math.IsNaN(want)) {
				t.Errorf("%+v, %s: %g, want %g", c.o, r.Identity, r.Mean.Value, want)
			}
		}
	}
	must.Fail(ComputeOffensiveness(ts, mean, OffensivenessVariant{Weight: "square"},
		metrics.Intervals{}))(t, "likelihood")
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		value, printed float64
		want           bool
	}{{0.125, 0.13, true}, {0.125, 0.12, true}, {0.1251, 0.12, false}, {0.1149, 0.12, false}, {75.004, 75, true},
		{math.NaN(), 0, false}} {
		must.Equal(t, Agrees(c.value, c.printed, 2), c.want, c.value, "printed as", c.printed)
	}
}

// TestTableErrors: what a bad table says.
func TestTableErrors(t *testing.T) {
	frame := func() *table.Frame {
		return &table.Frame{Columns: []table.Column{
			table.TextColumn("identity", []string{"Veltan", "Veltan"}),
			table.TextColumn("attribute", []string{"x", "y"}),
			table.NumberColumn("image_number", []float64{1, 1}), table.NumberColumn("selected", []float64{1, 0}),
			table.NumberColumn("na_stereo", []float64{3, 2}),
			table.NumberColumn("score_asia", []float64{5, 4}), table.NumberColumn("score_europe", []float64{4, 4}),
			table.NumberColumn("score_na", []float64{5, 5})}}
	}
	run := func(f *table.Frame, by []string, options map[string]string) error {
		_, err := tabulartest.Run("visage-association", f, options, by...)
		return err
	}
	images := &table.Frame{Columns: []table.Column{table.TextColumn("identity", []string{"Veltan"}),
		table.TextColumn("attribute", []string{""}), table.TextColumn("set", []string{"d"}),
		table.VectorColumn("full", [][]float32{{1, 0}})}}
	for name, f := range map[string]*table.Frame{"visage-association": frame(), "visage-likelihood": frame(),
		"visage-overall": frame(), "visage-consensus": frame().Pick([]int{0}), "visage-pull": images} {
		for _, interval := range tabulartest.Evaluate(t, name, f, nil).Texts("interval") { // of one image
			must.Equal(t, interval, "", name)
		}
	}
	half := frame()
	half.Column("selected").Numbers[1] = 0.5
	for _, c := range []struct {
		name    string
		f       *table.Frame
		by      []string
		options map[string]string
		want    string
	}{
		{"half selected", half, nil, nil, "row 2"},
		{"no column", &table.Frame{Columns: frame().Columns[1:]}, nil, nil, `"identity"`},
		{"grouping", frame(), []string{"attribute"}, nil, `no option "by"`},
		{"threshold", frame(), nil, map[string]string{"min_stereo": "many"}, `min-stereo: "many"`},
		{"method", frame(), nil, map[string]string{"method": "new"}, "compat"},
		{"none listed", frame(), nil, map[string]string{"min_stereo": "4"}, "min-attributes"},
		{"other count", frame(), nil, map[string]string{"stereo_column": "region_stereo"}, "region_stereo"},
	} {
		must.Fail(run(c.f, c.by, c.options))(t, c.want)
	}
}

// TestPartialPaperTables: printed identities without annotations have no values.
func TestPartialPaperTables(t *testing.T) {
	pairs := pairFrame()
	for i := range pairs.Texts("identity") {
		pairs.Texts("identity")[i] = "United Kingdom"
	}
	in := pairs.Pick([]int{0, 4}).With(table.NumberColumn("image_number", []float64{1, 1}),
		table.NumberColumn("selected", []float64{1, 0}))
	var notes []string
	f, err := tabulartest.RunOn("visage-tables", map[string]*table.Frame{"in": in}, nil, &notes)
	want := []string{"Tables 1 and 2: 3 of 315 printed cells computed"}
	if err != nil || f.Len() != 105 || !slices.Equal(notes, want) {
		t.Fatal(f, notes, err)
	}
	for i, id := range f.Texts("identity") {
		own := id == "United Kingdom"
		for _, column := range []string{"l_stereo", "l_random", "cells_equal"} {
			if v := f.Numbers(column)[i]; own == math.IsNaN(v) {
				t.Errorf("%s: %s %g", id, column, v)
			}
		}
		if (f.Texts("theta")[i] == "") == own || f.Texts("printed_theta")[i] == "" {
			t.Errorf("%s: theta %q, printed %q", id, f.Texts("theta")[i], f.Texts("printed_theta")[i])
		}
	}
}
