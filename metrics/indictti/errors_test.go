package indictti

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"antipode/datasets"
	data "antipode/datasets/indictti"
	"antipode/internal/near"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

func TestTableErrors(t *testing.T) {
	rng := near.Rand(t, 12)
	p := made(rng, 2, 3, 2, 4, 0)
	refs := [][]float32{vector(rng, 4), vector(rng, 4), vector(rng, 4)}
	good := frameOf(p, "m", "full")
	change := func(column string, do func(c *client.Column)) *client.Frame {
		f := good.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
		do(f.Column(column))
		return f
	}
	twice := referencesOf(p, refs, "full")
	twice.Columns[0].Texts = []string{"p0000", "p0001", "p0000"}
	for want, c := range map[string]struct {
		options map[string]string
		in, ref *client.Frame
	}{
		`row 6 (id "m-l00-p0002-1"), column full: the vector is all zeros`: {in: change("full", func(c *client.Column) { c.Vectors[5] = make([]float32, 4) })},
		"NaN or infinity":     {in: change("full", func(c *client.Column) { c.Vectors[5] = []float32{1, 2, 3, float32(math.Inf(1))} })},
		"vector of 2 numbers": {in: change("full", func(c *client.Column) { c.Vectors[5] = []float32{1, 2} })},
		`(id "m-l00-p0000-0"), column id: the id occurs twice`: {in: change("id", func(c *client.Column) { c.Texts[3] = c.Texts[0] })},
		"row 1 is the same picture":                            {in: change("seed", func(c *client.Column) { c.Numbers[1] = c.Numbers[0] })},
		"names no language or no prompt":                       {in: change("prompt_id", func(c *client.Column) { c.Texts[0] = "" })},
		`"other"`:                                              {in: good, options: map[string]string{"vector": "other"}},
		`give the table "reference"`:                           {in: good},
		`rows 1 and 3 are both the prompt`:                     {in: good, ref: twice},
		`row 2 (prompt "p0001"), column full`:                  {in: good, ref: referencesOf(p, [][]float32{refs[0], make([]float32, 4), refs[2]}, "full")},
		"1 pictures of 12 are missing":                         {in: change("outcome", func(c *client.Column) { c.Texts[4] = "refused" }), options: map[string]string{"missing": "fail"}},
		"draws":                                                {in: good, options: map[string]string{"draws": "-1"}},
	} {
		inputs := []*client.Frame{c.in}
		if c.ref != nil {
			inputs = append(inputs, c.ref)
		}
		if _, _, err := evaluate("indictti-igc", c.options, nil, inputs...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	_, notes, err := evaluate("indictti-igc", nil, nil, good, referencesOf(p, [][]float32{refs[0], nil, refs[2]}, "full"))
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 of 3 prompts have no reference") {
		t.Errorf("%v, %v", notes, err)
	}
	if _, _, err := evaluate("indictti-drop", nil, nil, good, referencesOf(p, refs, "full")); err == nil || !strings.Contains(err.Error(), `language "en"`) {
		t.Errorf("a drop without English: %v", err)
	}
	own := change("seed", func(c *client.Column) {
		for i, n := range rng.Perm(len(c.Numbers)) {
			c.Numbers[i] = float64(n)
		}
	})
	f, notes, err := evaluate("indictti-scal", map[string]string{"languages": "l00,l01"}, nil, own)
	same, _, err2 := evaluate("indictti-scal", map[string]string{"languages": "l00,l01", "index": "nothing"}, nil, shuffled(rng, good))
	if err != nil || err2 != nil || len(notes) != 1 || !strings.Contains(notes[0], "no indices in common") {
		t.Fatal(notes, err, err2)
	}
	if err := near.Compare(f.Numbers("scal"), same.Numbers("scal"), 0, 1e-12); err != nil {
		t.Errorf("seeds that are not in common: the pictures do not go by id: %v", err)
	}
	none, _, err := evaluate("indictti-scwl", map[string]string{"draws": "0"}, nil, good)
	if err != nil || !math.IsNaN(none.Numbers("scwl_low")[0]) || none.Texts("interval")[0] != "" {
		t.Errorf("no draws: %v", err)
	}
	empty, _, err := evaluate("indictti-scwl", nil, nil, good.Pick(nil))
	if err != nil || empty.Len() != 0 {
		t.Errorf("an empty table: %v, %v", empty, err)
	}
}

// An empty caption keeps its vector or is left out, and is counted either way.
func TestEmptyCaptions(t *testing.T) {
	rng := near.Rand(t, 13)
	p := made(rng, 1, 4, 2, 5, 0)
	refs := [][]float32{vector(rng, 5), vector(rng, 5), vector(rng, 5), vector(rng, 5)}
	in := frameOf(p, "m", "text").With(client.TextColumn("caption", []string{"a", " ", "c", "d", "e", "f", "g", ""}))
	for rule, used := range map[string]float64{"keep": 8, "skip": 6} {
		f, _, err := evaluate("indictti-clgc", map[string]string{"empty": rule}, nil, in, referencesOf(p, refs, "text"))
		if err != nil || f.Numbers("n_empty")[0] != 2 || f.Numbers("n_used")[0] != used {
			t.Errorf("%s: %v, %v", rule, f, err)
		}
	}
}

// Every constructor makes a plan with the columns that it declares, and settings that the metric knows.
func TestConstructors(t *testing.T) {
	in := datasets.New("test", nil, datasets.Columns("language:text", "prompt_id:text", "model:text", "full:vector"))
	ratings := datasets.New("test", nil, datasets.Columns("language:text", "prompt_id:text", "annotator:text", "rating:number"))
	captions := datasets.New("test", nil, datasets.Columns("id:text", "caption:text", "text:vector"))
	translations := datasets.New("test", nil, datasets.Columns("id:text", "model:text", "language:text", "caption:text"))
	tags := datasets.New("test", nil, datasets.Columns("id:text", "tag:text"))
	languages := data.LanguageTable(data.Options{})
	by := metrics.By("model")
	for name, table := range map[string]datasets.Table{
		"clgc":    CLGC(in, in, by, SkipEmpty(), metrics.Vector("v"), ReferenceVector("w"), metrics.Draws(3), metrics.Level(0.9), metrics.SeedOf(2)),
		"igc":     IGC(in, in, Languages("en", "hin_Deva"), CommonPrompts(), FailOnMissing(), Index("n")),
		"lgc":     LGC(in, in),
		"scwl":    SCWL(in, NormalisedBy(Literal)),
		"dwl":     DWL(in, Comparing(Centroid), by),
		"scal":    SCAL(in, PairsBy(MeanAll), by),
		"overall": SCALOverall(in, OverallBy("all"), IndicOnly()),
		"drop":    DropFromEnglish(in, in, by),
		"scores":  DropOfScores(in, "clgc", by),
		"prompts": SelectPrompts(captions, 10, Filter("i"), metrics.SeedOf(3)),
		"filter":  CaptionFilter(captions, Filter("both")),
		"ratings": TranslationRatings(ratings, Tolerance(1)),
		"pool":    CaptionPool(captions, Filter("both")),
		"sets":    PromptSets(captions, Sets("full=4,small=2")),
		"common":  CommonSet(captions, captions, metrics.SeedOf(2)),
		"texts":   PromptTable(Sources{Prompts: captions, Captions: captions, Translations: &translations, Languages: &languages}),
		"table":   ResultTable(in, "clgc", 2, ListedIn("en", "hin_Deva"), Scale(1)),
		"cells":   PrintedCells(in, "clgc", 9),
		"motifs":  Motifs(translations, tags, ByLanguage(), by),
		"counts":  Completeness(in, 4, by),
	} {
		if _, err := table.Plan(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := SCAL(in, PairsBy("sum")).Plan(); err == nil || !strings.Contains(err.Error(), "mean_uneq") {
		t.Errorf("an unknown reading: %v", err)
	}
}

// The table form of Drop groups, and takes printed scores.
func TestScoreDrop(t *testing.T) {
	f := &client.Frame{Columns: []client.Column{client.TextColumn("model", []string{"a", "a", "b", "a", "b"}), client.TextColumn("language", []string{"en", "hin_Deva", "en", "tam_Taml", "hin_Deva"}),
		client.NumberColumn("igc", []float64{50, 20, 40, 30, math.NaN()})}}
	raw, err := json.Marshal(metrics.Args{Metric: "indictti-score-drop", Roles: []string{"in"}, By: []string{"model"}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := metrics.Evaluate(context.Background(), raw, []*client.Frame{f}, metrics.Call{})
	if err != nil || out.Len() != 2 || out.Numbers("drop")[0] != 25 || out.Numbers("n_languages")[0] != 2 || !math.IsNaN(out.Numbers("drop")[1]) {
		t.Fatal(out, err)
	}
	if _, err := tabulartest.Run("indictti-score-drop", f, nil); err == nil || !strings.Contains(err.Error(), "has a score already") {
		t.Errorf("two scores of a language: %v", err)
	}
}
