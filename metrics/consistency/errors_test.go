package consistency

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

func TestTableErrors(t *testing.T) {
	rng := near.Rand(t, 12)
	p := made(rng, 2, 3, 2, 4, 0)
	refs := [][]float32{vector(rng, 4), vector(rng, 4), vector(rng, 4)}
	good := frameOf(p, "m", "full")
	good.RowNumbers = sequence(12)
	change := func(column string, do func(c *table.Column)) *table.Frame {
		f := good.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		do(f.Column(column))
		return f
	}
	twice := referencesOf(p, refs, "full")
	twice.RowNumbers = []int{4, 5, 6}
	twice.Columns[0].Texts = []string{"p0000", "p0001", "p0000"}
	for want, c := range map[string]struct {
		options map[string]string
		in, ref *table.Frame
	}{
		`row 5 (id "m-l00-p0002-1"), column full: the vector is all zeros`: {in: change("full",
			func(c *table.Column) { c.Vectors[5] = make([]float32, 4) })},
		"NaN or infinity": {in: change("full",
			func(c *table.Column) { c.Vectors[5] = []float32{1, 2, 3, float32(math.Inf(1))} })},
		"vector of 2 numbers": {in: change("full", func(c *table.Column) { c.Vectors[5] = []float32{1, 2} })},
		`(id "m-l00-p0000-0"), column id: the id occurs twice`: {in: change("id",
			func(c *table.Column) { c.Texts[3] = c.Texts[0] })},
		"row 0 is the same image": {in: change("seed",
			func(c *table.Column) { c.Numbers[1] = c.Numbers[0] })},
		"language or prompt is blank": {in: change("prompt_id",
			func(c *table.Column) { c.Texts[0] = "" })},
		`"other"`: {in: good,
			options: map[string]string{"vector": "other"}},
		`give the table "reference"`:        {in: good},
		`rows 4 and 6 have the same prompt`: {in: good, ref: twice},
		`row 2 (prompt "p0001"), column full`: {in: good,
			ref: referencesOf(p, [][]float32{refs[0], make([]float32, 4), refs[2]}, "full")},
		"1 of 12 images are missing": {in: change("outcome",
			func(c *table.Column) { c.Texts[4] = "refused" }), options: map[string]string{"missing": "fail"}},
		"resamples": {in: good, options: map[string]string{"resamples": "-2"}},
	} {
		inputs := []*table.Frame{c.in}
		if c.ref != nil {
			inputs = append(inputs, c.ref)
		}
		must.Fail(evaluate("indictti-igc", c.options, nil, inputs...))(t, want)
	}
	_, notes, err := evaluate("indictti-igc", nil, nil, good, referencesOf(p, [][]float32{refs[0], nil, refs[2]},
		"full"))
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 of 3 prompts have no reference") {
		t.Errorf("%v, %v", notes, err)
	}
	// a drop without English
	must.Fail(evaluate("indictti-drop", nil, nil, good, referencesOf(p, refs, "full")))(t, `language "en"`)
	own := change("seed", func(c *table.Column) {
		for i, n := range rng.Perm(len(c.Numbers)) {
			c.Numbers[i] = float64(n)
		}
	})
	f, notes, err := evaluate("indictti-scal", map[string]string{"languages": "l00,l01"}, nil, own)
	same, _, err2 := evaluate("indictti-scal", map[string]string{"languages": "l00,l01", "index": "nothing"}, nil,
		shuffled(rng, good))
	if err != nil || err2 != nil || len(notes) != 1 || !strings.Contains(notes[0], "no indices in common") {
		t.Fatal(notes, err, err2)
	}
	spelled := good.With(table.CellColumn("seed", slices.Concat(slices.Repeat([]string{"95", "100"}, 3),
		slices.Repeat([]string{"95.0", "1e2"}, 3)), table.NumberFormat{}))
	_, notes, err = evaluate("indictti-scal", nil, nil, spelled)
	must.Equal(t, len(notes), 0, "seeds in other spellings", notes, err)
	near.Check(t, "without seeds in common, images are not ordered by id", f.Numbers("scal"), same.Numbers("scal"), 0,
		1e-12)
	none, _ := must.Get2(evaluate("indictti-scwl", map[string]string{"resamples": "0"}, nil, good))(t)
	must.Near(t, none.Numbers("scwl_low")[0], math.NaN(), 0, "no resamples")
	must.Equal(t, none.Texts("interval")[0], "", "no resamples")
	empty, _ := must.Get2(evaluate("indictti-scwl", nil, nil, good.Pick(nil)))(t)
	must.Equal(t, empty.Len(), 0, "an empty table", empty)
}

// TestEmptyCaptions: an empty caption keeps its vector or is left out, and is counted in both cases.
func TestEmptyCaptions(t *testing.T) {
	rng := near.Rand(t, 13)
	p := made(rng, 1, 4, 2, 5, 0)
	refs := [][]float32{vector(rng, 5), vector(rng, 5), vector(rng, 5), vector(rng, 5)}
	in := frameOf(p, "m", "text").With(table.TextColumn("caption", []string{"a a a a", " ", "c", "d", "c", "f", "g",
		""}))
	for rule, used := range map[string]float64{"keep": 8, "skip": 6} {
		f, _, err := evaluate("indictti-clgc", map[string]string{"empty": rule}, nil, in, referencesOf(p, refs, "text"))
		if err != nil || f.Numbers("n_empty")[0] != 2 || f.Numbers("n_used")[0] != used ||
			f.Numbers("n_degenerate")[0] != 1 || f.Numbers("n_repeated")[0] != 2 {
			t.Errorf("%s: %v, %v", rule, f, err)
		}
	}
}

// TestScoreDrop: the table form of Drop groups rows and accepts printed scores.
func TestScoreDrop(t *testing.T) {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("model", []string{"a", "a", "b", "a", "b"}),
		table.TextColumn("language", []string{"en", "hin_Deva", "en", "tam_Taml", "hin_Deva"}),
		table.NumberColumn("igc", []float64{50, 20, 40, 30, math.NaN()})}}
	out, err := tabulartest.Run("indictti-score-drop", f, nil, "model")
	if err != nil || out.Len() != 2 || out.Numbers("drop")[0] != 25 || out.Numbers("n_languages")[0] != 2 ||
		!math.IsNaN(out.Numbers("drop")[1]) {
		t.Fatal(out, err)
	}
	f.RowNumbers = []int{1, 2, 4, 8, 16}
	must.Fail(tabulartest.Run("indictti-score-drop", f, nil))(t, `row 4: the language "en" has two scores`)
}
