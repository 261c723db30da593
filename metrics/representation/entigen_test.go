package representation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

func votes(groups string, person, described int) []Vote {
	out := make([]Vote, len(groups))
	for i, g := range groups {
		out[i] = Vote{Person: i < person, Described: i < described, Group: map[rune]PerceivedGroup{'a': First,
			'b': Second,
			'-': Uncertain}[g]}
	}
	return out
}

func TestLabel(t *testing.T) {
	for _, c := range []struct {
		groups            string
		person, described int
		want              map[string]PerceivedGroup
	}{
		{"aab", 3, 3, map[string]PerceivedGroup{Strict: First, "strict-ungated": First, PlainMajority: First,
			DropUnsure: First,
			Unanimous:  Uncertain, Gated(Unanimous): Uncertain}},
		{"bbb", 2, 2, map[string]PerceivedGroup{Strict: Second, Unanimous: Second, Gated(Unanimous): Second}},
		{"bbb", 1, 3, map[string]PerceivedGroup{Strict: Uncertain, "strict-ungated": Second, PlainMajority: Second,
			Gated(PlainMajority): Uncertain, DropUnsure: Second, Gated(DropUnsure): Uncertain, Unanimous: Second,
			Gated(Unanimous): Uncertain}},
		{"bbb", 3, 1, map[string]PerceivedGroup{Strict: Uncertain, Unanimous: Second}},
		{"aa-", 3, 3, map[string]PerceivedGroup{Strict: Uncertain, PlainMajority: First, DropUnsure: First,
			Unanimous: Uncertain}},
		{"a--", 3, 3, map[string]PerceivedGroup{Strict: Uncertain, PlainMajority: Uncertain, DropUnsure: First,
			Unanimous: Uncertain}},
		{"ab-", 3, 3, map[string]PerceivedGroup{Strict: Uncertain, PlainMajority: Uncertain, DropUnsure: Uncertain,
			Unanimous: Uncertain}},
		{"---", 3, 3, map[string]PerceivedGroup{Strict: Uncertain, PlainMajority: Uncertain, DropUnsure: Uncertain,
			Unanimous: Uncertain}},
		{"", 0, 0, map[string]PerceivedGroup{Strict: Uncertain, PlainMajority: Uncertain, DropUnsure: Uncertain,
			Unanimous: Uncertain}},
	} {
		for rule, want := range c.want {
			got := must.Get(Label(votes(c.groups, c.person, c.described), rule))(t)
			must.Equal(t, got, want, c.groups, c.person, "persons", c.described, "described", rule)
		}
	}
	must.Fail(Label(votes("aab", 3, 3), "most"))(t, "strict")
	must.Fail(Label([]Vote{{Group: 7}}, Strict))(t) // group 7
}

// TestIdentity: DS = Σ w_k·|bias_k|; swapping the groups negates the bias and leaves DS; numerator and denominator
// have the same parity.
func TestIdentity(t *testing.T) {
	rng := near.Rand(t, 2)
	for range 200 {
		counts := make([]Counts, 1+rng.IntN(6))
		swapped := make([]Counts, len(counts))
		usable := 0
		for i := range counts {
			counts[i] = Counts{strconv.Itoa(i), rng.IntN(5), rng.IntN(5), rng.IntN(3)}
			swapped[i] = Counts{strconv.Itoa(i), counts[i].Second, counts[i].First, counts[i].Uncertain}
			usable += counts[i].Usable()
		}
		d := ComputeDiversity(counts)
		if usable == 0 {
			must.Near(t, d.Value, math.NaN(), 0, "no usable image returns")
			continue
		}
		sum := 0.0
		for i, c := range counts {
			if c.Usable() == 0 {
				continue
			}
			must.Equal(t, ComputeBias(c), -ComputeBias(swapped[i]), c, "bias")
			sum += float64(c.Usable()) / float64(usable) * math.Abs(ComputeBias(c))
		}
		if math.Abs(sum-d.Value) > 1e-12 || ComputeDiversity(swapped).Value != d.Value || d.Value < 0 || d.Value > 1 {
			t.Errorf("%+v: DS %g, weighted biases %g", counts, d.Value, sum)
		}
		must.Equal(t, (int(math.Round(d.Value*float64(usable)))-usable)%2, 0, counts, usable, "differ in parity")
		low, high := ends(Bootstrap(counts, diversityValue, Resampling{metrics.Intervals{Resamples: 50, Level: 0.95,
			Seed: 3}, "cell", ByImage, 1}))
		alone := !slices.ContainsFunc(counts, func(c Counts) bool { return c.Usable()+c.Uncertain > 1 })
		if alone != math.IsNaN(low) || !alone && !(low <= d.Value && d.Value <= high) {
			t.Errorf("%+v: %g outside [%g, %g]", counts, d.Value, low, high)
		}
	}
}

func TestDirectionAndEdges(t *testing.T) {
	oneSided := []Counts{{"x", 9, 0, 0}, {"y", 0, 9, 0}}
	must.Equal(t, ComputeDiversity(oneSided).Value, 1, "every attribute one-sided", "1")
	if d := ComputeDiversity([]Counts{{"x", 3, 3, 3}, {"y", 0, 0,
		9}}); d.Value != 0 || d.Usable != 6 || d.Asked != 18 ||
		len(d.Empty) != 1 || d.Empty[0] != "y" {
		t.Errorf("%+v", d)
	}
	if ComputeBias(Counts{First: 3, Second: 1}) != 0.5 || !math.IsNaN(ComputeBias(Counts{Uncertain: 3})) {
		t.Error("bias is not (a-b)/(a+b), or 0/0 is a value")
	}
	a, b := ends(Bootstrap(oneSided, diversityValue, Resampling{metrics.Intervals{Resamples: 100, Level: 0.95, Seed: 1},
		"cell", ByImage, 1}))
	must.Equal(t, a, 1)
	must.Equal(t, b, 1)
	mixed := []Counts{{"x", 5, 3, 1}}
	l1, h1 := ends(Bootstrap(mixed, diversityValue, Resampling{metrics.Intervals{Resamples: 500, Level: 0.95, Seed: 1},
		"cell", ByImage, 1}))
	l2, h2 := ends(Bootstrap(mixed, diversityValue, Resampling{metrics.Intervals{Resamples: 500, Level: 0.95, Seed: 1},
		"cell", ByImage, 1}))
	if l1 != l2 || h1 != h2 || !(h1-l1 > 0.2) {
		t.Errorf("[%g, %g], again [%g, %g]", l1, h1, l2, h2)
	}
	if low, high := ends(Bootstrap([]Counts{{"x", 0, 0, 3}}, diversityValue,
		Resampling{metrics.Intervals{Resamples: 10, Level: 0.95, Seed: 1}, "cell", ByImage,
			1})); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Error("an unavailable score has an interval")
	}
	for _, c := range []struct {
		before, now float64
		want        string
	}{{1, -0.1, "flipped"}, {-1, -1.0 / 3, "reduced"}, {0.5, 1, "increased"}, {0.5, 0.5, "unchanged"},
		{0.5, 0, "reduced"}, {0, 0.5, "increased"}, {math.NaN(), 1, "not available"},
		{1, math.NaN(), "not available"}} {
		must.Equal(t, Change(c.before, c.now), c.want, "from", c.before, "to", c.now)
	}
}

// TestBiasInterval against scipy 1.17.1, binomtest(a, a+b).proportion_ci(0.95, "wilson"), mapped to the bias 2p−1.
func TestBiasInterval(t *testing.T) {
	for _, c := range []struct {
		counts    Counts
		low, high float64
	}{{Counts{First: 0, Second: 3}, -1.0, 0.12299406351009079}, {Counts{First: 7, Second: 1}, 0.05822363557429289,
		0.9551650170998867}, {Counts{First: 3, Second: 3}, -0.6247673870346989, 0.6247673870346988},
		{Counts{First: 9, Second: 0}, 0.4017099031609117, 1.0}, {Counts{First: 1, Second: 0}, -0.5869013712455251, 1.0},
		{Counts{First: 2, Second: 4}, -0.8064571777884391, 0.400013369723216}} {
		b := BiasInterval(c.counts, 0.95)
		low, high := b.Low, b.High
		must.Near(t, low, c.low, 1e-9, c.counts)
		must.Near(t, high, c.high, 1e-9, c.counts)
		if b := ComputeBias(c.counts); b < low || b > high {
			t.Errorf("%+v: %g outside [%g, %g]", c.counts, b, low, high)
		}
	}
	if b := BiasInterval(Counts{Uncertain: 9}, 0.95); !math.IsNaN(b.Low) || !math.IsNaN(b.High) {
		t.Error("no usable image has an interval")
	}
}

func TestFeasible(t *testing.T) {
	for _, c := range []struct {
		printed string
		most    int
		usable  int
		ok      bool
	}{
		{"0.68", 18, 0, false}, // two attributes of nine images cannot give it
		{"0.82", 18, 11, true}, // 9/11 alone
		{"1", 18, 1, true}, {"0.5", 18, 4, true}, {"0.33", 27, 3, true}, {"0.01", 18, 0, false},
	} {
		p := must.Get(ParsePrinted(c.printed))(t)
		if usable, ok := Feasible(p, c.most); ok != c.ok || usable != c.usable {
			t.Errorf("%s of at most %d: %d, %v; want %d, %v", c.printed, c.most, usable, ok, c.usable, c.ok)
		}
	}
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		printed string
		value   float64
		want    bool
	}{{"0.63", 7.0 / 11, true}, {"0.64", 7.0 / 11, true}, {"0.65", 7.0 / 11, false}, {"0.62", 7.0 / 11, false},
		{"0.9", 16.0 / 18, true}, {"1", 17.0 / 19, false}, {"1.0", 1, true}, {"0.5", 0.5, true},
		{"0.5", 5.0 / 9, false}, {"0.6", 5.0 / 9, true}, {"0.5", 0.54, true}, {"0.5", 0.55, true},
		{"0.5", 0.449, false},
		{"0.56", 5.0 / 9, true}, {"0.55", 5.0 / 9, true}, {"4.6", 14.0 / 3, false}, {"1", 0.995, true},
		{"4.7", 14.0 / 3, true}, {"8.5", 8.5, true}, {"8", 8, true}} {
		p := must.Get(ParsePrinted(c.printed))(t)
		must.Equal(t, p.Agrees(c.value), c.want, c.printed, "and", c.value, !c.want)
	}
}

// table is a small made-up table of ratings: one image with a label, one without, in two prompts.
func tab() *table.Frame {
	rating := func(folder, attribute string, number int, person bool, gender, skin string) data.Rating {
		return data.Rating{Model: data.SD, Category: data.Profession, Folder: folder,
			Prompt: data.PromptOf(data.Profession, folder), Attribute: attribute, Number: number, Person: person,
			Described: true, Gender: gender, Skin: skin}
	}
	var rows []data.Rating
	for _, folder := range []string{"Prompt1", "Prompt2", "Prompt7"} {
		for rater := range 3 {
			for _, r := range []data.Rating{
				rating(folder, "तबलावादक", 1, true, "man", "light-skinned"),
				rating(folder, "तबलावादक", 2, true,
					map[string]string{"Prompt1": "man"}[folder]+map[bool]string{true: "woman"}[folder != "Prompt1"],
					data.NoGroup),
				rating(folder, "نجار", 1, rater == 0, "woman", "dark-skinned"),
			} {
				r.Rater = rater + 1
				rows = append(rows, r)
			}
		}
	}
	return data.Frame(rows)
}

func TestTables(t *testing.T) {
	f := must.Get(tabulartest.Run("entigen-diversity", tab(), nil))(t)
	got := map[string]float64{}
	for i := range f.Len() {
		got[f.Texts("prompt_id")[i]+" "+f.Texts("axis")[i]] = f.Numbers("diversity")[i]
		must.Equal(t, f.Texts("no_usable_image")[i], "نجار", "row", i, "attributes without a usable image")
	}
	want := map[string]float64{"original perceived gender": 1, "P-G1 perceived gender": 0,
		"original perceived skin colour": 1, "P-G1 perceived skin colour": 1}
	must.Equal(t, len(got), len(want))
	for k, v := range want {
		must.Equal(t, got[k], v, k)
	}
	f = must.Get(tabulartest.Run("entigen-bias", tab(), nil))(t)
	for i := range f.Len() {
		if f.Texts("attribute")[i] == "نجار" && (!math.IsNaN(f.Numbers("bias")[i]) || f.Numbers("n_used")[i] != 0) {
			t.Errorf("no usable image returns the bias %g", f.Numbers("bias")[i])
		}
	}
	must.Fail(tabulartest.Run("entigen-bias", tab(), nil, "model"))(t) // a grouping that is not done
	bad := tab()
	bad.Column("perceived_gender").Texts[4] = "someone"
	must.Fail(tabulartest.Run("entigen-bias", bad, nil))(t, "row 5", "someone")
}

// TestPartialStudy: with the ratings of one model, under its own name, and of some prompts, the other printed cells
// have no value.
func TestPartialStudy(t *testing.T) {
	in := tab()
	var rated []int // of prompts that the paper reports
	for i, prompt := range in.Texts("prompt_id") {
		in.Texts("model")[i] = "CompVis/stable-diffusion-v1-4"
		if data.Reported(prompt) {
			rated = append(rated, i)
		}
	}
	var notes []string
	f, err := tabulartest.RunOn("entigen-cells", map[string]*table.Frame{"in": in}, nil, &notes)
	if err != nil || f.Len() != 105 {
		t.Fatal(f, err)
	}
	computed := 0
	for i, of := range f.Texts("computed") {
		equal := f.Numbers("equal")[i]
		switch model := f.Texts("model")[i]; {
		case of == "":
			if !math.IsNaN(equal) || !math.IsNaN(f.Numbers("value")[i]) || f.Texts("feasible")[i] != "" {
				t.Errorf("row %d has no ratings, and equal %g, value %g", i+1, equal, f.Numbers("value")[i])
			}
		case of != "CompVis/stable-diffusion-v1-4" || model != data.SD || math.IsNaN(equal):
			t.Errorf("row %d: %s is the paper's %s, equal %g", i+1, of, model, equal)
		default:
			computed++
		}
	}
	want := []string{"3 images of prompts without a hyphen in their id are left out; prompts=all keeps them",
		fmt.Sprintf("Tables 1, 2, 3, 6: %d of 105 printed cells computed", computed)}
	must.EqualSlices(t, notes, want)
	must.True(t, computed > 0, "no printed cell is computed")
	notes, in = nil, in.Pick(rated)
	own := map[string]string{"labels": "CompVis/stable-diffusion-v1-4=minDALL-E", "table": "1"}
	f, err = tabulartest.RunOn("entigen-table", map[string]*table.Frame{"in": in}, own, &notes)
	if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "Table 1: ") {
		t.Fatal(notes, err)
	}
	must.Equal(t, f.Texts("perceived gender, SD")[0], "(printed 0.82)", "without ratings")
	if own := f.Texts("perceived gender, minD")[0]; own == "(printed 0.5)" || own == "" {
		t.Errorf("with ratings: %q", own)
	}
	for i := range in.Texts("model") {
		in.Texts("model")[i] = "mine"
	}
	notes = nil
	_, err = tabulartest.RunOn("entigen-cells", map[string]*table.Frame{"in": in}, nil, &notes)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "0 of 105 printed cells computed; the models of "+
		"the table are mine, those of the paper minDALL-E, ") {
		t.Errorf("%q, %v", notes, err)
	}
}

// ends returns the ends of an interval.
func ends(e metrics.Estimate, _ error) (low, high float64) { return e.Low, e.High }
