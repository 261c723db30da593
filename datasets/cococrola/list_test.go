package cococrola

import (
	"antipode/datasets"
	"antipode/internal/must"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func recorded(t *testing.T) ListOptions {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", "recorded.json")))(t)
	return must.Get(ReadRecorded("recorded.json", data))(t)
}

// TestList: the recorded answers give a known list, with step and reason of every dropped word. The words for moon
// come from two translators: Google, Bing and Baidu cover two languages each and Google is first; Baidu agrees with
// Google on luna and provides the Japanese word before Bing. The mistranslation of flame is the paper's.
func TestList(t *testing.T) {
	f := run(t, "cococrola-list", listArgs{filepath.Join("testdata", "recorded.json")})
	got := map[string]string{}
	var kept []string
	for i, w := range f.Texts("word") {
		got[w] = f.Texts("step")[i] + ": " + f.Texts("reason")[i]
		if f.Texts("kept")[i] == "yes" {
			kept = append(kept, strings.Join([]string{w, f.Texts("es")[i], f.Texts("de")[i], f.Texts("ja")[i],
				f.Texts("sources")[i]}, " "))
		}
	}
	want := map[string]string{
		"of": "noun test: not a noun (preposition)", "run": "noun test: not a noun (verb)",
		"zyzzy": "noun test: no synset", "flame": "synset check: not in its synset: es llama",
		"hike": "manual removal: also a verb",
		"sofa": "frequency: rank 9 in the merged lists, after the first 8",
		"rare": "frequency: rank 10 in the merged lists, after the first 8", "dog": ": ", "moon": ": ",
		"ticket": ": ", "stingray": ": ",
	}
	for w, reason := range want {
		must.Equal(t, got[w], reason, w)
	}
	must.Equal(t, len(got), len(want), "words")
	if !slices.Equal(kept, []string{"dog perro hund 犬 es: Google, de: Google, ja: Google",
		"moon luna mond 月 es: Google, de: Google, ja: Baidu", "ticket entrada karte 切符 es: Baidu, de: Baidu, ja: Baidu",
		"stingray raya stachelrochen アカエイ es: Google, de: Google, ja: iTranslate"}) {
		t.Errorf("%q", kept)
	}
	if at := slices.Index(f.Texts("word"), "dog"); f.Numbers("frequency")[at] != 200 || f.Numbers("rank")[at] != 2 ||
		!math.IsNaN(f.Numbers("rank")[f.Len()-1]) {
		t.Errorf("%v, %v", f.Numbers("frequency"), f.Numbers("rank"))
	}
	lines := "en,es,de,ja\n" // the kept rows are a concept file
	for i := range f.Len() {
		if f.Texts("kept")[i] == "yes" {
			lines += strings.Join([]string{f.Texts("en")[i], f.Texts("es")[i], f.Texts("de")[i], f.Texts("ja")[i]},
				",") + "\n"
		}
	}
	if concepts, languages, err := readConcepts("own.csv", []byte(lines)); err != nil || len(concepts) != 4 ||
		len(languages) != 4 {
		t.Errorf("%v, %v, %v", concepts, languages, err)
	}
}

// TestListOptions: start from the narrowest answer, one more language, a word without translations.
func TestListOptions(t *testing.T) {
	find := func(list []Candidate, word string) Candidate {
		t.Helper()
		i := slices.IndexFunc(list, func(c Candidate) bool { return c.Word == word })
		if i < 0 {
			t.Fatalf("no word %q", word)
		}
		return list[i]
	}
	build := func(o ListOptions) []Candidate {
		t.Helper()
		return must.Get(BuildList(context.Background(), o))(t)
	}
	o := recorded(t)
	o.Narrowest = true
	if c := find(build(o), "ticket"); c.Step != StepCheck || c.Words["es"] != "boleto" || c.From["de"] != "Bing" {
		t.Errorf("narrowest answer first: %+v", c)
	}
	o = recorded(t)
	o.Languages = append(o.Languages, "id")
	if c := find(build(o), "dog"); c.Step != StepComplete || c.Reason != "no word in id" {
		t.Errorf("one more language: %+v", c)
	}
	o.Translators = o.Translators[3:]
	must.Equal(t, find(build(o), "dog").Reason, "no word in es, de, ja, id", "no translator has an answer")
	o = recorded(t)
	o.Languages = []string{"en", "fr"}
	o.Articles = map[string][]string{"fr": {"le", "la"}}
	o.Translators = []Translator{RecordedTranslator{"own", map[string]map[string]string{"dog": {"fr": "Le Chien"}}}}
	o.Synsets = RecordedSynsets{"dog": {{POS: "Noun", Terms: map[string][]string{"fr": {"chien"}}}}}
	if c := find(build(o), "dog"); c.Step != "" || c.Words["fr"] != "chien" || c.From["fr"] != "own" {
		t.Errorf("articles of another language: %+v", c)
	}
	if again := build(recorded(t)); !slices.EqualFunc(again, build(recorded(t)),
		func(a, b Candidate) bool { return a.Word == b.Word && a.Reason == b.Reason }) {
		t.Error("two runs differ")
	}
}

type broken struct{}

func (broken) Name() string { return "broken" }
func (broken) Translate(context.Context, string, []string) (map[string]string, error) {
	return nil, errors.New("quota used up")
}
func (broken) Synsets(context.Context, string) ([]Synset, error) { return nil, errors.New("no key") }

func TestListErrors(t *testing.T) {
	o := recorded(t)
	o.Translators = append(o.Translators, broken{})
	must.Fail(BuildList(context.Background(), o))(t, `word "dog": translator broken: quota used up`)
	o = recorded(t)
	o.Synsets = broken{}
	must.Fail(BuildList(context.Background(), o))(t, "synsets: no key")
	must.Fail(BuildList(context.Background(), ListOptions{}))(t, "needs languages")
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := BuildList(ended, recorded(t)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for text, want := range map[string]string{`{"language":["en"]}`: "unknown field", "[]": "the fields are",
		`{} {}`: "text after"} {
		must.Fail(ReadRecorded("r.json", []byte(text)))(t, want, "r.json")
	}
	if list := ConceptList("testdata/recorded.json"); list.Err() != nil || !datasets.Extend(list).IsOpen() {
		t.Error(list.Err())
	}
}
