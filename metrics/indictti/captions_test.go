package indictti

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	data "antipode/datasets/indictti"
	"antipode/internal/near"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

// compute evaluates a metric with inputs by role, and compares its columns with the declared ones.
func compute(metric string, options map[string]string, by []string, inputs map[string]*client.Frame) (*client.Frame, []string, error) {
	args := metrics.Args{Metric: metric, Options: options, By: by, Seed: 5}
	m, err := metrics.Find(metric)
	if err != nil {
		return nil, nil, err
	}
	var frames []*client.Frame
	for _, in := range m.Inputs {
		if f := inputs[in.Role]; f != nil {
			args.Roles, frames = append(args.Roles, in.Role), append(frames, f)
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, nil, err
	}
	var notes []string
	f, err := metrics.Evaluate(context.Background(), raw, frames, metrics.Call{Note: func(format string, a ...any) { notes = append(notes, fmt.Sprintf(format, a...)) }})
	if err != nil {
		return nil, notes, err
	}
	if got, want := f.Specs(), m.Columns(args); !slices.Equal(got, want) {
		return nil, nil, fmt.Errorf("columns %v, declared %v", got, want)
	}
	return f, notes, f.Check()
}

// released is a table in the layout of LAION-COCO-NLLB: every picture has a caption in each of the 24 languages that the data set has, unless lacking names one.
func released(captions []string, lacking map[int]string) *client.Frame {
	var ids, urls, pairs []string
	for i := range captions {
		var list [][]string
		for _, l := range data.Languages() {
			if l.Source == data.NLLB && l.Code != lacking[i] {
				list = append(list, []string{l.Code, fmt.Sprintf("%s %d", l.Name, i)})
			}
		}
		text, _ := json.Marshal(list)
		ids, urls, pairs = append(ids, fmt.Sprintf("n%02d", i)), append(urls, fmt.Sprintf("https://example.org/%d.jpg", i)), append(pairs, string(text))
	}
	return &client.Frame{Columns: []client.Column{client.TextColumn("id", ids), client.TextColumn("url", urls), client.TextColumn("eng_caption", captions), client.TextColumn("captions", pairs),
		client.NumberColumn("score", make([]float64, len(ids)))}}
}

var english7 = []string{"a man in a brown jacket", "a swan on a lake", "a street in Delhi at night", "a swan on a lake", "", "a red bus", "a dog and a cat"}

// Every caption that is left out says why, whatever the order of the rows and the form of the captions.
func TestPool(t *testing.T) {
	f := released(english7, map[int]string{5: "tam_Taml"})
	f.Texts("url")[6] = ""
	want := []string{"", "", "capitalised word", "repeats n01", "no English caption", "no caption in tam_Taml", "no picture"}
	wide := f.Pick([]int{0, 1, 2, 3, 4, 5, 6})
	wide.Columns = slices.DeleteFunc(wide.Columns, func(c client.Column) bool { return c.Name == "captions" })
	for _, l := range data.Languages() {
		if l.Source != data.NLLB {
			continue
		}
		column := client.TextColumn(l.Code, slices.Repeat([]string{"text"}, 7))
		if l.Code == "tam_Taml" {
			column.Texts[5] = ""
		}
		wide = wide.With(column)
	}
	for form, table := range map[string]*client.Frame{"pairs": f, "columns": wide} {
		got, notes, err := compute("indictti-pool", nil, nil, map[string]*client.Frame{"in": table})
		if err != nil || !slices.Equal(got.Texts("reason"), want) || got.Texts("word")[2] != "Delhi" || got.Texts("kept")[0] != "yes" || got.Texts("kept")[2] != "no" || got.Numbers("n_captions")[5] != 23 ||
			got.Numbers("n_captions")[0] != 24 || len(notes) != 1 || !strings.Contains(notes[0], "2 of 7 captions stay") {
			t.Errorf("%s: %q, %v, %v", form, got.Texts("reason"), notes, err)
		}
	}
	moved, _, err := compute("indictti-pool", nil, nil, map[string]*client.Frame{"in": shuffled(near.Rand(t, 71), f)})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range moved.Texts("id") {
		if r := moved.Texts("reason")[i]; r != want[slices.Index(f.Texts("id"), id)] {
			t.Errorf("other order of rows: %s: %q", id, r)
		}
	}
	exempt, _, err := compute("indictti-pool", map[string]string{"filter": "none"}, nil, map[string]*client.Frame{"in": f})
	if err != nil || exempt.Texts("kept")[2] != "yes" {
		t.Errorf("no filter: %v", err)
	}
	bad := f.Pick([]int{0, 1})
	bad.Texts("captions")[1] = "[[1]]"
	for want, table := range map[string]*client.Frame{
		`row 2 (id "n01"), column captions`: bad, "holds no captions": f.Pick([]int{0}).With(client.TextColumn("captions", []string{""})), "the id occurs twice": f.Pick([]int{0, 0}),
		`no such column: "eng_caption"`: {Columns: []client.Column{client.TextColumn("id", []string{"a"})}},
	} {
		if want == "holds no captions" {
			table.Columns = slices.DeleteFunc(table.Columns, func(c client.Column) bool { return c.Name == "captions" })
		}
		if _, _, err := compute("indictti-pool", nil, nil, map[string]*client.Frame{"in": table}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Nested sets are columns; a common set that is given lies in all of them.
func TestPromptSets(t *testing.T) {
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("p%03d", i))
	}
	in := &client.Frame{Columns: []client.Column{client.TextColumn("id", ids)}}
	options := map[string]string{"sets": "full=100,midjourney=20,dalle3=5,common=4"}
	common := &client.Frame{Columns: []client.Column{client.TextColumn("id", []string{"p007", "p042"})}}
	for name, inputs := range map[string]map[string]*client.Frame{"drawn": {"in": in}, "given": {"in": in, "common": common}} {
		f, _, err := compute("indictti-subsets", options, nil, inputs)
		if err != nil {
			t.Fatal(err)
		}
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
		again, _, err := compute("indictti-subsets", options, nil, inputs)
		if err != nil || !slices.Equal(again.Texts("common"), f.Texts("common")) {
			t.Errorf("%s: not the same twice, %v", name, err)
		}
	}
	for want, sets := range map[string]string{"is not NAME=SIZE": "full", `"full=1x" is not NAME=SIZE`: "full=1x", "change the option sets": "full=1000"} {
		if _, _, err := compute("indictti-subsets", map[string]string{"sets": sets}, nil, map[string]*client.Frame{"in": in}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Each language keeps the label of where its captions come from: 24 NLLB, 6 IndicTrans2, English its own; what lacks a text is skipped and says so.
func TestPromptTable(t *testing.T) {
	in := &client.Frame{Columns: []client.Column{client.TextColumn("id", []string{"n01", "n00"}), client.TextColumn("caption", []string{"a swan on a lake", "a man in a brown jacket"})}}
	var ids, languages, captions []string
	for _, l := range data.Languages() {
		if l.Source == data.IndicTrans2 {
			ids, languages, captions = append(ids, "n00", "n01"), append(languages, l.Code, l.Code), append(captions, l.Name+" 0", l.Name+" 1")
		}
	}
	translations := &client.Frame{Columns: []client.Column{client.TextColumn("id", ids), client.TextColumn("language", languages), client.TextColumn("caption", captions)}}
	inputs := map[string]*client.Frame{"in": in, "captions": released(english7, nil), "translations": translations}
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
	if sources[data.NLLB] != 2*24 || sources[data.IndicTrans2] != 2*6 || sources[data.Original] != 2 {
		t.Errorf("%v", sources)
	}
	if f.Texts("id")[4] != "n01-hin_Deva" || f.Texts("prompt")[4] != "Hindi 1" || f.Texts("prompt")[0] != "a swan on a lake" || f.Texts("prompt")[30] != "Manipuri 1" {
		t.Errorf("%q: %q", f.Texts("id")[4], f.Texts("prompt")[4])
	}
	delete(inputs, "translations")
	f, notes, err = compute("indictti-captions", nil, nil, inputs)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "6 of 31 languages") || f.Texts("outcome")[30] != "skipped" || f.Texts("reason")[30] != "no caption in mni_Mtei from IndicTrans2" {
		t.Errorf("%v, %v", notes, err)
	}
	inputs["translations"] = translations.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).With(client.TextColumn("caption_source", slices.Repeat([]string{"checkpoint 1"}, 12)))
	inputs["languages"] = &client.Frame{Columns: []client.Column{client.TextColumn("code", []string{"en", "hin_Deva", "sat_Olck"}), client.TextColumn("caption_source", []string{"original", "NLLB", "IndicTrans2"})}}
	f, _, err = compute("indictti-captions", nil, nil, inputs)
	if err != nil || f.Len() != 6 || f.Texts("caption_source")[2] != "checkpoint 1" || f.Texts("script")[2] != "Olck" || f.Texts("caption_source")[1] != "NLLB" {
		t.Errorf("%v, %v", f, err)
	}
	inputs["translations"] = translations.Pick([]int{0, 0})
	if _, _, err := compute("indictti-captions", nil, nil, inputs); err == nil || !strings.Contains(err.Error(), "has two translations into brx_Deva") {
		t.Error(err)
	}
}

func modelScores(rows ...string) *client.Frame {
	var models, languages []string
	var values []float64
	for _, r := range rows {
		parts := strings.Split(r, "|")
		v := math.NaN()
		if parts[2] != "" {
			fmt.Sscan(parts[2], &v)
		}
		models, languages, values = append(models, parts[0]), append(languages, parts[1]), append(values, v)
	}
	return &client.Frame{Columns: []client.Column{client.TextColumn("model", models), client.TextColumn("language", languages), client.NumberColumn("igc", values)}}
}

// The layout: the paper's order of models, English first in both blocks, 100 times the score in two decimals, blanks where there is nothing.
func TestResultTable(t *testing.T) {
	in := modelScores("Mine|en|0.5", "Dalle3|en|0.48924", "Dalle3|ben_Beng|0.442249", "Stable Diffusion|en|0.51205", "Stable Diffusion|ben_Beng|", "Dalle3|mni_Mtei|0.22455", "Stable Diffusion|asm_Beng|0.2")
	f := tabulartest.Evaluate(t, "indictti-table", in, nil)
	if !slices.Equal(f.Texts("model"), []string{"Stable Diffusion", "Dalle3", "Mine"}) || len(f.Columns) != 17 || f.Columns[1].Name != "en" || f.Columns[2].Name != "asm_Beng" || f.Columns[16].Name != "tel_Telu" {
		t.Fatal(f.Texts("model"), f.Specs())
	}
	for column, want := range map[string][]float64{"en": {51.21, 48.92, 50}, "ben_Beng": {math.NaN(), 44.22, math.NaN()}, "asm_Beng": {20, math.NaN(), math.NaN()}} {
		if err := near.Compare(f.Numbers(column), want, 0, 1e-12); err != nil {
			t.Errorf("%s: %v", column, err)
		}
	}
	f = tabulartest.Evaluate(t, "indictti-table", in, map[string]string{"block": "2"})
	if len(f.Columns) != 17 || f.Columns[1].Name != "en" || f.Columns[2].Name != "urd_Arab" || f.Columns[16].Name != "mni_Mtei" || math.Abs(f.Numbers("mni_Mtei")[1]-22.46) > 0.011 {
		t.Errorf("block 2: %v", f.Specs())
	}
	own := tabulartest.Evaluate(t, "indictti-table", in, map[string]string{"languages": "en,ben_Beng", "scale": "1"})
	if len(own.Columns) != 3 || own.Numbers("ben_Beng")[1] != 0.44 {
		t.Errorf("own languages: %v", own)
	}
	for want, o := range map[string]map[string]string{"make 2 blocks": {"block": "3"}, `no such column: "clgc"`: {"score": "clgc"}, `scale="x"`: {"scale": "x"}} {
		if _, err := tabulartest.Run("indictti-table", in, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := tabulartest.Run("indictti-table", in.Pick([]int{0, 0}), nil); err == nil || !strings.Contains(err.Error(), "has a score of this model already") {
		t.Error(err)
	}
}

// Own cells beside the printed ones: what cannot be read in print, and what is not there, is left out and counted.
func TestPrintedCells(t *testing.T) {
	in := modelScores("Stable Diffusion|en|0.645349", "Stable Diffusion|asm_Beng|0.08", "Stable Diffusion|tel_Telu|0.07", "Dalle3|mni_Mtei|0.5", "Mine|en|0.9")
	in.Columns[2].Name = "clgc"
	f, notes, err := compute("indictti-cells", map[string]string{"score": "clgc", "table": "2"}, nil, map[string]*client.Frame{"in": in})
	if err != nil || f.Len() != 2 || f.Numbers("equal")[0] != 1 || f.Numbers("equal")[1] != 0 || math.Abs(f.Numbers("difference")[1]-0.71) > 1e-9 {
		t.Fatal(f, err)
	}
	if len(notes) != 1 || notes[0] != "Table 2: 2 cells compared; 8 cannot be read in print, 114 have no score here" {
		t.Errorf("%q", notes)
	}
	for _, table := range data.Tables { // a printed table beside itself: every legible cell, all equal
		cells, err := data.PrintedTable(table)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		legible := 0
		for _, c := range cells {
			if c.State == data.Legible {
				legible++
				rows = append(rows, fmt.Sprintf("%s|%s|%v", c.Model, c.Language, c.Value))
			}
		}
		own := modelScores(rows...)
		f, _, err := compute("indictti-cells", map[string]string{"table": fmt.Sprint(table), "scale": "1"}, nil, map[string]*client.Frame{"in": own})
		if err != nil || f.Len() != legible || slices.Contains(f.Numbers("equal"), 0) {
			t.Errorf("Table %d: %d of %d cells, %v", table, f.Len(), legible, err)
		}
	}
	if _, _, err := compute("indictti-cells", map[string]string{"table": "5"}, nil, map[string]*client.Frame{"in": in}); err == nil || !strings.Contains(err.Error(), "it takes one of") {
		t.Error(err)
	}
}

// By hand: two pictures of Hindi and one of Bengali script looked at, a fourth not; a tag given twice counts once, the file comes back the same.
func TestMotifs(t *testing.T) {
	in := &client.Frame{Columns: []client.Column{client.TextColumn("id", []string{"a", "b", "c", "d"}), client.TextColumn("model", []string{"SD", "SD", "SD", "MJ"}),
		client.TextColumn("language", []string{"hin_Deva", "mar_Deva", "ben_Beng", "hin_Deva"})}}
	tags := &client.Frame{Columns: []client.Column{client.TextColumn("id", []string{"a", "a", "a", "b", "c", "x"}), client.TextColumn("tag", []string{"temple", "sari", "temple", "temple", "", "sari"})}}
	f, notes, err := compute("indictti-motifs", nil, []string{"model"}, map[string]*client.Frame{"in": in, "tags": tags})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 tagged pictures are not") {
		t.Fatal(notes, err)
	}
	var got []string
	for i := range f.Len() {
		got = append(got, fmt.Sprintf("%s %s %s %.2f %v/%v/%v", f.Texts("model")[i], f.Texts("script")[i], f.Texts("tag")[i], f.Numbers("share")[i], f.Numbers("n_tagged")[i], f.Numbers("n_looked_at")[i], f.Numbers("n_images")[i]))
	}
	want := []string{"MJ Deva sari NaN 0/0/1", "MJ Deva temple NaN 0/0/1", "SD Beng sari 0.00 0/1/1", "SD Beng temple 0.00 0/1/1", "SD Deva sari 0.50 1/2/2", "SD Deva temple 1.00 2/2/2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	per, _, err := compute("indictti-motifs", map[string]string{"per": "language"}, nil, map[string]*client.Frame{"in": in, "tags": tags})
	if err != nil || per.Len() != 6 || per.Texts("language")[0] != "ben_Beng" {
		t.Errorf("%v, %v", per, err)
	}
	if _, _, err := compute("indictti-motifs", nil, nil, map[string]*client.Frame{"in": in}); err == nil || !strings.Contains(err.Error(), `give the table "tags"`) {
		t.Error(err)
	}
	in.Texts("language")[0] = "xxx_Xxxx"
	if _, _, err := compute("indictti-motifs", nil, nil, map[string]*client.Frame{"in": in, "tags": tags}); err == nil || !strings.Contains(err.Error(), `row 1 (id "a"), column language: "xxx_Xxxx"`) {
		t.Error(err)
	}
}

// Gaps put into a whole table come out as counts: a refused, a failed, an absent picture and an empty caption.
func TestCompleteness(t *testing.T) {
	var languages, prompts, outcomes, captions []string
	for _, l := range []string{"hin_Deva", "en"} {
		for k := range 3 {
			for range 4 {
				languages, prompts, outcomes, captions = append(languages, l), append(prompts, fmt.Sprint("p", k)), append(outcomes, "ok"), append(captions, "a thing")
			}
		}
	}
	outcomes[0], outcomes[1], outcomes[13], captions[5], captions[0] = "refused", "failed", "refused", " ", ""
	f := &client.Frame{Columns: []client.Column{client.TextColumn("language", languages), client.TextColumn("prompt_id", prompts), client.TextColumn("outcome", outcomes), client.TextColumn("caption", captions)}}
	in := f.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}) // one of Hindi is not there
	got := tabulartest.Evaluate(t, "indictti-counts", in, nil)
	for column, want := range map[string][2]float64{"n_prompts": {3, 3}, "n_expected": {12, 12}, "n_rows": {12, 11}, "n_ok": {11, 9}, "n_refused": {1, 1}, "n_failed": {0, 1}, "n_missing": {1, 3}, "n_empty": {0, 1}, "n_short": {1, 2}} {
		if n := got.Numbers(column); len(n) != 2 || n[0] != want[0] || n[1] != want[1] {
			t.Errorf("%s: %v, want %v (en, hin_Deva)", column, n, want)
		}
	}
	more := tabulartest.Evaluate(t, "indictti-counts", in, map[string]string{"expected": "5", "languages": "hin_Deva,tam_Taml"})
	if !slices.Equal(more.Numbers("n_missing"), []float64{6, 15}) || !slices.Equal(more.Numbers("n_short"), []float64{3, 3}) {
		t.Errorf("%v", more)
	}
}

// The data of Figures 4 and 9: a value of SCWL and DWL for each of 31 languages and each model, with m9 and without.
func TestSeriesWithAndWithoutM9(t *testing.T) {
	rng := near.Rand(t, 72)
	var both *client.Frame
	for _, model := range data.Models {
		p := made(rng, 31, 3, 2, 4, 0)
		p.Languages = codes(data.Languages())
		f := frameOf(p, model, "full")
		if both == nil {
			both = f
			continue
		}
		for i := range both.Columns {
			c, o := &both.Columns[i], f.Columns[i]
			c.Texts, c.Numbers, c.Vectors = append(c.Texts, o.Texts...), append(c.Numbers, o.Numbers...), append(c.Vectors, o.Vectors...)
		}
	}
	var rows []int
	for i, m := range both.Texts("model") {
		if m != "Alt Diffusion m9" {
			rows = append(rows, i)
		}
	}
	for models, table := range map[int]*client.Frame{5: both, 4: both.Pick(rows)} {
		for _, score := range []string{"scwl", "dwl"} {
			f, _, err := compute("indictti-"+score, map[string]string{"draws": "0"}, []string{"model"}, map[string]*client.Frame{"in": table})
			if err != nil || f.Len() != models*31 || slices.ContainsFunc(f.Numbers(score), math.IsNaN) {
				t.Errorf("%s of %d models: %d rows, %v", score, models, f.Len(), err)
			}
		}
	}
}

// Every score says on every row which vectors and which reading made it.
func TestScoresSayWhatMadeThem(t *testing.T) {
	rng := near.Rand(t, 73)
	p := made(rng, 2, 3, 2, 4, 0)
	p.Languages[0] = "en"
	in, refs := frameOf(p, "m", "blip2_pooled"), referencesOf(p, [][]float32{vector(rng, 4), vector(rng, 4), vector(rng, 4)}, "query_mean")
	options := map[string]string{"vector": "blip2_pooled", "draws": "0"}
	for metric, more := range map[string]map[string]string{
		"clgc": {"reference-vector": "query_mean"}, "igc": {"reference-vector": "query_mean"}, "lgc": {"reference-vector": "query_mean"}, "drop": {"reference-vector": "query_mean"},
		"scwl": {"normaliser": "literal"}, "dwl": {"normaliser": "literal", "images": "centroid"}, "scal": {"pairs": "mean_all"}, "scal-overall": {"pairs": "mean_ult", "overall": "half"},
	} {
		o, inputs := map[string]string{}, map[string]*client.Frame{"in": in}
		for _, settings := range []map[string]string{options, more} {
			for k, v := range settings {
				o[k] = v
			}
		}
		want := map[string]string{"vector": "blip2_pooled"}
		if r := more["reference-vector"]; r != "" {
			inputs["reference"], want["reference"] = refs, r
		}
		switch metric {
		case "scwl":
			want["normaliser"] = "literal"
		case "dwl":
			want["normaliser"] = "literal, centroid"
		case "scal":
			want["normaliser"] = "mean_all"
		case "scal-overall":
			want["normaliser"], want["pairs"] = "half", "mean_ult"
		}
		f, _, err := compute("indictti-"+metric, o, nil, inputs)
		if err != nil || f.Len() == 0 {
			t.Fatal(metric, err)
		}
		for column, value := range want {
			for i, got := range f.Texts(column) {
				if got != value {
					t.Errorf("%s, row %d: %s is %q, want %q", metric, i, column, got, value)
				}
			}
			if f.Texts(column) == nil {
				t.Errorf("%s has no column %s", metric, column)
			}
		}
	}
}
