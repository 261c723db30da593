package representation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

func pairs(human, clip string) (out []Pair) {
	for i := range human {
		out = append(out, Pair{PerceivedGroup(human[i] - '0'), PerceivedGroup(clip[i] - '0'), fmt.Sprint(i / 4)})
	}
	return out
}

// TestAgreementGolden against scikit-learn 1.9.1: accuracy_score and cohen_kappa_score, of all labels and of those
// where both decided.
func TestAgreementGolden(t *testing.T) {
	for _, c := range []struct {
		human, clip string
		want        [4]float64 // three-way share and kappa, both-decided share and kappa
	}{
		{"2202111020011100000201200102022201111210", "2212101110011100000201202102012202121200",
			[4]float64{0.775, 0.660056657223796, 0.8181818181818182, 0.6363636363636364}},
		{"1212211111122011002111121210021022002110", "2112211101122012102101121110021022002110",
			[4]float64{0.825, 0.7265625, 0.8620689655172413, 0.7156862745098039}},
		{"2011112112212111112011122002122200211000", "2011112112212101012011122002101201211000",
			[4]float64{0.875, 0.8065764023210832, 0.9642857142857143, 0.9263157894736842}},
	} {
		three := must.Get(ComputeClipAgreement(pairs(c.human, c.clip), ThreeWay,
			Resampling{Intervals: metrics.Intervals{Resamples: 200, Level: 0.95}}))(t)
		both := must.Get(ComputeClipAgreement(pairs(c.human, c.clip), BothDecided, Resampling{}))(t)
		near.Check(t, "agreement", []float64{three.Share.Value, three.Kappa.Value, both.Share.Value, both.Kappa.Value},
			c.want[:], 1e-12, 0)
		if !(three.Share.Low <= three.Share.Value && three.Share.Value <= three.Share.High &&
			three.Share.Low < three.Share.High && three.Kappa.Low <= three.Kappa.Value &&
			three.Kappa.Value <= three.Kappa.High) || !math.IsNaN(both.Share.Low) {
			t.Errorf("%+v", three)
		}
		if three.Used != 40 || both.Used >= 40 || both.Asked != 40 || total(both.Confusion) != 40 {
			t.Errorf("%+v", both)
		}
	}
}

// TestAgreementProperties: labels against themselves agree fully; the order of images, the exchange of people and
// CLIP and of the groups change nothing; more wrong labels agree less.
func TestAgreementProperties(t *testing.T) {
	rng := near.Rand(t, 43)
	var base []Pair
	for i := range 60 {
		g := PerceivedGroup(rng.IntN(3))
		base = append(base, Pair{g, g, fmt.Sprint(i % 9)})
	}
	of := func(p []Pair, d string) Agreement {
		a := must.Get(ComputeClipAgreement(p, d, Resampling{Name: "x", Intervals: metrics.Intervals{Resamples: 50,
			Level: 0.95,
			Seed:  3}}))(t)
		return a
	}
	for _, d := range []string{BothDecided, ThreeWay} {
		if a := of(base, d); a.Share.Value != 1 || a.Kappa.Value != 1 || a.Same != a.Used {
			t.Errorf("%s: %+v", d, a)
		}
		last := 1.0
		spoiled := slices.Clone(base)
		for i := range spoiled {
			if spoiled[i].Human == Uncertain {
				continue
			}
			spoiled[i].Clip = First + Second - spoiled[i].Human
			a := of(spoiled, d)
			if a.Share.Value >= last {
				t.Errorf("%s: one more wrong label raises %g to %g", d, last, a.Share.Value)
			}
			last = a.Share.Value
			if i != 20 {
				continue
			}
			shuffled, turned, named := slices.Clone(spoiled), slices.Clone(spoiled), slices.Clone(spoiled)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			for k, p := range spoiled {
				turned[k].Human, turned[k].Clip = p.Clip, p.Human
				swap := map[PerceivedGroup]PerceivedGroup{First: Second, Second: First}
				named[k].Human, named[k].Clip = swap[p.Human], swap[p.Clip]
			}
			must.Equal(t, of(shuffled, d), a, d, "the order of the images matters")
			for _, b := range []Agreement{of(turned, d), of(named, d)} {
				must.Equal(t, b.Share.Value, a.Share.Value, d, a)
				must.Near(t, b.Kappa.Value, a.Kappa.Value, 1e-15, d, a)
				must.Equal(t, b.Share.Low, a.Share.Low, d, a)
			}
		}
	}
	if a := of([]Pair{{Uncertain, First, "x"}}, BothDecided); !math.IsNaN(a.Share.Value) ||
		!math.IsNaN(a.Kappa.Value) ||
		a.Used != 0 || a.Asked != 1 {
		t.Errorf("nothing decided: %+v", a)
	}
	if a := of([]Pair{{First, First, "x"}, {First, First, "y"}}, ThreeWay); a.Share.Value != 1 ||
		!math.IsNaN(a.Kappa.Value) {
		t.Errorf("one label alone: %+v", a)
	}
	must.Fail(ComputeClipAgreement(nil, "most", Resampling{}))(t)                      // an unknown definition
	must.Fail(ComputeClipAgreement([]Pair{{7, First, ""}}, ThreeWay, Resampling{}))(t) // group 7
}

// TestClipAgreementTables: an image that only people labeled is counted; definitions and scopes by hand.
func TestClipAgreementTables(t *testing.T) {
	human := tab() // 3 prompts of 3 images: one without a person, one man, one man or woman
	one := func(name string) int { return slices.Index(human.Texts("image_id"), name) }
	clipped := human.Pick([]int{one(human.Texts("image_id")[0]), one(human.Texts("image_id")[3]),
		one(human.Texts("image_id")[6])})
	if names := clipped.Texts("image_id"); slices.Contains(names[1:], names[0]) {
		t.Fatalf("%v", names)
	}
	for _, c := range []struct {
		labels []string
		both   [2]float64 // agreement and images
		three  [2]float64
	}{
		{[]string{data.NoGroup, "man", "man"}, [2]float64{1, 2}, [2]float64{1, 3}},
		{[]string{data.NoGroup, "woman", "man"}, [2]float64{0.5, 2}, [2]float64{2. / 3, 3}},
		{[]string{"man", "man", data.NoGroup}, [2]float64{1, 1}, [2]float64{1. / 3, 3}},
	} {
		labels := clipped.With(table.TextColumn("perceived_gender", c.labels),
			table.NumberColumn("person", []float64{1, 1, 1}))
		f := must.Get(evaluate(t, "entigen-clip-agreement", [2]string{"in", "ratings"}, labels, human, nil))(t)
		for i, d := range f.Texts("definition") {
			if f.Texts("scope")[i] != "pooled" {
				continue
			}
			want := map[string][2]float64{string(BothDecided): c.both, string(ThreeWay): c.three}[d]
			must.Equal(t, f.Numbers("agreement")[i], want[0], c.labels, d)
			must.Equal(t, f.Numbers("n_used")[i], want[1], c.labels, d)
			must.Equal(t, f.Numbers("n_without_clip")[i], 6, c.labels, d)
			must.Equal(t, f.Numbers("n_asked")[i], 3, c.labels, d)
		}
		confusion := must.Get(evaluate(t, "entigen-clip-confusion", [2]string{"in", "ratings"}, labels, human, nil))(t)
		sum := 0.0
		for i, s := range confusion.Texts("scope") {
			if s == "pooled" {
				sum += confusion.Numbers("n")[i]
			}
		}
		must.Equal(t, sum, 3, "images in the confusion table")
	}
	must.Fail(evaluate(t, "entigen-clip-agreement", [2]string{"in", "ratings"},
		clipped.With(table.TextColumn("image_id", []string{"a", "b", "c"})), human, nil))(t, "image_id")
}

// TestInterventions: the change on the own axis and crossed; flipped, reduced and not available attributes.
func TestInterventions(t *testing.T) {
	f := tabulartest.Evaluate(t, "entigen-interventions", tab(), nil)
	got := map[string]int{}
	for i, axis := range f.Texts("axis") {
		got[axis] = i
	}
	gender, skin := got[data.PerceivedGender], got[data.PerceivedSkin]
	if f.Len() != 2 || f.Texts("relation")[gender] != "own axis" || f.Texts("relation")[skin] != "other axis" {
		t.Fatalf("%d rows, %v", f.Len(), f.Texts("relation"))
	}
	if f.Numbers("change")[gender] != -1 || f.Texts("improves")[gender] != "yes" ||
		f.Numbers("n_reduced")[gender] != 1 || f.Numbers("n_not_available")[gender] != 1 {
		t.Errorf("change %g, %v", f.Numbers("change")[gender], f.Texts("improves")[gender])
	}
	must.Equal(t, f.Numbers("change")[skin], 0, "change")
	must.Equal(t, f.Texts("improves")[skin], "no", "change")
	must.Equal(t, f.Texts("warning")[skin], "few usable images: 1", "change")
	e, _ := ComputeEffect([]Counts{{"a", 4, 0, 0}, {"b", 3, 1, 0}, {"c", 1, 1, 0}, {"gone", 1, 0, 0}},
		[]Counts{{"a", 1, 3, 0}, {"b", 4, 0, 0}, {"c", 2, 2, 1}, {"new", 1, 0, 0}},
		Resampling{Intervals: metrics.Intervals{Resamples: 100, Level: 0.95}})
	if !slices.Equal(e.Flipped, []string{"a"}) || !slices.Equal(e.Increased, []string{"b"}) ||
		!slices.Equal(e.Unchanged, []string{"c"}) || !slices.Equal(e.NotAvailable, []string{"gone", "new"}) ||
		len(e.Reduced) != 0 {
		t.Errorf("%+v", e)
	}
	if want := 7.0/13 - 7.0/11; math.Abs(e.Change.Value-want) > 1e-15 ||
		!(e.Change.Low <= e.Change.Value && e.Change.Value <= e.Change.High && e.Change.Low < e.Change.High) {
		t.Errorf("%+v, want %g", e.Change, want)
	}
	if e, _ := ComputeEffect([]Counts{{"a", 0, 0, 3}}, []Counts{{"a", 1, 0, 0}},
		Resampling{Intervals: metrics.Intervals{Resamples: 10,
			Level: 0.95}}); !math.IsNaN(e.Change.Value) || !math.IsNaN(e.Change.Low) {
		t.Errorf("%+v", e)
	}
	original := tab()
	only := original.Pick([]int{0, 1, 2})
	must.Fail(tabulartest.Run("entigen-interventions",
		only.With(table.TextColumn("prompt_id", []string{"P-G1", "P-G1", "P-G1"})), nil))(t, "original")
}

// TestIrrelevantSentences: under a sentence that should change nothing 7 of the 12 human values of Table 1 are lower
// than the original's, as printed: 3 of 6 on perceived gender, 4 of 6 on perceived skin color.
func TestIrrelevantSentences(t *testing.T) {
	plan := must.Get(data.Printed().Plan())(t)
	f := tabulartest.Evaluate(t, "entigen-controls", tabulartest.Released(t, data.Name, plan.Op, nil), nil)
	got := map[string][2]float64{}
	for i, judge := range f.Texts("judge") {
		name := strings.Join([]string{judge, f.Texts("category")[i], f.Texts("axis")[i], f.Texts("relation")[i]}, "/")
		got[name] = [2]float64{f.Numbers("n_improved")[i], f.Numbers("n_used")[i]}
	}
	for name, want := range map[string][2]float64{
		"human/profession/all/control":                      {7, 12},
		"human/profession/perceived gender/control":         {3, 6},
		"human/profession/perceived skin colour/control":    {4, 6},
		"human/culture/perceived culture/own axis":          {6, 6}, // claim 9
		"human/object/perceived gender/own axis":            {2, 3}, // claim 8: D-mini fails
		"human/object/perceived skin colour/own axis":       {1, 3}, // minD and SD fail
		"clip/profession/perceived gender/own axis":         {5, 6}, // claim 2: minD fails with P-G2
		"human/profession/perceived skin colour/other axis": {3, 6},
	} {
		must.Equal(t, got[name], want, name)
	}
	two := tabulartest.Released(t, data.Name, plan.Op, nil).Pick([]int{0, 0})
	must.Fail(tabulartest.Run("entigen-controls", two, nil))(t, "row 2")
}

// TestFeasibleCells: of two attributes of nine images 0.68 cannot come; the check of the printed cells says so.
func TestFeasibleCells(t *testing.T) {
	f := tabulartest.Evaluate(t, "entigen-cells", released(t), map[string]string{"table": "1"})
	var not []string
	for i, feasible := range f.Texts("feasible") {
		if feasible == "no" {
			not = append(not, f.Texts("prompt_id")[i]+" "+f.Texts("axis")[i]+" "+f.Texts("model")[i]+" "+f.Texts(
				"printed")[i])
		}
	}
	must.EqualSlices(t, not, []string{"P-G1 perceived gender Stable Diffusion 0.68"})
}

// TestLayout: columns and rows as printed, with the columns by CLIP if requested; values rounded or cut.
func TestLayout(t *testing.T) {
	in := released(t)
	f := tabulartest.Evaluate(t, "entigen-table", in, map[string]string{"table": "6", "judges": "both"})
	want := "prompt_id kind perceived gender (CLIP), minD perceived gender (CLIP), D-mini perceived gender (CLIP), " +
		"SD perceived gender, minD perceived gender, D-mini perceived gender, SD " +
		"perceived skin colour, minD perceived skin colour, D-mini perceived skin colour, SD note"
	var names []string
	for _, c := range f.Specs() {
		names = append(names, c.Name)
	}
	must.Equal(t, strings.Join(names, " "), want, names)
	must.EqualSlices(t, f.Texts("prompt_id"), []string{"original", "O-G1", "O-S1", "O-I2"}, names)
	must.Equal(t, f.Texts("perceived gender (CLIP), minD")[0], "(printed 0.60)")
	must.Equal(t, f.Texts("perceived gender, minD")[0], "0.57")
	must.Equal(t, tabulartest.Evaluate(t, "entigen-table", in, map[string]string{"table": "6", "rounding": "cut",
		"decimals": "1"}).Texts("perceived gender, minD")[0], "0.5")
	labels := in.With(table.TextColumn("perceived_skin_colour", make([]string, in.Len())))
	both := must.Get(evaluate(t, "entigen-table", [2]string{"in", "clip"}, in, labels,
		map[string]string{"table": "1", "judges": "both"}))(t)
	must.Equal(t, both.Texts("perceived gender (CLIP), SD")[0], "0.76 (printed 0.84)")
	for _, c := range []struct {
		v        float64
		decimals int
		cut      bool
		want     string
	}{{7.0 / 11, 2, false, "0.64"}, {7.0 / 11, 2, true, "0.63"}, {0.58, 2, true, "0.58"}, {1, 0, false, "1"},
		{math.NaN(), 2, true, "not available"}} {
		must.Equal(t, rounded(c.v, c.decimals, c.cut), c.want, c.v)
	}
}
