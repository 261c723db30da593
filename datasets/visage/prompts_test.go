package visage

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/operation"
	"antipode/datasets/seegull"
	"antipode/datasets/table"
	"antipode/internal/must"
)

func TestArticle(t *testing.T) {
	for word, want := range map[string]string{
		"Indian": "an", "Mexican": "a", "Uruguayan": "a", "Ukrainian": "a", "Ugandan": "a", "United Kingdom": "a",
		"Uzbek": "an", "European": "a", "Ethiopian": "an", "Emiratis": "an", "Ivorians": "an",
		"honesty": "an", "honey-colored": "a", "hourly": "an", "Hungarian": "a", "underweight": "an",
		"unidentified": "an", "uniformed": "a", "useful": "a", "one-eyed": "a", "old": "an", "éthiopien": "an",
		"(elegant": "an", "utter": "an", "utopian": "a", "": "a", "भारतीय": "a",
	} {
		must.Equal(t, Article(word), want, word)
	}
	for template, want := range map[string]string{
		"{A} {id} person":                   "An Unorran person",
		"A photo of {a} {attr} {id} person": "A photo of a tall Unorran person",
		"{A} {attr} one next to {a} {id}":   "A tall one next to an Unorran",
	} {
		must.Equal(t, Fill(template, "Unorran", "tall"), want)
	}
}

// frame evaluates a table and checks it against its columns.
func frame(t *testing.T, of datasets.Table) (*datasets.Frame, error) {
	t.Helper()
	plan := must.Get(of.Plan())(t)
	f, err := evaluate(plan)
	if err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil || !reflect.DeepEqual(f.Specs(), of.Columns()) {
		t.Errorf("%v; columns %v, declared %v", err, f.Specs(), of.Columns())
	}
	return f, nil
}

// evaluate evaluates a plan of sources and operations.
func evaluate(plan *table.Plan) (*datasets.Frame, error) {
	if len(plan.Inputs) == 0 {
		return operation.EvaluatorOf(plan.Op)(context.Background(), datasets.Call{}, plan.Args, nil)
	}
	var inputs []*datasets.Frame
	computed := &table.Plan{Op: plan.Op, Args: plan.Args}
	for i, in := range plan.Inputs {
		computed.Inputs = append(computed.Inputs, operation.InputPlan(i))
		f, err := evaluate(in)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, f)
	}
	return new(operation.Call).Evaluate(context.Background(), computed, inputs...)
}

// TestPromptJobs: 135 identities · 3 prompts · 5 images = 2,025 jobs, each named as its image in the annotations.
func TestPromptJobs(t *testing.T) {
	f := must.Get(frame(t, Prompts(PromptOptions{})))(t)
	seeds := slices.Compact(slices.Sorted(slices.Values(f.Numbers("seed"))))
	ids := slices.Compact(slices.Sorted(slices.Values(f.Texts("id"))))
	must.Equal(t, [3]int{f.Len(), len(seeds), len(ids)}, [3]int{2025, 2025, 2025}, "jobs seeds ids")
	for i, p := range f.Texts("prompt") {
		if strings.Contains(p, "UK ") || strings.ContainsAny(p, "{}") {
			t.Errorf("%q", p)
		}
		if id, n, err := parse(f.Texts("id")[i]); err != nil || id != f.Texts("identity")[i] ||
			n != f.Numbers("number")[i] {
			t.Errorf("%q is read as image %g of %q", f.Texts("id")[i], n, id)
		}
	}
	own := must.Get(frame(t, Prompts(PromptOptions{Identities: []string{"Veltan", "Unorran"},
		Templates: []string{"{A} {id} street"}, N: 2, Seed: 7})))(t)
	must.EqualSlices(t, own.Texts("prompt"), []string{"A Veltan street", "A Veltan street", "An Unorran street",
		"An Unorran street"})
	must.EqualSlices(t, own.Numbers("seed"), []float64{7, 8, 9, 10})
	for _, o := range []PromptOptions{{Templates: []string{"a person"}}, {Templates: []string{"{id} {attr}"}},
		{Templates: []string{"{id} {object}"}}, {Identities: []string{"x", "x"}}, {Identities: []string{""}},
		{N: -1}} {
		must.Fail(frame(t, Prompts(o)))(t)
	}
}

func parse(id string) (string, float64, error) {
	p, err := parseImage(id + ".png")
	return p.identity, float64(p.number), err
}

// TestSetPrompts: s holds stereotypes that can be seen, ns visual attributes that SeeGULL does not list for the
// identity; attributes are masked by default, prompts only where they are displayed.
func TestSetPrompts(t *testing.T) {
	manifesttest.Dir(t, Name)
	o := SetOptions{SetPromptsOfOptions: SetPromptsOfOptions{
		Identities: []string{"Indian", "Omani"}, N: 2}}
	masked := must.Get(frame(t, SetPrompts(o)))(t)
	o.ShowOffensive = true
	f := must.Get(frame(t, SetPrompts(o)))(t)
	rows := map[string]int{}
	for i, set := range f.Texts("set") {
		id := f.Texts("identity")[i]
		rows[id+" "+set]++
		stereo, attribute, label := f.Numbers("na_stereo")[i], f.Texts("attribute")[i], masked.Texts("attribute")[i]
		if (set == "s") != (stereo >= 2) || (set == "s") == math.IsNaN(stereo) || (set == "d") != (attribute == "") {
			t.Errorf("%s, %s: na_stereo %g, attribute %q", id, set, stereo, attribute)
		}
		prompt := f.Texts("prompt")[i]
		if !strings.Contains(prompt, attribute) || !strings.Contains(prompt, id) {
			t.Errorf("%q does not name %s and %q", prompt, id, attribute)
		}
		must.Equal(t, masked.Texts("prompt")[i], prompt, "sent as")
		must.Equal(t, f.Texts("prompt_shown")[i], "", "sent as")
		display := masked.Shown().Texts("prompt")[i]
		if set != "d" && (label == attribute) != seegull.Shown(f.Numbers("offensiveness")[i]) ||
			(label == attribute) != (seegull.Masked(display) == "") || (label == attribute) != (display == prompt) ||
			label != attribute && strings.Contains(display, " "+attribute+" ") {
			t.Errorf("%s, %s: %q is shown as %q in %q", id, set, attribute, label, display)
		}
	}
	if want := map[string]int{"Indian d": 2, "Indian s": 34 * 6, "Indian ns": 34 * 6, "Omani d": 2, "Omani s": 6,
		"Omani ns": 6}; !reflect.DeepEqual(rows, want) {
		t.Errorf("%v, want %v", rows, want)
	}
	again, err := frame(t, SetPrompts(o))
	if err != nil || !reflect.DeepEqual(again.Texts("prompt"), f.Texts("prompt")) {
		t.Errorf("the same seed gives other prompts (%v)", err)
	}
	o.Seed, o.Attributes, o.Others = 1, 3, 5
	must.Equal(t, must.Get(frame(t, SetPrompts(o)))(t).Len(), 2+3*6+5*6+2+1*6+5*6)
	must.Fail(frame(t, SetPrompts(SetOptions{
		SetPromptsOfOptions: SetPromptsOfOptions{Identities: []string{"Veltan"}}})))(t, "Veltan")
	must.Fail(frame(t, SetPrompts(SetOptions{
		SetPromptsOfOptions: SetPromptsOfOptions{Described: []string{"{id}"}}})))(t, "{attr}")
}

// TestPrintedPull: Tables 3 to 5 hold 135 identities, 121 of them with S(d,s) > S(d,ns); the printed mean is that of
// the three columns but for the last digit, and sorts the tables from high to low.
func TestPrintedPull(t *testing.T) {
	f := must.Get(frame(t, PrintedPull("")))(t)
	positive, tables := 0, map[float64]int{}
	for i, mean := range f.Numbers("mean_sim") {
		if f.Numbers("pull")[i] > 0 {
			positive++
		}
		tables[f.Numbers("table")[i]]++
		if d := math.Abs(f.Numbers("mean_recomputed")[i] - mean); d > 0.000101 {
			t.Errorf("%s: the mean is off by %g", f.Texts("identity")[i], d)
		}
		if i > 0 && mean > f.Numbers("mean_sim")[i-1] {
			t.Errorf("%s: %g is listed after %g", f.Texts("identity")[i], mean, f.Numbers("mean_sim")[i-1])
		}
		if f.Texts("region")[i] == "" {
			t.Errorf("%s has no region", f.Texts("identity")[i])
		}
	}
	if positive != 121 || f.Len() != 135 || tables[5] != 66 {
		t.Errorf("%d of %d positive, %v", positive, f.Len(), tables)
	}
	known := Identities()
	if len(known) != 135 || !slices.Contains(known, "United KingdomUK") {
		t.Errorf("%d identities", len(known))
	}
	p, err := frame(t, Printed())
	if err != nil || p.Len() != 105 || p.Texts("theta_text")[0] != "N/A" || !math.IsNaN(p.Numbers("theta")[0]) {
		t.Errorf("%v, %v", p, err)
	}
	for _, r := range PrintedTables() {
		if !slices.Contains(known, r.Identity) {
			t.Errorf("%s is only in Tables 1 and 2", r.Identity)
		}
	}
}

// TestRegions: all of SeeGULL's identities have one of the eight regions; a file of one's own takes the mapping's
// place.
func TestRegions(t *testing.T) {
	f := must.Get(frame(t, Regions("")))(t)
	regions := slices.Compact(slices.Sorted(slices.Values(f.Texts("region"))))
	must.EqualSlices(t, regions, []string{"Australia", "East Asia", "Europe", "Latin America", "Middle East",
		"North America", "South Asia", "Sub-Saharan Africa"})
	for i, code := range f.Texts("iso3") {
		if len(code) != 3 && f.Texts("identity")[i] != "Kosovar" || code != strings.ToUpper(code) {
			t.Errorf("%s: %q", f.Texts("identity")[i], code)
		}
	}
	for identity, want := range map[string]string{"Japanese": GlobalNorth, "Georgian": GlobalSouth,
		"Indian": GlobalSouth, "United Kingdom": GlobalNorth, "Mexican": GlobalSouth} {
		must.Equal(t, f.Texts("part")[slices.Index(f.Texts("identity"), identity)], want, identity)
	}
	pairs, _ := must.Get2(seegull.Load(os.DirFS(manifesttest.Dir(t, seegull.Name))))(t)
	for _, p := range pairs {
		if !slices.Contains(f.Texts("identity"), p.Identity) {
			t.Fatalf("%s has no region", p.Identity)
		}
	}
	// 176, and the United Kingdom as scores show it
	if f.Len() != 177 || !slices.Contains(f.Texts("identity"), "United Kingdom") {
		t.Errorf("%d identities", f.Len())
	}
	path := filepath.Join(t.TempDir(), "mine.csv")
	for text, want := range map[string]string{
		"region,identity,country,iso3\nGlobal South, Indian,India,IND\n": "",
		"identity,region,country,iso3\nIndian,,India,IND\n":              "line 2, column region",
		"identity,region,country,iso3\nA,x,,\nA,y,,\n":                   "line 3, column identity",
		"identity\nA\n": "region",
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		mine, err := frame(t, Regions(path))
		switch {
		case want == "" && (err != nil || mine.Len() != 1 || mine.Texts("region")[0] != "Global South"):
			t.Errorf("%v, %v", mine, err)
		case want == "":
			pull, err := frame(t, PrintedPull(path))
			if at := slices.Index(pull.Texts("identity"), "Indian"); err != nil || pull.Len() != 135 ||
				pull.Texts("region")[at] != "Global South" || pull.Texts("region")[0] != "" {
				t.Errorf("regions of one's own do not reach the printed pulls (%v)", err)
			}
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestBoxes: two corners in any order, inside the image or not, give one box inside it.
func TestBoxes(t *testing.T) {
	want := Box{Left: 0, Top: 20, Right: 110, Bottom: 512}
	for _, v := range []string{"['-5,20', '110,700']", "['110,700', '-5,20']", "['-5,700', '110,20']",
		`["110,20", "-5,700"]`} {
		must.Equal(t, must.Get(parseBox(v))(t), want, v)
	}
	for _, v := range []string{"['1,2']", "['1,2', 'x,4']", "1,2,3,4", "['nan,2', '3,4']"} {
		must.Fail(parseBox(v))(t)
	}
}
