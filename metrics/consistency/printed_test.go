package consistency

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/indictti"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// modelScores returns a table of scores from lines MODEL|LANGUAGE|VALUE.
func modelScores(rows ...string) *table.Frame {
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
	return &table.Frame{Columns: []table.Column{table.TextColumn("model", models),
		table.TextColumn("language", languages), table.NumberColumn("igc", values)}}
}

// TestPrintedCells: cells that cannot be read in print are left out, cells without a score have no value, and both are
// counted.
func TestPrintedCells(t *testing.T) {
	in := modelScores("stable-diffusion-v1-5|en|0.645349", "stable-diffusion-v1-5|asm_Beng|0.08",
		"stable-diffusion-v1-5|tel_Telu|0.07", "Dalle3|mni_Mtei|0.5", "Mine|en|0.9", "|en|0.3")
	in.Columns[2].Name = "clgc"
	f, notes, err := compute("indictti-cells", map[string]string{"score": "clgc", "table": "2"}, nil,
		map[string]*table.Frame{"in": in})
	if err != nil || f.Len() != 116 || f.Numbers("equal")[0] != 1 || f.Numbers("equal")[1] != 0 ||
		math.Abs(f.Numbers("difference")[1]-0.71) > 1e-9 || f.Texts("model")[0] != "Stable Diffusion" ||
		f.Texts("computed")[0] != "stable-diffusion-v1-5" {
		t.Fatal(f, err)
	}
	for i, equal := range f.Numbers("equal")[2:] {
		if !math.IsNaN(equal) || !math.IsNaN(f.Numbers("value")[i+2]) || f.Texts("computed")[i+2] != "" {
			t.Errorf("row %d has no score, and equal %g", i+3, equal)
		}
	}
	if len(notes) != 1 || notes[0] != "Table 2: 2 of 116 printed cells computed; 8 more cannot be read in print" {
		t.Errorf("%q", notes)
	}
	f, notes, err = compute("indictti-cells", map[string]string{"score": "clgc", "table": "2",
		"labels": "Mine=Midjourney"}, nil, map[string]*table.Frame{"in": in})
	if err != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "Table 2: 3 of 116") ||
		!slices.Contains(f.Texts("computed"), "Mine") {
		t.Errorf("%q, %v", notes, err)
	}
	for _, tab := range indictti.Tables { // a printed table next to itself: every legible cell, all equal
		cells := must.Get(indictti.PrintedTable(tab))(t)
		var rows []string
		legible := 0
		for _, c := range cells {
			if c.State == indictti.Legible {
				legible++
				rows = append(rows, fmt.Sprintf("%s|%s|%v", c.Model, c.Language, c.Value))
			}
		}
		own := modelScores(rows...)
		f, _, err := compute("indictti-cells", map[string]string{"table": fmt.Sprint(tab), "scale": "1"}, nil,
			map[string]*table.Frame{"in": own})
		if err != nil || f.Len() != legible || slices.Contains(f.Numbers("equal"), 0) {
			t.Errorf("Table %d: %d of %d cells, %v", tab, f.Len(), legible, err)
		}
	}
	must.Fail(compute("indictti-cells", map[string]string{"table": "5"}, nil,
		map[string]*table.Frame{"in": in}))(t, "it must be one of")
}

// TestMotifs by hand: two images in Devanagari and one in Bengali script are inspected, a fourth is not; a repeated tag
// counts once.
func TestMotifs(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d"}),
		table.TextColumn("model", []string{"SD", "SD", "SD", "MJ"}),
		table.TextColumn("language", []string{"hin_Deva", "mar_Deva", "ben_Beng", "hin_Deva"})}}
	tags := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"1", "2", "3", "4", "5", "6"}),
		table.TextColumn("image_id", []string{"a", "a", "a", "b", "c", "x"}),
		table.TextColumn("tag", []string{"temple", "sari", "temple", "temple", "", "sari"})}}
	f, notes, err := compute("indictti-motifs", nil, []string{"model"},
		map[string]*table.Frame{"in": in, "tags": tags})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 tagged images are not") {
		t.Fatal(notes, err)
	}
	var got []string
	for i := range f.Len() {
		got = append(got, fmt.Sprintf("%s %s %s %.2f %v/%v/%v", f.Texts("model")[i], f.Texts("script")[i],
			f.Texts("tag")[i], f.Numbers("share")[i], f.Numbers("n_tagged")[i], f.Numbers("n_inspected")[i],
			f.Numbers("n_images")[i]))
	}
	want := []string{"MJ Deva sari NaN 0/0/1", "MJ Deva temple NaN 0/0/1", "SD Beng sari 0.00 0/1/1",
		"SD Beng temple 0.00 0/1/1", "SD Deva sari 0.50 1/2/2", "SD Deva temple 1.00 2/2/2"}
	must.EqualSlices(t, got, want)
	per, _, err := compute("indictti-motifs", map[string]string{"per": "language"}, nil,
		map[string]*table.Frame{"in": in, "tags": tags})
	if err != nil || per.Len() != 6 || per.Texts("language")[0] != "ben_Beng" {
		t.Errorf("%v, %v", per, err)
	}
	must.Fail(compute("indictti-motifs", nil, nil, map[string]*table.Frame{"in": in}))(t, `give the table "tags"`)
	in.Texts("language")[0], in.RowNumbers = "xxx_Xxxx", []int{7, 8, 9, 10}
	must.Fail(compute("indictti-motifs", nil, nil,
		map[string]*table.Frame{"in": in, "tags": tags}))(t, `row 7 (id "a"), column language: "xxx_Xxxx"`)
}

// TestMotifTests: a motif in 5 of 5 images of one script and in 0 of 5 of the other has the exact p of Fisher's test,
// one in 1 and 0 none.
func TestMotifTests(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{table.TextColumn("id", nil), table.TextColumn("language", nil)}}
	tags := &table.Frame{Columns: []table.Column{table.TextColumn("id", nil), table.TextColumn("tag", nil)}}
	for i := range 10 {
		id, tag := fmt.Sprint(i), ""
		if i < 5 {
			tag = "temple"
		}
		in.Add([]string{id, []string{"hin_Deva", "ben_Beng"}[i/5]})
		tags.Add([]string{id, tag})
	}
	tags.Add([]string{"9", "sari"})
	f, _ := must.Get2(compute("indictti-motif-tests", nil, nil, map[string]*table.Frame{"in": in, "tags": tags}))(t)
	temple := 2. / 252 // of C(10, 5) divisions two are as extreme
	for column, want := range map[string][]float64{"p": {1, temple, 1, temple},
		"p_holm": {1, 4 * temple, 1, 4 * temple}, "difference": {0.2, -1, -0.2, 1}, "n_others": {5, 5, 5, 5}} {
		if err := near.Compare(f.Numbers(column), want, 0, 1e-12); err != nil {
			t.Errorf("%s of %q: %v", column, f.Texts("tag"), err)
		}
	}
}

// TestCompleteness: a refused, a failed and a missing image and an empty caption are counted.
func TestCompleteness(t *testing.T) {
	var languages, prompts, outcomes, captions []string
	for _, l := range []string{"hin_Deva", "en"} {
		for k := range 3 {
			for range 4 {
				languages, prompts, outcomes, captions = append(languages, l), append(prompts, fmt.Sprint("p", k)),
					append(outcomes, "ok"), append(captions, "a thing")
			}
		}
	}
	outcomes[0], outcomes[1], outcomes[13], captions[5], captions[0] = "refused", "failed", "refused", " ", ""
	f := &table.Frame{Columns: []table.Column{table.TextColumn("language", languages),
		table.TextColumn("prompt_id", prompts), table.TextColumn("outcome", outcomes),
		table.TextColumn("caption", captions)}}
	// one row of Hindi is missing
	in := f.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23})
	got := tabulartest.Evaluate(t, "indictti-counts", in, nil)
	for column, want := range map[string][2]float64{"n_prompts": {3, 3}, "n_expected": {12, 12}, "n_rows": {12, 11},
		"n_ok": {11, 9}, "n_refused": {1, 1}, "n_failed": {0, 1}, "n_missing": {1, 3}, "n_empty": {0, 1},
		"n_short": {1, 2}} {
		if n := got.Numbers(column); len(n) != 2 || n[0] != want[0] || n[1] != want[1] {
			t.Errorf("%s: %v, want %v (en, hin_Deva)", column, n, want)
		}
	}
	more := tabulartest.Evaluate(t, "indictti-counts", in,
		map[string]string{"n": "5", "languages": "hin_Deva,tam_Taml"})
	must.EqualSlices(t, more.Numbers("n_missing"), []float64{6, 15})
	must.EqualSlices(t, more.Numbers("n_short"), []float64{3, 3})
}

// TestScoresNameVectorsAndMethod: every row of a score names its vectors and its method.
func TestScoresNameVectorsAndMethod(t *testing.T) {
	rng := near.Rand(t, 73)
	p := made(rng, 2, 3, 2, 4, 0)
	p.Languages[0] = "en"
	in, refs := frameOf(p, "m", "blip2_pooled"),
		referencesOf(p, [][]float32{vector(rng, 4), vector(rng, 4), vector(rng, 4)}, "query_mean")
	options := map[string]string{"vector": "blip2_pooled", "resamples": "0"}
	for metric, more := range map[string]map[string]string{
		"clgc": {"reference-vector": "query_mean"}, "igc": {"reference-vector": "query_mean"},
		"lgc": {"reference-vector": "query_mean"}, "drop": {"reference-vector": "query_mean"},
		"scwl": {"method": "literal"}, "dwl": {"method": "literal", "images": "centroid"},
		"scal": {"method": "mean_all"}, "scal-overall": {"pairs": "mean_ult", "method": "half"},
	} {
		o, inputs := map[string]string{}, map[string]*table.Frame{"in": in}
		for _, list := range []map[string]string{options, more} {
			for k, v := range list {
				o[k] = v
			}
		}
		want := map[string]string{"vector": "blip2_pooled"}
		if r := more["reference-vector"]; r != "" {
			inputs["reference"], want["reference"] = refs, r
		}
		switch metric {
		case "scwl":
			want["method"] = "literal"
		case "dwl":
			want["method"] = "literal, centroid"
		case "scal":
			want["method"] = "mean_all"
		case "scal-overall":
			want["method"], want["pairs"] = "half", "mean_ult"
		}
		f, _, err := compute("indictti-"+metric, o, nil, inputs)
		if err != nil || f.Len() == 0 {
			t.Fatal(metric, err)
		}
		for column, value := range want {
			for i, got := range f.Texts(column) {
				must.Equal(t, got, value, metric, "row", i, column)
			}
			if f.Texts(column) == nil {
				t.Errorf("%s has no column %s", metric, column)
			}
		}
	}
}
