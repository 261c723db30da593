package consistency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
)

// frameOf returns a set as a table, one row per image; of the missing images every third is a refused row, others
// have no row or no vector.
func frameOf(p Images, model, vector string) *table.Frame {
	var ids, models, languages, prompts, outcomes []string
	var seeds []float64
	var vectors [][]float32
	missing := 0
	for l, language := range p.Languages {
		for k, prompt := range p.Prompts {
			for r, v := range p.Vectors[l][k] {
				outcome := "ok"
				if v == nil {
					missing++
					switch missing % 3 {
					case 0:
						outcome = "refused"
					case 1:
						continue
					}
				}
				ids = append(ids, fmt.Sprintf("%s-%s-%s-%d", model, language, prompt, r))
				models, languages, prompts, outcomes = append(models, model), append(languages, language),
					append(prompts, prompt), append(outcomes, outcome)
				// 95, 100, 105: in order as numbers, not as text
				seeds, vectors = append(seeds, float64(95+5*r)), append(vectors, v)
			}
		}
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("model", models),
		table.TextColumn("language", languages), table.TextColumn("prompt_id", prompts),
		table.TextColumn("outcome", outcomes), table.NumberColumn("seed", seeds),
		table.VectorColumn(vector, vectors)}}
}

func referencesOf(p Images, refs [][]float32, vector string) *table.Frame {
	return &table.Frame{Columns: []table.Column{table.TextColumn("prompt_id", p.Prompts),
		table.VectorColumn(vector, refs)}}
}

// evaluate is [compute] with inputs in the roles in and reference.
func evaluate(metric string, options map[string]string, by []string, inputs ...*table.Frame) (*table.Frame, []string,
	error) {
	frames := map[string]*table.Frame{"in": inputs[0]}
	if len(inputs) > 1 {
		frames["reference"] = inputs[1]
	}
	return compute(metric, options, by, frames)
}

func shuffled(rng *rand.Rand, f *table.Frame) *table.Frame { return f.Pick(rng.Perm(f.Len())) }

// TestTables: the table forms return the values of the pure functions, for any order of rows, with counts, and an
// interval around each value.
func TestTables(t *testing.T) {
	rng := near.Rand(t, 10)
	p := made(rng, 4, 9, 4, 6, 0.15)
	p.Languages[2] = "en"
	for r := range 4 { // one prompt has all images, so that the table contains all indices
		p.Vectors[0][0][r] = vector(rng, 6)
	}
	refs := make([][]float32, 9)
	for k := range refs {
		refs[k] = vector(rng, 6)
	}
	refs[4] = nil
	order := []int{2, 0, 1, 3} // English first; sorted tables name the others in this order
	check := func(metric string, options map[string]string, scores []Score, err error, inputs ...*table.Frame) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		f, _ := must.Get2(evaluate("indictti-"+metric, options, nil, inputs...))(t)
		refused := 0.
		for i, l := range f.Texts("language") {
			at := slices.Index(p.Languages, l)
			if i == 0 && l != "en" || at < 0 {
				t.Fatalf("%s: languages %v", metric, f.Texts("language"))
			}
			s, v, low, high := scores[at], f.Numbers(metric)[i], f.Numbers(metric + "_low")[i],
				f.Numbers(metric + "_high")[i]
			if math.Abs(v-s.Value) > 1e-12 || !(low < v && v < high) {
				t.Errorf("%s, %s: %v in [%v, %v], want %v", metric, l, v, low, high, s.Value)
			}
			got := [5]float64{f.Numbers("n_prompts")[i], f.Numbers("n_excluded")[i], f.Numbers("n_asked")[i],
				f.Numbers("n_missing")[i], f.Numbers("n_used")[i]}
			if got != [5]float64{float64(s.Prompts), float64(s.Excluded), 36, float64(s.Missing),
				float64(s.Images)} || got[3]+got[4] != got[2] {
				t.Errorf("%s, %s: counts %v, want %+v", metric, l, got, s)
			}
			refused += f.Numbers("n_refused")[i]
		}
		if f.Len() != 4 || refused == 0 {
			t.Errorf("%s: %d rows, %v refused", metric, f.Len(), refused)
		}
	}
	full := frameOf(p, "m", "full")
	c, err := ComputeCorrectness(p, refs)
	check("clgc", nil, c, err, shuffled(rng, frameOf(p, "m", "text")), referencesOf(p, refs, "text"))
	check("igc", nil, c, err, shuffled(rng, full), referencesOf(p, refs, "full"))
	check("lgc", map[string]string{"vector": "full"}, c, err, shuffled(rng, full), referencesOf(p, refs, "clip_text"))
	w, err := ComputeSCWL(p, Mean)
	check("scwl", nil, w, err, shuffled(rng, full))
	d, err := ComputeDWL(p, SameSeed, Mean)
	check("dwl", map[string]string{"images": "same_seed"}, d, err, shuffled(rng, full))

	pairs := must.Get(ComputeSCAL(p, MeanUpper))(t)
	f, _, err := evaluate("indictti-scal", map[string]string{"method": "mean_ult"}, nil, full)
	if err != nil || f.Len() != 16 {
		t.Fatal(err)
	}
	var values [][]float64
	for _, s := range pairs {
		values = append(values, valuesOf(s))
	}
	for i, a := range f.Texts("language_a") {
		from, to := slices.Index(p.Languages, a), slices.Index(p.Languages, f.Texts("language_b")[i])
		if math.Abs(f.Numbers("scal")[i]-values[from][to]) > 1e-12 || (f.Texts("kind")[i] == "SCWL") != (from == to) ||
			!(f.Numbers("scal_low")[i] < values[from][to]) {
			t.Errorf("row %d: %v, want %v", i, f.Numbers("scal")[i], values[from][to])
		}
	}
	f, _, err = evaluate("indictti-scal-overall", map[string]string{"pairs": "mean_ult", "method": "all"}, nil, full)
	if err != nil || f.Len() != 3 {
		t.Fatal(err)
	}
	for i, n := range OverallNormalizers {
		want, err := ComputeSCALOverall(values, n)
		if v := f.Numbers("scal")[i]; err != nil || f.Texts("method")[i] != string(n) || math.Abs(v-want) > 1e-12 ||
			!(f.Numbers("scal_low")[i] < v && v < f.Numbers("scal_high")[i]) || f.Numbers("n_pairs")[i] != 6 ||
			f.Numbers("n_languages")[i] != 4 {
			t.Errorf("%s: %v, want %v, %v", n, v, want, err)
		}
	}
	f, _, err = evaluate("indictti-scal-overall", map[string]string{"pairs": "mean_ult", "of": "indic"}, nil, full)
	sum := 0.
	for _, a := range order[1:] {
		for _, b := range order[1:] {
			if a != b {
				sum += values[a][b] / 6
			}
		}
	}
	if err != nil || math.Abs(f.Numbers("scal")[0]-sum) > 1e-12 || f.Numbers("n_languages")[0] != 3 {
		t.Errorf("Indic only: %v, want %v, %v", f.Numbers("scal"), sum, err)
	}
	f, _, err = evaluate("indictti-drop", nil, nil, full, referencesOf(p, refs, "full"))
	want, _ := ComputeDrop(c[2].Value, []float64{c[0].Value, c[1].Value, c[3].Value})
	if err != nil || math.Abs(f.Numbers("drop")[0]-want) > 1e-12 ||
		!(f.Numbers("drop_low")[0] < want && want < f.Numbers("drop_high")[0]) || f.Numbers("n_languages")[0] != 3 ||
		math.Abs(f.Numbers("english")[0]-f.Numbers("others")[0]-want) > 1e-12 {
		t.Errorf("drop %v, want %v, %v", f, want, err)
	}
	few := full.With(table.TextColumn("outcome", slices.Clone(full.Texts("outcome"))))
	for i, prompt := range few.Texts("prompt_id") { // a language of one prompt, which some resamples lack
		if l := few.Texts("language")[i]; l != "en" && prompt != "p000"+l[2:] {
			few.Texts("outcome")[i] = "refused"
		}
	}
	f, _ = must.Get2(evaluate("indictti-drop", nil, nil, few, referencesOf(p, refs, "full")))(t)
	must.Equal(t, f.Numbers("n_languages")[0], 3, "languages with a score")
}

// TestGroups: groups are scored separately; a language of one model is blank for the other; the common set contains the
// prompts of both.
func TestGroups(t *testing.T) {
	rng := near.Rand(t, 11)
	a, b := made(rng, 3, 6, 2, 5, 0), made(rng, 2, 4, 3, 5, 0)
	both := frameOf(a, "a", "full")
	other := frameOf(b, "b", "full")
	for i := range both.Columns {
		c := &both.Columns[i]
		o := other.Columns[i]
		c.Texts, c.Numbers, c.Vectors = append(c.Texts, o.Texts...), append(c.Numbers, o.Numbers...),
			append(c.Vectors, o.Vectors...)
	}
	alone, _ := must.Get2(evaluate("indictti-scwl", nil, nil, frameOf(a, "a", "full")))(t)
	f, notes, err := evaluate("indictti-scwl", nil, []string{"model"}, shuffled(rng, both))
	if err != nil || f.Len() != 6 || len(notes) != 0 {
		t.Fatal(err, notes)
	}
	value := func(f *table.Frame, model, language string) float64 {
		for i, l := range f.Texts("language") {
			if l == language && (model == "" || f.Texts("model")[i] == model) {
				return f.Numbers("scwl")[i]
			}
		}
		t.Fatalf("no row of %s, %s", model, language)
		return 0
	}
	for _, l := range a.Languages {
		must.Equal(t, value(f, "a", l), value(alone, "", l), l, "with another model")
	}
	must.Near(t, value(f, "b", "l02"), math.NaN(), 0, "a language without images has the value")
	common, notes, err := evaluate("indictti-scwl", map[string]string{"prompts": "common", "languages": "l01,l07"},
		[]string{"model"}, both)
	if err != nil || common.Len() != 4 || common.Numbers("n_prompts")[0] != 4 || common.Texts("interval")[1] != "" ||
		!strings.Contains(strings.Join(notes, ""), `no row is of the language "l07"; the table has l00, l01`) ||
		!math.IsNaN(value(common, "b", "l07")) {
		t.Fatal(common, notes, err)
	}
	refusal := both.Pick(rng.Perm(both.Len())).With(table.TextColumn("outcome",
		slices.Repeat([]string{"ok"}, both.Len())))
	for i, prompt := range refusal.Texts("prompt_id") {
		if prompt == "p0005" || prompt == "p0002" && refusal.Texts("model")[i] == "a" { // p0005 is not common
			refusal.Texts("outcome")[i] = "refused"
		}
	}
	f, _, err = evaluate("indictti-scwl", map[string]string{"prompts": "common", "languages": "l01"}, []string{"model"},
		refusal)
	if err != nil || !slices.Equal(f.Numbers("n_refused"), []float64{2, 0}) || !slices.Equal(f.Numbers("n_missing"),
		[]float64{2, 0}) {
		t.Errorf("refused images of the common prompts: %v, %v", f, err)
	}
	small := a
	small.Prompts, small.Vectors = a.Prompts[:4], [][][][]float32{a.Vectors[0][:4], a.Vectors[1][:4], a.Vectors[2][:4]}
	must.Equal(t, must.Get(ComputeSCWL(small, Mean))(t)[1].Value, value(common, "a", "l01"), "common prompts")
}
