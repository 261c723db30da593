package indictti

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/internal/must"
	"antipode/internal/near"
)

func run(t *testing.T, table datasets.Table) *datasets.Frame {
	t.Helper()
	plan := must.Get(table.Plan())(t)
	f := must.Get(operation.EvaluatorOf(plan.Op)(context.Background(), datasets.Call{}, plan.Args, nil))(t)
	must.Do(t, f.Check())
	if !slices.Equal(f.Specs(), table.Columns()) {
		t.Fatalf("columns %v, declared %v", f.Specs(), table.Columns())
	}
	return f
}

// TestLanguages: Tables 1 and 5 have 30 pairs, 27 languages, 13 scripts, 22 scheduled languages, 24 caption sources
// NLLB and 6 IndicTrans2.
func TestLanguages(t *testing.T) {
	names, scripts, sources, scheduled, speakers := map[string]bool{}, map[string]bool{}, map[string]int{},
		map[string]bool{}, map[string]float64{}
	list := Languages()
	for _, l := range list[1:] {
		names[l.Name], scripts[l.Script] = true, true
		sources[l.Source]++
		if l.Scheduled == "yes" {
			scheduled[l.Name] = true
		}
		if !math.IsNaN(l.Speakers) {
			speakers[l.Name] = l.Speakers
		}
		if !strings.HasSuffix(l.Code, "_"+l.Script) || len(l.Code) != 8 {
			t.Errorf("%s in script %s", l.Code, l.Script)
		}
	}
	if len(list) != 31 || list[0].Code != English || len(names) != 27 || len(scripts) != 13 || len(scheduled) != 22 ||
		sources[NLLB] != 24 || sources[IndicTrans2] != 6 {
		t.Errorf("%d languages, %d names, %d scripts, %d scheduled, sources %v", len(list), len(names), len(scripts),
			len(scheduled), sources)
	}
	sum := 0.
	for _, n := range speakers {
		sum += n
	}
	must.Equal(t, len(speakers), 24)
	must.Near(t, sum, 1185.5, 0.5)
	if f := run(t, LanguageTable(Options{})); f.Len() != 31 || f.Texts("caption_source")[29] != IndicTrans2 ||
		f.Numbers("order")[4] != 4 || f.Texts("code")[4] != "hin_Deva" {
		t.Errorf("%v", f)
	}
}

// TestAnotherLanguage adds a 32nd language by one more row in a file.
func TestAnotherLanguage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.csv")
	must.Do(t, os.WriteFile(file,
		append(slices.Clone(languageFile),
			"tcy_Knda,Tulu,,Kannada,Dravidian,South Dravidian,1.8,no,my translator,\n"...), 0o600))
	o := Options{Languages: file}
	if f := run(t, LanguageTable(o)); f.Len() != 32 || f.Texts("script")[31] != "Knda" ||
		f.Texts("caption_source")[31] != "my translator" {
		t.Errorf("%v", f)
	}
	must.Equal(t, run(t, PlanTable(o)).Numbers("images")[0], 1000*32*4)
	list := must.Get(o.List())(t)
	if l := list[len(list)-1]; l.Code != "tcy_Knda" || l.Name != "Tulu" {
		t.Error(l)
	}
	for text, want := range map[string]string{
		"code\nen\n":                      `no column "caption_source"`,
		"code,caption_source\n,NLLB\n":    "line 2, column code: the code is missing",
		"code,caption_source\na,x\na,x\n": "line 3, column code: the language \"a\" occurs twice",
		"code,caption_source\na,\n": "column caption_source: the language \"a\" has no " +
			"caption source",
		"code,caption_source,speakers\na,NLLB,many\n": `column speakers: "many" is not a number`,
	} {
		must.Fail(ReadLanguages("l.csv", []byte(text)))(t, want)
	}
	must.Fail((Options{Languages: "nowhere.csv"}).List())(t) // a missing file
}

// TestPlan: the totals stated in the paper are 124,000 images per open model, 24,800 and 6,200 for the paid ones.
func TestPlan(t *testing.T) {
	f := run(t, PlanTable(Options{}))
	must.EqualSlices(t, f.Texts("model"), Models)
	must.EqualSlices(t, f.Numbers("images"), []float64{124_000, 124_000, 124_000, 24_800, 6_200})
	for i, note := range f.Texts("note") { // of Midjourney and DALL·E 3
		must.Equal(t, strings.Contains(note, "antipode import"), i >= 3, f.Texts("model")[i], "note", note)
	}
}

func TestCaptions(t *testing.T) {
	got, err := Captions(`[["hin_Deva","भूरी जैकेट में एक आदमी"],["urd_Arab","بھوری جیکٹ میں ایک آدمی"],["tam_Taml",""]]`)
	if err != nil || len(got) != 2 || got["hin_Deva"] != "भूरी जैकेट में एक आदमी" ||
		got["urd_Arab"] != "بھوری جیکٹ میں ایک آدمی" {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"hin_Deva":                       "not a list of pairs",
		`{"a":"b"}`:                      "not a list of pairs",
		`[["a","b","c"]]`:                "caption 1 is a list of 3",
		`[["a","b"],["c","d"],["a",""]]`: `the code "a" has two captions`,
	} {
		must.Fail(Captions(text))(t, want)
	}
}

// TestReleased: the released files are Parquet files, concatenated.
func TestReleased(t *testing.T) {
	var files []string
	for _, name := range []string{"a.parquet", "b.parquet"} {
		files = append(files, filepath.Join(t.TempDir(), name))
		must.Do(t, os.WriteFile(files[len(files)-1], nil, 0o600))
	}
	plan, err := Released(files...).Plan()
	if err != nil || plan.Op != "concat" || len(plan.Inputs) != 2 || plan.Inputs[1].Op != "parquet" ||
		!strings.Contains(string(plan.Inputs[1].Args), "b.parquet") {
		t.Errorf("%+v, %v", plan, err)
	}
	for want, table := range map[string]datasets.Table{"name the Parquet files": Released(),
		"nowhere.parquet": Released(files[0], "nowhere.parquet")} {
		must.Fail(table.Err())(t, want)
	}
	must.Equal(t, len(must.Get(Captions(""))(t)), 0)
}

func TestNested(t *testing.T) {
	rng := near.Rand(t, 61)
	var ids []string
	for i := range 1000 {
		ids = append(ids, "p"+string(rune('a'+i/100))+string(rune('a'+i/10%10))+string(rune('a'+i%10)))
	}
	sets := must.Get(Nested(ids, []int{1000, 200, 50, 40}, nil, 7))(t)
	inside := func(small, large []string) bool {
		for _, id := range small {
			if _, found := slices.BinarySearch(large, id); !found {
				return false
			}
		}
		return slices.IsSorted(small)
	}
	for i, n := range []int{1000, 200, 50, 40} {
		if len(sets[i]) != n || i > 0 && !inside(sets[i], sets[i-1]) {
			t.Errorf("set %d: %d ids, inside %v", i, len(sets[i]), inside(sets[i], sets[i-1]))
		}
	}
	shuffled := slices.Clone(ids)
	rng.Shuffle(len(ids), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	must.EqualSlices(t, must.Get(Nested(shuffled, []int{1000, 200, 50, 40}, nil, 7))(t)[3], sets[3], "reordered ids")
	if other, err := Nested(ids, []int{200}, nil, 8); err != nil || slices.Equal(other[0], sets[1]) {
		t.Errorf("another seed gives the same sample: %v", err)
	}
	given := []string{ids[3], ids[999], ids[3]}
	named, err := Nested(ids, []int{200, 50, 2}, given, 7)
	if err != nil || !slices.Equal(named[2], []string{ids[3], ids[999]}) || !inside(named[2], named[1]) ||
		!inside(named[1], named[0]) {
		t.Errorf("with a common set: %v, %v", named, err)
	}
	for want, f := range map[string]func() ([][]string, error){
		"from the largest to the smallest": func() ([][]string, error) { return Nested(ids, []int{50, 200}, nil, 1) },
		"a size between 1 and that number": func() ([][]string, error) { return Nested(ids, []int{1001}, nil, 1) },
		"occurs twice": func() ([][]string, error) {
			return Nested(append(ids, ids[0]), []int{2},
				nil, 1)
		},
		"is not among the prompts": func() ([][]string, error) {
			return Nested(ids, []int{2}, []string{"zz"},
				1)
		},
		"the smallest set has 1": func() ([][]string, error) { return Nested(ids, []int{1}, given, 1) },
	} {
		must.Fail(f())(t, want)
	}
}

// values returns the legible cells of a table and model; ok = all 31 are legible.
func values(t *testing.T, table int, model string) (english float64, others []float64, ok bool) {
	t.Helper()
	cells := must.Get(PrintedTable(table))(t)
	ok = true
	for _, c := range cells {
		switch {
		case c.Model != model:
		case c.State != Legible:
			ok = false
		case c.Language == English:
			english = c.Value
		default:
			others = append(others, c.Value)
		}
	}
	return english, others, ok
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// TestMeansOfPrintedRows compares means over the 30 languages and drops from English for every fully legible row (Table
// 7 repeats Table 3).
func TestMeansOfPrintedRows(t *testing.T) {
	want := map[int]map[string][3]float64{
		7: {"Stable Diffusion": {51.21, 23.47, 27.74}, "Alt Diffusion": {46.58, 25.05, 21.53},
			"Alt Diffusion m9": {42.43, 27.73, 14.70}, "Midjourney": {48.94, 22.62, 26.32},
			"Dalle3": {48.92, 40.22, 8.70}},
		9: {"Alt Diffusion m9": {55.99, 23.52, 32.47}, "Midjourney": {69.41, 12.89, 56.52},
			"Dalle3": {66.42, 52.60, 13.82}},
		10: {"Stable Diffusion": {53.97, 22.98, 30.99}, "Alt Diffusion m9": {45.62, 27.42, 18.20},
			"Midjourney": {52.72, 22.65, 30.07}, "Dalle3": {48.54, 40.38, 8.16}},
		11: {"Midjourney": {34.11, 3.22, 30.89}},
	}
	for _, table := range Tables {
		for _, model := range Models {
			english, others, whole := values(t, table, model)
			w, expected := want[table][model]
			if whole = whole && len(others) == 30; whole != expected && table != 3 {
				t.Errorf("Table %d, %s: fully legible %v", table, model, whole)
			}
			if expected && (english != w[0] || math.Abs(mean(others)-w[1]) > 0.005+1e-9 ||
				math.Abs(english-mean(others)-w[2]) > 0.0100001) {
				t.Errorf("Table %d, %s: %v, mean %v, want %v", table, model, english, mean(others), w)
			}
		}
	}
}

// TestQuotedMeans: the quoted mean drops of CLGC determine the sum of the two lost cells of Table 2 (tel_Telu,
// mni_Mtei), and the quoted means of LGC agree with the legible part of Table 4.
func TestQuotedMeans(t *testing.T) {
	for model, lost := range map[string]float64{"Stable Diffusion": 17.96, "Alt Diffusion": 29.68, "Midjourney": 24.84,
		"Dalle3": 66.36} {
		english, others, _ := values(t, 2, model)
		rest := 30*(english-quoted(QuotedDropCLGC)[model]) - 28*mean(others)
		must.Equal(t, len(others), 28, model, "cells, sum of lost cells")
		must.Near(t, rest, lost, 0.3, model, "cells, sum of lost cells")
	}
	for model, quoted := range quoted(QuotedMeanLGC) {
		if model == "Dalle3" {
			quoted -= 0.02 // the cells give 25.07
		}
		cells := must.Get(PrintedTable(4))(t)
		low, high := 0., 0.
		for _, c := range cells {
			if c.Model != model || c.Language == English {
				continue
			}
			v, width := c.Value, 0.
			if c.State == Cut { // 4.0…: from 4.00 to 4.09
				must.Do(t, json.Unmarshal([]byte(strings.TrimSuffix(c.Printed, "…")), &v))
				width = 0.09
			}
			low, high = low+v/30, high+(v+width)/30
		}
		if quoted < low-0.006 || quoted > high+0.006 {
			t.Errorf("%s: mean in [%v, %v], quoted %v", model, low, high, quoted)
		}
	}
}

// TestTablesRepeat: Tables 6 to 8 repeat Tables 2 to 4 and add m9.
func TestTablesRepeat(t *testing.T) {
	at := func(table int) map[[2]string]string {
		cells := must.Get(PrintedTable(table))(t)
		out := map[[2]string]string{}
		for _, c := range cells {
			out[[2]string{c.Model, c.Language}] = c.Printed
		}
		return out
	}
	for common, more := range map[int]int{2: 6, 3: 7, 4: 8} {
		a, b := at(common), at(more)
		must.Equal(t, [2]int{len(a), len(b)}, [2]int{4 * 31, 5 * 31}, common, more, "Tables and and cells")
		for key, printed := range a {
			must.Equal(t, b[key], printed, key)
		}
	}
	f := run(t, Printed(Options{Tables: []int{9}}))
	states := map[string]int{}
	for i, s := range f.Texts("state") {
		states[s]++
		if (s == Legible) == math.IsNaN(f.Numbers("value")[i]) {
			t.Errorf("row %d: state %q, value %v", i, s, f.Numbers("value")[i])
		}
	}
	if f.Len() != 5*31 || states[Lost] == 0 || states[Uncertain] != 1 {
		t.Errorf("%d rows, %v", f.Len(), states)
	}
	must.Fail(PrintedTable(5))(t) // no table of results
}

func TestBlocks(t *testing.T) {
	b := Blocks(Languages())
	if len(b) != 2 || len(b[0]) != 16 || len(b[1]) != 16 || b[0][0] != English || b[1][0] != English ||
		b[0][15] != "tel_Telu" || b[1][1] != "urd_Arab" || b[1][15] != "mni_Mtei" {
		t.Errorf("%v", b)
	}
}

func TestQuotedDrops(t *testing.T) {
	drops := slices.DeleteFunc(quotedValues(), func(q Quoted) bool { return q.Name != QuotedDropIGC })
	must.EqualSlices(t, drops, []Quoted{{QuotedDropIGC, "Stable Diffusion", 27.74},
		{QuotedDropIGC, "Alt Diffusion", 21.53}, {QuotedDropIGC, "Midjourney", 26.32}, {QuotedDropIGC, "Dalle3", 8.7}})
}
