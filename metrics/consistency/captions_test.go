package consistency

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/indictti"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// compute evaluates an operation with inputs by role and seed 5, and compares its columns with the declared ones.
func compute(name string, options map[string]string, by []string, inputs map[string]*table.Frame) (f *table.Frame,
	notes []string, err error) {
	given := map[string]string{}
	maps.Copy(given, options)
	for _, o := range operation.Find(name).Options {
		if o.Name == "seed" {
			given["seed"] = "5"
		}
	}
	if len(by) > 0 {
		given["by"] = strings.Join(by, ",")
	}
	f, err = tabulartest.RunOn(name, inputs, given, &notes)
	return f, notes, err
}

// released is a table in the layout of LAION-COCO-NLLB: every image has a caption in each of the 24 languages that
// the data set has, unless lacking names one.
func released(captions []string, lacking map[int]string) *table.Frame {
	var ids, urls, pairs []string
	for i := range captions {
		var list [][]string
		for _, l := range indictti.Languages() {
			if l.Source == indictti.NLLB && l.Code != lacking[i] {
				list = append(list, []string{l.Code, fmt.Sprintf("%s %d", l.Name, i)})
			}
		}
		text, _ := json.Marshal(list)
		ids, urls, pairs = append(ids, fmt.Sprintf("n%02d", i)),
			append(urls, fmt.Sprintf("https://example.org/%d.jpg", i)), append(pairs, string(text))
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("url", urls),
		table.TextColumn("eng_caption", captions), table.TextColumn("captions", pairs),
		table.NumberColumn("score", make([]float64, len(ids)))}}
}

var english7 = []string{"a man in a brown jacket", "a swan on a lake", "a street in Delhi at night", "a swan on a lake",
	"", "a red bus", "a dog and a cat"}

// TestPool: every caption that is left out has a reason, whatever the order of rows and the form of captions.
func TestPool(t *testing.T) {
	f := released(english7, map[int]string{5: "tam_Taml"})
	f.Texts("url")[6] = ""
	want := []string{"", "", "capitalized word", "repeats n01", "no English caption", "no caption in tam_Taml",
		"no image"}
	wide := f.Pick([]int{0, 1, 2, 3, 4, 5, 6})
	wide.Columns = slices.DeleteFunc(wide.Columns, func(c table.Column) bool { return c.Name == "captions" })
	for _, l := range indictti.Languages() {
		if l.Source != indictti.NLLB {
			continue
		}
		column := table.TextColumn(l.Code, slices.Repeat([]string{"text"}, 7))
		if l.Code == "tam_Taml" {
			column.Texts[5] = ""
		}
		wide = wide.With(column)
	}
	for form, tab := range map[string]*table.Frame{"pairs": f, "columns": wide} {
		got, notes, err := compute("indictti-pool", nil, nil, map[string]*table.Frame{"in": tab})
		if err != nil || !slices.Equal(got.Texts("reason"), want) || got.Texts("word")[2] != "Delhi" ||
			got.Texts("kept")[0] != "yes" || got.Texts("kept")[2] != "no" || got.Numbers("n_captions")[5] != 23 ||
			got.Numbers("n_captions")[0] != 24 || len(notes) != 1 ||
			!strings.Contains(notes[0], "2 of 7 captions are kept") {
			t.Errorf("%s: %q, %v, %v", form, got.Texts("reason"), notes, err)
		}
	}
	moved, _ := must.Get2(compute("indictti-pool", nil, nil, map[string]*table.Frame{"in": shuffled(near.Rand(t, 71),
		f)}))(t)
	for i, id := range moved.Texts("id") {
		must.Equal(t, moved.Texts("reason")[i], want[slices.Index(f.Texts("id"), id)], "other order of rows", id)
	}
	exempt, _, err := compute("indictti-pool", map[string]string{"filter": "none"}, nil,
		map[string]*table.Frame{"in": f})
	if err != nil || exempt.Texts("kept")[2] != "yes" {
		t.Errorf("no filter: %v", err)
	}
	bad := f.Pick([]int{0, 1})
	bad.Texts("captions")[1] = "[[1]]"
	for want, tab := range map[string]*table.Frame{
		`row 2 (id "n01"), column captions`: bad,
		"has no captions":                   f.Pick([]int{0}).With(table.TextColumn("captions", []string{""})),
		"the id occurs twice":               f.Pick([]int{0, 0}),
		`no such column: "eng_caption"`:     {Columns: []table.Column{table.TextColumn("id", []string{"a"})}},
	} {
		if want == "has no captions" {
			tab.Columns = slices.DeleteFunc(tab.Columns, func(c table.Column) bool { return c.Name == "captions" })
		}
		must.Fail(compute("indictti-pool", nil, nil, map[string]*table.Frame{"in": tab}))(t, want)
	}
}

// TestPromptSets: nested sets are columns; a given common set is in all of them.
func TestPromptSets(t *testing.T) {
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("p%03d", i))
	}
	in := &table.Frame{Columns: []table.Column{table.TextColumn("id", ids)}}
	options := map[string]string{"sets": "full=100,midjourney=20,dalle3=5,common=4"}
	common := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"p007", "p042"})}}
	for name, inputs := range map[string]map[string]*table.Frame{"sampled": {"in": in},
		"given": {"in": in, "common": common}} {
		f, _ := must.Get2(compute("indictti-subsets", options, nil, inputs))(t)
		sizes := map[string]int{}
		for i := range ids {
			for k, set := range []string{"full", "midjourney", "dalle3", "common"} {
				if f.Texts(set)[i] == "yes" {
					sizes[set]++
					if larger := []string{"full", "full", "midjourney", "dalle3"}[k]; f.Texts(larger)[i] != "yes" {
						t.Errorf("%s: %s is in %s and not in %s", name, ids[i], set, larger)
					}
				}
			}
		}
		if sizes["full"] != 100 || sizes["midjourney"] != 20 || sizes["dalle3"] != 5 || sizes["common"] != 4 {
			t.Errorf("%s: sizes %v", name, sizes)
		}
		if name == "given" && (f.Texts("common")[7] != "yes" || f.Texts("common")[42] != "yes") {
			t.Error("the given prompts are not in the common set")
		}
		again, _ := must.Get2(compute("indictti-subsets", options, nil, inputs))(t)
		must.EqualSlices(t, again.Texts("common"), f.Texts("common"), name, "not the same twice")
	}
	for want, sets := range map[string]string{"is not NAME=SIZE": "full", `"full=1x" is not NAME=SIZE`: "full=1x",
		"change the option sets": "full=1000"} {
		must.Fail(compute("indictti-subsets", map[string]string{"sets": sets}, nil,
			map[string]*table.Frame{"in": in}))(t, want)
	}
}

// TestPromptTable: each language has the label of its caption source: 24 NLLB, 6 IndicTrans2, 1 original; a prompt
// without a text is skipped with a reason.
func TestPromptTable(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"n01", "n00"}),
		table.TextColumn("caption", []string{"a swan on a lake", "a man in a brown jacket"})}}
	word := map[string]string{"Deva": "बस", "Olck": "ᱵᱟᱥ", "Mtei": "ꯕꯁ"}
	var ids, languages, captions []string
	for _, l := range indictti.Languages() {
		if l.Source == indictti.IndicTrans2 {
			ids, languages, captions = append(ids, "n00", "n01"), append(languages, l.Code, l.Code),
				append(captions, word[l.Script]+" 0", word[l.Script]+" 1")
		}
	}
	translations := &table.Frame{Columns: []table.Column{table.TextColumn("id", ids),
		table.TextColumn("language", languages), table.TextColumn("text", captions)}}
	inputs := map[string]*table.Frame{"in": in, "captions": released(english7, nil), "translations": translations}
	f, notes, err := compute("indictti-captions", nil, nil, inputs)
	if err != nil || f.Len() != 62 || len(notes) != 0 {
		t.Fatal(f, notes, err)
	}
	sources := map[string]int{}
	for i, s := range f.Texts("caption_source") {
		sources[s]++
		if f.Texts("outcome")[i] != "ok" || f.Texts("prompt")[i] == "" || f.Texts("script")[i] == "" {
			t.Errorf("row %d: %q, %q", i, f.Texts("prompt")[i], f.Texts("reason")[i])
		}
	}
	if sources[indictti.NLLB] != 2*24 || sources[indictti.IndicTrans2] != 2*6 || sources[indictti.Original] != 2 {
		t.Errorf("%v", sources)
	}
	if f.Texts("id")[4] != "n01-hin_Deva" || f.Texts("prompt")[4] != "Hindi 1" ||
		f.Texts("prompt")[0] != "a swan on a lake" || f.Texts("prompt")[30] != "ꯕꯁ 1" {
		t.Errorf("%q: %q", f.Texts("id")[4], f.Texts("prompt")[4])
	}
	delete(inputs, "translations")
	f, notes, err = compute("indictti-captions", nil, nil, inputs)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "6 of 31 languages") ||
		f.Texts("outcome")[30] != "skipped" || f.Texts("reason")[30] != "no caption in mni_Mtei from IndicTrans2" {
		t.Errorf("%v, %v", notes, err)
	}
	inputs["translations"] = translations.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		11}).With(table.TextColumn("source", slices.Repeat([]string{"checkpoint 1"}, 12)))
	inputs["languages"] = &table.Frame{Columns: []table.Column{table.TextColumn("code",
		[]string{"en", "hin_Deva", "sat_Olck"}),
		table.TextColumn("caption_source", []string{"original", "NLLB", "IndicTrans2"})}}
	f, _, err = compute("indictti-captions", nil, nil, inputs)
	if err != nil || f.Len() != 6 || f.Texts("caption_source")[2] != "checkpoint 1" || f.Texts("script")[2] != "Olck" ||
		f.Texts("caption_source")[1] != "NLLB" {
		t.Errorf("%v, %v", f, err)
	}
	inputs["translations"] = translations.Pick([]int{0, 0})
	must.Fail(compute("indictti-captions", nil, nil, inputs))(t, "has two translations into brx_Deva")
}

// TestTranslationsAlone: without the caption data set every text is a translation; one in a language of the data set
// replaces its caption. What looks wrong is used, and said.
func TestTranslationsAlone(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b"}),
		table.TextColumn("caption", []string{"a red bus", "two dogs"})}}
	languages := &table.Frame{Columns: []table.Column{table.TextColumn("code",
		[]string{"en", "hin_Deva", "tam_Taml"}), table.TextColumn("caption_source", []string{"original", "NLLB",
		"speakers"})}}
	translations := &table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"a", "a", "b", "z"}),
		table.TextColumn("language", []string{"hin_Deva", "tam_Taml", "tam_Taml", "tam_Taml"}),
		table.TextColumn("text", []string{"एक लाल बस", "a red bus", "", "பஸ்"}),
		table.TextColumn("source", []string{"", "IndicTrans2, 2024", "", ""})}}
	inputs := map[string]*table.Frame{"in": in, "languages": languages, "translations": translations}
	f, notes := must.Get2(compute("indictti-captions", nil, nil, inputs))(t)
	must.EqualSlices(t, f.Texts("prompt"), []string{"a red bus", "एक लाल बस", "a red bus", "two dogs", "", ""},
		"prompts")
	must.EqualSlices(t, f.Texts("caption_source"), []string{"original", "translation", "IndicTrans2, 2024", "original",
		"NLLB", "speakers"}, "sources")
	if len(notes) != 2 || notes[0] != "problems: 1 untranslated, 1 empty; indictti-translations lists them" {
		t.Errorf("notes %q", notes)
	}
	inputs["captions"] = &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b"}),
		table.TextColumn("hin_Deva", []string{"बस", "दो कुत्ते"})}}
	f, _ = must.Get2(compute("indictti-captions", nil, nil, inputs))(t)
	must.Equal(t, f.Texts("prompt")[1], "एक लाल बस", "prompts", f.Texts("prompt"))
	must.Equal(t, f.Texts("prompt")[4], "दो कुत्ते", "prompts", f.Texts("prompt"))

	f, notes = must.Get2(compute("indictti-translations", nil, nil, map[string]*table.Frame{"in": translations,
		"prompts": in, "languages": languages}))(t)
	must.EqualSlices(t, f.Texts("id"), []string{"a-tam_Taml", "b-tam_Taml", "z-tam_Taml", "b-hin_Deva"}, "problems")
	must.EqualSlices(t, f.Texts("problem"), []string{"untranslated", "empty", "unknown prompt", "missing"}, "problems")
	if len(notes) != 1 || notes[0] != "4 translations of 2 prompts; problems: 1 untranslated, 1 empty, 1 unknown "+
		"prompt, 1 missing" {
		t.Errorf("notes %q", notes)
	}
}
