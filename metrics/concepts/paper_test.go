package concepts

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func printed(t *testing.T) *table.Frame {
	t.Helper()
	return must.Get(operation.EvaluatorOf("cococrola-printed")(context.Background(), datasets.Call{}, nil, nil))(t)
}

// TestPrintedTable: layout and comparison reproduce the printed Table 2.
func TestPrintedTable(t *testing.T) {
	f := tabulartest.Evaluate(t, "cococrola-table", printed(t), nil)
	must.EqualSlices(t, f.Texts("model"), append(slices.Clone(cococrola.Models), cococrola.Average), "models")
	cells := must.Get(cococrola.PrintedTable())(t)
	for i, c := range cells {
		row := i / 8
		for name, want := range map[string]float64{"Xc": c.Xc, "Wc": c.Wc} {
			if got := f.Numbers(label(c.Language, name))[row]; got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s %s %s: %g, printed %g", c.Model, c.Language, name, got, want)
			}
		}
	}
	same := tabulartest.Evaluate(t, "cococrola-cells", printed(t), nil)
	if same.Len() != 158 || slices.Contains(same.Numbers("equal"), 0) { // 79 cells of two scores
		t.Errorf("%d cells", same.Len())
	}
	off := printed(t)
	off.Column("cross_consistency").Numbers[0] += 0.006
	off.Column("cross_consistency").Numbers[1] += 0.0045 // rounds to the printed value
	differ := tabulartest.Evaluate(t, "cococrola-cells", off, nil)
	if differ.Numbers("equal")[0] != 0 || math.Abs(differ.Numbers("difference")[0]-0.6) > 1e-9 ||
		slices.Contains(differ.Numbers("equal")[1:], 0) {
		t.Errorf("a difference of 0.6: equal %v, %v", differ.Numbers("equal")[0], differ.Numbers("difference")[0])
	}
}

// TestPartialStudy: with one model in three languages the other printed cells, and the averages, have no value.
func TestPartialStudy(t *testing.T) {
	all := printed(t)
	var rows []int
	for i, m := range all.Texts("model") {
		l := all.Texts("language")[i]
		if (m == "SD 1.4" || m == "SD 2" || m == cococrola.Average) && slices.Contains([]string{"en", "es", "he",
			cococrola.Average}, l) {
			rows = append(rows, i)
		}
	}
	in := all.Pick(rows)
	for i, m := range in.Texts("model") {
		if m == "SD 1.4" {
			in.Texts("model")[i] = "stable-diffusion-v1-4"
		} else if m == "SD 2" {
			in.Texts("model")[i] = "" // is no model
		}
	}
	var notes []string
	f, err := tabulartest.RunOn("cococrola-cells", map[string]*table.Frame{"in": in}, nil, &notes)
	if err != nil || f.Len() != 158 || !slices.Equal(notes, []string{"Table 2: 6 of 158 printed cells computed"}) {
		t.Fatal(f.Len(), notes, err)
	}
	for i, of := range f.Texts("computed") {
		own := f.Texts("model")[i] == "SD 1.4" && slices.Contains([]string{"en", "es", "he"}, f.Texts("language")[i])
		if own != (of == "stable-diffusion-v1-4") || own != (f.Numbers("equal")[i] == 1) || own == math.IsNaN(f.Numbers(
			"value")[i]) {
			t.Errorf("%s %s: %q, equal %g", f.Texts("model")[i], f.Texts("language")[i], of, f.Numbers("equal")[i])
		}
	}
	f = must.Get(tabulartest.Run("cococrola-cells", in, map[string]string{"labels": "stable-diffusion-v1-4=SD 2"}))(t)
	for i, of := range f.Texts("computed") {
		if of != "" && f.Texts("model")[i] != "SD 2" {
			t.Errorf("labeled SD 2, it is compared with %s", f.Texts("model")[i])
		}
	}
	if !slices.Contains(f.Numbers("equal"), 0) {
		t.Error("SD 1.4 has no other value than SD 2")
	}
}

// TestColumnWins: wins in the printed integers, counted by hand.
func TestColumnWins(t *testing.T) {
	f := tabulartest.Evaluate(t, "cococrola-wins", printed(t), nil)
	got := map[string]string{}
	for i, m := range f.Texts("model") {
		if f.Numbers("n_wins")[i] > 0 {
			got[f.Texts("score")[i]+" "+m] = fmt.Sprintf("%g (%s), %g shared", f.Numbers("n_wins")[i],
				f.Texts("languages")[i], f.Numbers("n_shared")[i])
		}
	}
	want := map[string]string{
		"Xc DALL-E Mega": "4 (en, es, de, id), 0 shared", "Xc AltDiffusion m9": "2 (ja, he), 1 shared",
		"Xc CogView 2": "2 (zh, he), 1 shared",
		"Wc DALL-E 2":  "4 (es, de, zh, id), 3 shared", "Wc DALL-E Mega": "3 (en, de, id), 2 shared",
		"Wc AltDiffusion m9": "3 (zh, ja, he), 2 shared",
		"Wc CogView 2":       "2 (zh, he), 2 shared", "Wc DALL-E Mini": "1 (he), 1 shared",
	}
	must.Equal(t, len(got), len(want))
	for k, v := range want {
		must.Equal(t, got[k], v, k)
	}
}

// TestPossession: both variants of the rule, at the thresholds and with missing scores.
func TestPossession(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		xc, wc       float64
		both, either string
	}{
		{0.49, 24.9, No, No}, {0.5, 24.9, Yes, No}, {0.49, 25, Yes, No}, {0.5, 25, Yes, Yes}, {0.9, 30, Yes, Yes},
		{nan, 30, Yes, Unknown}, {0.9, nan, Yes, Unknown}, {nan, 20, Unknown, No}, {0.1, nan, Unknown, No},
		{nan, nan, Unknown, Unknown},
	} {
		for when, want := range map[string]string{"both": c.both, "either": c.either} {
			r := PaperRule
			r.When = when
			must.Equal(t, must.Get(r.Possessed(c.xc, c.wc))(t), want, "Xc", c.xc, "Wc", c.wc, when)
		}
	}
	must.Fail((Rule{When: "neither"}).Possessed(1, 1))(t) // an unknown rule
	for want, c := range map[string][3]float64{NonSpecific: {0.4, 0.4, 0.4}, SpecificCollision: {0.8, 0.8, 0.75},
		GenericCollision: {0.9, 0.9, 0.5}, "": {0.8, nan, nan}} {
		must.Equal(t, KindOf(Failing{c[0], c[1], c[2], 0.8, 0.2}), want, c)
	}
	must.Equal(t, KindOf(Failing{0.8, 0.3, 0.25, 0.8, 0.2}), SpecificCollision,
		"a consistent concept that is none of the study's")
}

// tab returns a table of scores from lines "model language concept xc wc possessed".
func tab(lines ...string) *table.Frame {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("model", nil), table.TextColumn("language", nil),
		table.TextColumn("concept", nil), table.NumberColumn("cross_consistency", nil),
		table.NumberColumn("text_match", nil), table.TextColumn("possessed", nil)}}
	for _, line := range lines {
		var xc, wc float64
		p := strings.Fields(line)
		fmt.Sscan(p[3], &xc)
		fmt.Sscan(p[4], &wc)
		for i, v := range []any{p[0], p[1], p[2], xc, wc, p[5]} {
			switch v := v.(type) {
			case string:
				f.Columns[i].Texts = append(f.Columns[i].Texts, v)
			case float64:
				f.Columns[i].Numbers = append(f.Columns[i].Numbers, v)
			}
		}
	}
	return f
}

// TestMeansByHand: two models, means of unrounded cells, share possessed with its counts.
func TestMeansByHand(t *testing.T) {
	f := tabulartest.Evaluate(t, "cococrola-means", tab("A en dog 0.9 30 yes", "A en sea 0.6 24 yes",
		"A he dog 0.2 20 no", "A he sea 0.3 NaN no", "B en dog NaN NaN yes", "B en sea 0.5 26 yes"),
		map[string]string{"resamples": "200"})
	want := map[string][4]float64{"A en": {0.75, 27, 1, 2}, "A he": {0.25, 20, 0, 2}, "A Avg": {0.5, 23.5, 0.5, 4},
		"B en": {0.5, 26, 1, 1}, "B he": {math.NaN(), math.NaN(), math.NaN(), 0}, "B Avg": {0.5, 26, 1, 1},
		"Avg en": {0.625, 26.5, 1, 3}, "Avg he": {0.25, 20, 0, 2}}
	must.Equal(t, f.Len(), len(want), "rows")
	for i, m := range f.Texts("model") {
		w := want[m+" "+f.Texts("language")[i]]
		for k, name := range []string{"cross_consistency", "text_match", "share_possessed", "n_used"} {
			if got := f.Numbers(name)[i]; !same(got, w[k]) {
				t.Errorf("%s %s %s: %g, want %g", m, f.Texts("language")[i], name, got, w[k])
			}
		}
		if m == "A" && f.Texts("language")[i] == "en" && (f.Numbers("cross_consistency_low")[i] != 0.6 ||
			f.Numbers("cross_consistency_high")[i] != 0.9) {
			t.Errorf("the bootstrap of two concepts spans them: [%g, %g]", f.Numbers("cross_consistency_low")[i],
				f.Numbers("cross_consistency_high")[i])
		}
		if m == "B" && !math.IsNaN(f.Numbers("text_match_low")[i]) {
			t.Error("an interval of one concept")
		}
	}
}

// TestBlanks: −1 replaces blank scores only, not an unknown possession.
func TestBlanks(t *testing.T) {
	nan := math.NaN()
	rows := []Scored{{Model: "A", Cell: Cell{"en", "dog"}, Dt: 0.5, Sc: nan, Xc: 0.8, Wc: 20, Possessed: Yes},
		{Model: "A", Cell: Cell{"en", "sea"}, Dt: 0.1, Sc: 0.6, Xc: nan, Wc: nan, Possessed: Unknown}}
	for treat, want := range map[string][5]float64{LeaveOut: {0.3, 0.6, 0.8, 20, 1},
		MinusOne: {0.3, -0.2, -0.1, 9.5, 1}} {
		m := means(t, rows, treat)[0]
		if got := [5]float64{m.Dt.Value, m.Sc.Value, m.Xc.Value, m.Wc.Value,
			m.Possessed.Value}; !slices.EqualFunc(got[:], want[:], same) || m.Asked != 2 || m.Used != 1 ||
			m.Text != 1 || m.Answered != 1 {
			t.Errorf("%s: %v, want %v; %+v", treat, got, want, m)
		}
	}
}

// TestRanking: order, ties, blanks and top.
func TestRanking(t *testing.T) {
	in := tab("A he dog 0.2 1 no", "A en cat 0.5 1 no", "A en ant 0.5 1 no", "A en dog 0.9 1 no", "A en sea NaN 1 no",
		"A en bee 0.1 1 no")
	list := func(options map[string]string) (out []string) {
		f := tabulartest.Evaluate(t, "cococrola-ranking", in, options)
		for i, c := range f.Texts("concept") {
			out = append(out, fmt.Sprintf("%s %g %s of %g", f.Texts("language")[i], f.Numbers("rank")[i], c,
				f.Numbers("n_ranked")[i]))
		}
		return out
	}
	if got, want := list(nil), []string{"en 1 dog of 4", "en 2 ant of 4", "en 2 cat of 4", "en 4 bee of 4",
		"he 1 dog of 1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got, want := list(map[string]string{"order": "ascending", "top": "2"}),
		[]string{"en 1 bee of 4", "en 2 ant of 4", "he 1 dog of 1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestCorrelations: signs and options. Scores of en and es increase together, those of en and he in opposite
// directions; CogView 2 is an exception and has values below 0.
func TestCorrelations(t *testing.T) {
	var lines []string
	for i := range 6 {
		x := 0.1 * float64(i+1)
		for _, m := range []string{"A", "CogView_2"} {
			es := 0.5*x + 0.1
			if m != "A" {
				es = 0.35 - x
			}
			lines = append(lines, fmt.Sprintf("%s en c%d %g 1 no", m, i, x), fmt.Sprintf("%s es c%d %g 1 no", m, i, es),
				fmt.Sprintf("%s he c%d %g 1 no", m, i, 0.9-x), fmt.Sprintf("%s ja c%d 0.5 1 no", m, i))
		}
	}
	in := tab(lines...)
	for i, m := range in.Texts("model") {
		in.Column("model").Texts[i] = strings.ReplaceAll(m, "_", " ")
	}
	at := func(options map[string]string) map[string][3]float64 {
		f, out := tabulartest.Evaluate(t, "cococrola-correlations", in, options), map[string][3]float64{}
		for i, a := range f.Texts("language_a") {
			r := f.Numbers("pearson")[i]
			out[a+f.Texts("language_b")[i]+f.Texts("model")[i]] = [3]float64{r, f.Numbers("n_used")[i],
				f.Numbers("n_concepts")[i]}
			if r2 := f.Numbers("r_squared")[i]; !same(r2, r*r) {
				t.Errorf("r %g, r² %g", r, r2)
			}
		}
		return out
	}
	plain, public, each := at(nil), at(map[string]string{"profile": PublicCode}),
		at(map[string]string{"models": "each"})
	if r := plain["enesall"]; r[0] > 0.5 || r[1] != 12 || r[2] != 6 {
		t.Errorf("pooled, all models: %v", r)
	}
	if r := public["enesall"]; !same(r[0], 1) || r[1] != 6 {
		t.Errorf("public-code leaves CogView 2 out: %v", r)
	}
	if a, c := each["enesA"], each["enesCogView 2"]; !same(a[0], 1) || !same(c[0], -1) {
		t.Errorf("each: %v, %v", a, c)
	}
	if r := plain["enheall"]; !same(r[0], -1) {
		t.Errorf("en and he: %v", r)
	}
	if r := plain["enjaall"]; !math.IsNaN(r[0]) {
		t.Errorf("a score that does not vary: %v", r)
	}
	if r := at(map[string]string{"outside": "drop"})["enesall"]; r[1] != 9 { // 0.35 − x is below 0 for three concepts
		t.Errorf("outside 0 to 1 dropped: %v", r)
	}
}
