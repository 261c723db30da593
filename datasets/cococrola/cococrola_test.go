package cococrola

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/manifest/pull"
	"antipode/datasets/operation"
	"antipode/internal/must"
)

func run(t *testing.T, source string, o any) *datasets.Frame {
	t.Helper()
	raw := must.Get(json.Marshal(o))(t)
	f := must.Get(operation.EvaluatorOf(source)(t.Context(), datasets.Call{Home: t.TempDir(), Note: t.Logf}, raw,
		nil))(t)
	must.Do(t, f.Check())
	return f
}

func own(t *testing.T) Options {
	t.Helper()
	return Options{Concepts: filepath.Join("testdata", "concepts.csv"),
		Templates: filepath.Join("testdata", "templates.json")}.absolute()
}

// TestPrompts fills the templates of eight languages, one of which is added by a column and a key.
func TestPrompts(t *testing.T) {
	o := own(t)
	o.Only = []string{"moon"}
	f := run(t, "cococrola-prompts", o)
	want := []string{"a photograph of moon", "una fotografía de luna", "ein Foto von mond", "月亮照片", "月の写真",
		" צילום שלירח", "foto bulan", "चाँद की तस्वीर"}
	must.EqualSlices(t, f.Texts("prompt"), want)
	for i, spec := range Prompts(Options{}).Columns() {
		must.Equal(t, f.Columns[i].ColumnSpec, spec, "column", i, "declared")
	}
	o.Only, o.Languages, o.N, o.Seed = []string{"month"}, []string{"hi", "en"}, 2, 7
	f = run(t, "cococrola-prompts", o)
	must.EqualSlices(t, f.Texts("id"), []string{"1-hi-month-0", "1-hi-month-1", "1-en-month-0", "1-en-month-1"}, "ids")
	must.EqualSlices(t, f.Numbers("seed"), []float64{7, 8, 7, 8}, "seeds")
}

// TestModels: ids of several models' prompts differ.
func TestModels(t *testing.T) {
	o := own(t)
	o.Model = "SD 2"
	f := run(t, "cococrola-prompts", o)
	must.Equal(t, f.Texts("id")[0], "SD 2/0-en-moon-0")
	must.Equal(t, f.Texts("model")[0], "SD 2")
	columns := Prompts(o).Columns()
	must.Equal(t, len(columns), len(f.Columns), "columns")
	for i, spec := range columns {
		must.Equal(t, f.Columns[i].ColumnSpec, spec, "column", i, "declared")
	}
}

func TestTemplateVariants(t *testing.T) {
	o := own(t)
	o.TemplateVariants, o.Only = true, []string{"moon"}
	f := run(t, "cococrola-prompts", o)
	ids := slices.Clone(f.Texts("id"))
	slices.Sort(ids)
	if f.Len() != 24 || len(slices.Compact(ids)) != 24 {
		t.Fatalf("%d rows, ids %q", f.Len(), f.Texts("id"))
	}
	for _, want := range []string{"a picture of an moon", "un foto de mi luna", "一张月亮的图片"} {
		if !slices.Contains(f.Texts("prompt"), want) {
			t.Errorf("no prompt %q in %q", want, f.Texts("prompt"))
		}
	}
}

func TestCollisions(t *testing.T) {
	o := own(t)
	f := run(t, "cococrola-collisions", o)
	var got []string
	for i, w := range f.Texts("word") {
		got = append(got, w+": "+f.Texts("languages")[i]+": "+f.Texts("concepts")[i])
	}
	want := []string{"月: ja: moon, month", "bulan: id: moon, month", "radio: en, es, de, id: radio"}
	must.EqualSlices(t, got, want)
}

func TestCorrect(t *testing.T) {
	concepts := []Concept{{Name: "moon", Words: map[string]string{"en": "moon", "es": "lua", "zh": "月亮"}}}
	n := must.Get(Correct(concepts, "c.csv", []byte("en,es,zh\nmoon,luna,月亮\n")))(t)
	must.Equal(t, n, 1)
	must.Equal(t, concepts[0].Words["es"], "luna")
	must.Fail(Correct(concepts, "c.csv", []byte("en,es\nsun,sol\n")))(t, `c.csv, line 2, column en: "sun"`)
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"es\nluna\n":                        `no column "en"`,
		"en,es\nmoon,luna\nsun,\n":          "c.csv, line 3, column es: the word is missing",
		"en,es\nmoon,luna\nmoon,satélite\n": `line 3, column en: the concept "moon" occurs twice`,
	} {
		must.Fail(readConcepts("c.csv", []byte(text)))(t, want)
	}
	for text, want := range map[string]string{
		`{"en": "a $$$"}`:                `no template for the language "es"`,
		`{"en": "a $$$", "es": "un"}`:    "must contain the slot $$$ once",
		`{"en": "$$$ $$$", "es": "$$$"}`: "must contain the slot $$$ once",
		`["a $$$"]`:                      "p.json",
	} {
		must.Fail(readTemplates("p.json", []byte(text), []string{"en", "es"}))(t, want)
	}
	o := own(t)
	d := must.Get(Load(os.DirFS("."), o))(t)
	for want, o := range map[string]Options{`no language "xx"`: {Languages: []string{"xx"}},
		`no concept "xx"`: {Only: []string{"xx"}}, "n is -1": {N: -1}} {
		must.Fail(promptFrame(d, o))(t, want)
	}
}

// TestCreative: each prompt has three languages, and its English text contains its concepts.
func TestCreative(t *testing.T) {
	f := run(t, "cococrola-creative-prompts", nil)
	must.Equal(t, f.Len(), 6, "rows")
	for _, p := range CreativePrompts() {
		for _, c := range p.Concepts {
			if p.Language == "en" && !strings.Contains(p.Text, c) {
				t.Errorf("%q does not contain %q", p.Text, c)
			}
		}
	}
}

// TestPrintedAverages: the printed means equal the means of the printed cells within half a unit, except three (37.4
// printed as 38, 21.6 as 21, 23.6 as 23), which the rounding of the cells can explain.
func TestPrintedAverages(t *testing.T) {
	cells, err := PrintedTable()
	if err != nil || len(cells) != 80 {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	sums, counts, means := map[string][2]float64{}, map[string]float64{}, map[string][2]float64{}
	for _, c := range cells {
		switch {
		case c.Model == Average && c.Language == Average:
			must.Near(t, c.Xc, math.NaN(), 0, "the corner of the printed table is blank", c)
			must.Near(t, c.Wc, math.NaN(), 0, "the corner of the printed table is blank", c)
		case c.Model == Average, c.Language == Average:
			means[c.Model+c.Language] = [2]float64{c.Xc, c.Wc}
		default:
			for _, key := range []string{c.Model + Average, Average + c.Language} {
				s := sums[key]
				sums[key], counts[key] = [2]float64{s[0] + c.Xc, s[1] + c.Wc}, counts[key]+1
			}
		}
	}
	far := 0
	for key, m := range means {
		for k, printed := range m {
			if math.Abs(sums[key][k]/counts[key]-printed) > 0.5 {
				far++
				if key != "Avgja" && !(key == "AltDiffusion m9Avg" && k == 1) ||
					math.Abs(sums[key][k]/counts[key]-printed) > 1 {
					t.Errorf("%s, score %d: printed %g, cells give %g", key, k, printed, sums[key][k]/counts[key])
				}
			}
		}
	}
	must.Equal(t, len(means), 16)
	must.Equal(t, far, 3)
	if f := run(t, "cococrola-printed", nil); f.Len() != 79 || f.Numbers("cross_consistency")[0] != 0.81 ||
		f.Numbers("text_match")[0] != 28 {
		t.Errorf("%d rows", f.Len())
	}
}

// TestReleased compares counts of the released list with the specification of the study.
func TestReleased(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	d := must.Get(Load(os.DirFS(dir), Options{}))(t)
	if len(d.Concepts) != 193 || !slices.Equal(d.Languages, Languages) {
		t.Fatalf("%d concepts, languages %v", len(d.Concepts), d.Languages)
	}
	distinct := map[string]int{}
	for _, l := range Languages {
		words := map[string]bool{}
		for _, c := range d.Concepts {
			words[c.Words[l]] = true
		}
		distinct[l] = len(words)
	}
	if want := map[string]int{"en": 193, "es": 186, "de": 187, "zh": 186, "ja": 188, "he": 184,
		"id": 186}; !reflect.DeepEqual(distinct, want) {
		t.Errorf("distinct words %v, want %v", distinct, want)
	}
	f := run(t, "cococrola-prompts", Options{Dir: dir, N: 12, Only: []string{"eye", "dog"}})
	if f.Len() != 7*2*12 || f.Texts("id")[0] != "0-en-eye-0" || f.Texts("prompt")[0] != "a photograph of eye" ||
		f.Texts("class")[0] != "body" {
		t.Errorf("%d rows, %q, %q, %q", f.Len(), f.Texts("id")[0], f.Texts("prompt")[0], f.Texts("class")[0])
	}
	for _, p := range CreativePrompts() {
		for _, c := range p.Concepts {
			if !slices.ContainsFunc(d.Concepts, func(x Concept) bool { return x.Name == c }) {
				t.Errorf("%q is not in the concept list", c)
			}
		}
	}
	corrected := must.Get(Load(os.DirFS(dir), Options{Corrected: true}))(t)
	at := slices.IndexFunc(d.Concepts, func(c Concept) bool { return c.Name == "flame" })
	if was, is := d.Concepts[at].Words["es"], corrected.Concepts[at].Words["es"]; was != "llama" || is != "flama" ||
		corrected.Corrected == 0 {
		t.Errorf("flame: %q, corrected %q, %d words", was, is, corrected.Corrected)
	}
}

// TestChangedFile: a released file with one byte changed is refused.
func TestChangedFile(t *testing.T) {
	dir, copied := manifesttest.Dir(t, Name), t.TempDir()
	must.Do(t, os.CopyFS(copied, os.DirFS(dir)))
	path := filepath.Join(copied, filepath.FromSlash(conceptFile))
	must.Do(t, os.WriteFile(path, append(must.Get(os.ReadFile(path))(t), '\n'), 0o644))
	must.Fail(Load(os.DirFS(copied), Options{}))(t, "is not the recorded file")
}

// TestPull downloads the released files from a local server.
func TestPull(t *testing.T) {
	dir := manifesttest.Dir(t, Name)
	m := must.Get(manifest.Get(Name))(t)
	dest := t.TempDir()
	must.Do(t, pull.DataSet(context.Background(), Name,
		pull.Options{Dest: dest, BaseURL: manifesttest.Serve(t, m, dir)}))
	must.Equal(t, len(must.Get(Load(os.DirFS(dest), Options{Corrected: true}))(t).Concepts), 193, "concepts")
}
