package concepts

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

type goldenCell struct {
	Model, Language, Concept string
	Vectors, Joint           string
	N                        int
	Sc, Xc, Wc, Dt           *float64
	Literal                  *float64 `json:"xc_literal"`
	Dot                      *float64 `json:"wc_dot"`
	All                      *float64 `json:"dt_all"`
	vectors, joint           [][]float32
}

type golden struct {
	Width int
	Words map[string]string
	Cells []goldenCell
	Means []struct {
		Model, Language string
		Xc, Wc          float64
	}
	Correlations []struct {
		A, B string
		R    float64
	}
}

func decode(t *testing.T, text string, width int) (rows [][]float32) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%(4*width) != 0 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	for at := 0; at < len(raw); at += 4 * width {
		row := make([]float32, width)
		for k := range row {
			row[k] = math.Float32frombits(binary.LittleEndian.Uint32(raw[at+4*k:]))
		}
		rows = append(rows, row)
	}
	return rows
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/golden.json"))(t), &g))
	for i := range g.Cells {
		g.Cells[i].vectors, g.Cells[i].joint = decode(t, g.Cells[i].Vectors, g.Width), decode(t, g.Cells[i].Joint, 6)
	}
	must.Equal(t, len(g.Cells), 40, "cells")
	return g
}

// check compares with a golden value to 1e-9; null is NaN.
func check(t *testing.T, what string, got float64, want *float64) {
	t.Helper()
	w := math.NaN()
	if want != nil {
		w = *want
	}
	near.Check(t, what, []float64{got}, []float64{w}, 1e-9, 1e-9)
}

func (g golden) sets(t *testing.T) map[string]Set {
	sets := map[string]Set{}
	for _, c := range g.Cells {
		if sets[c.Model].Images == nil {
			sets[c.Model] = Set{c.Model, map[Cell][]Image{}, map[Cell][]float32{}}
		}
		s, at := sets[c.Model], Cell{c.Language, c.Concept}
		for i := range c.vectors {
			s.Images[at] = append(s.Images[at], Image{fmt.Sprint(i), c.vectors[i], c.joint[i]})
		}
		s.Words[Cell{English, c.Concept}] = decode(t, g.Words[c.Concept], 6)[0]
	}
	return sets
}

// TestGolden compares every score with numpy and scipy, to 1e-9.
func TestGolden(t *testing.T) {
	g := readGolden(t)
	at := map[string]goldenCell{}
	for _, c := range g.Cells {
		at[c.Model+c.Language+c.Concept] = c
	}
	var scored []Scored
	for _, model := range []string{"M1", "M2"} {
		set := g.sets(t)[model]
		plain := must.Get(ComputeConceptScores(set, Options{}))(t)
		literal := must.Get(ComputeConceptScores(set, Options{Self: Literal, Product: Dot}))(t)
		for i, s := range plain {
			want := at[model+s.Language+s.Concept]
			name := model + " " + s.Language + " " + s.Concept
			check(t, name+" Sc", s.Sc.Value, want.Sc)
			check(t, name+" Xc", s.Xc.Value, want.Xc)
			check(t, name+" Wc", s.Wc.Value, want.Wc)
			check(t, name+" Xc, literal", literal[i].Xc.Value, want.Literal)
			check(t, name+" Wc, dot product", literal[i].Wc.Value, want.Dot)
			if want.Dt != nil {
				check(t, name+" Dt", s.Dt.Value, want.Dt)
			}
			if s.Used != want.N || s.Reference != 5 || s.Others != 4 || s.Text != want.N {
				t.Errorf("%s: counts %+v", name, s)
			}
			scored = append(scored, Scored{model, s.Cell, s.Dt.Value, s.Sc.Value, s.Xc.Value, s.Wc.Value, Unknown})
			var others [][]float32
			for _, c := range g.Cells {
				if c.Model == model && c.Language == s.Language && c.Concept != s.Concept {
					others = append(others, c.vectors...)
				}
			}
			pure := must.Get(InverseDistinctiveness(want.vectors, others))(t)
			check(t, name+" Dt against all images", pure, want.All)
			sc, _ := SelfConsistency(want.vectors)
			xc, _ := CrossConsistency(want.vectors, at[model+"en"+s.Concept].vectors)
			wc, _ := TextMatch(set.Words[Cell{English, s.Concept}], want.joint, Cosine)
			check(t, name+" SelfConsistency", sc, want.Sc)
			check(t, name+" CrossConsistency", xc, want.Literal)
			check(t, name+" TextMatch", wc, want.Wc)
		}
	}
	all := map[string]Mean{}
	for _, m := range means(t, scored, LeaveOut) {
		all[m.Model+m.Language] = m
	}
	must.Equal(t, len(all), len(g.Means), "means")
	for _, want := range g.Means {
		m := all[want.Model+want.Language]
		check(t, want.Model+" "+want.Language+" mean Xc", m.Xc.Value, &want.Xc)
		check(t, want.Model+" "+want.Language+" mean Wc", m.Wc.Value, &want.Wc)
	}
	got := must.Get(ComputeLanguageCorrelations(scored, func(s Scored) float64 { return s.Xc }, true,
		metrics.Intervals{}))(t)
	rs := map[string]float64{}
	for _, c := range got {
		rs[c.A+c.B] = c.R.Value
		rs[c.B+c.A] = c.R.Value
	}
	for _, want := range g.Correlations {
		check(t, "r of "+want.A+" and "+want.B, rs[want.A+want.B], &want.R)
	}
	must.Equal(t, len(got), 6)
	must.Equal(t, len(g.Correlations), 6)
}

// frame returns the table of images of the golden file, and that of words.
func (g golden) frame(t *testing.T) (images, words *table.Frame) {
	var models, languages, concepts, ids, wordLanguages, wordConcepts []string
	var full, joint, texts [][]float32
	for _, c := range g.Cells {
		for i := range c.vectors {
			models, languages, concepts = append(models, c.Model), append(languages, c.Language),
				append(concepts, c.Concept)
			ids = append(ids, fmt.Sprintf("%s-%s-%s-%d", c.Model, c.Language, c.Concept, i))
			full, joint = append(full, c.vectors[i]), append(joint, c.joint[i])
		}
		if c.Model == "M1" && c.Language == English {
			wordLanguages, wordConcepts, texts = append(wordLanguages, English), append(wordConcepts, c.Concept),
				append(texts, decode(t, g.Words[c.Concept], 6)[0])
		}
	}
	images = &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("model", models),
		table.TextColumn("language", languages), table.TextColumn("concept", concepts),
		table.VectorColumn("full", full), table.VectorColumn("clip_image", joint)}}
	words = &table.Frame{Columns: []table.Column{table.TextColumn("language", wordLanguages),
		table.TextColumn("concept", wordConcepts), table.VectorColumn("clip_text", texts)}}
	return images, words
}

// TestGoldenTables does the same for the tables.
func TestGoldenTables(t *testing.T) {
	g := readGolden(t)
	f := evaluate(t, g, nil)
	if f.Len() != 40 {
		t.Fatalf("%d rows", f.Len())
	}
	at := map[string]int{}
	for i, m := range f.Texts("model") {
		at[m+f.Texts("language")[i]+f.Texts("concept")[i]] = i
	}
	for _, c := range g.Cells {
		i := at[c.Model+c.Language+c.Concept]
		check(t, "Sc", f.Numbers("self_consistency")[i], c.Sc)
		check(t, "Xc", f.Numbers("cross_consistency")[i], c.Xc)
		check(t, "Wc", f.Numbers("text_match")[i], c.Wc)
		want := No
		if *c.Xc >= 0.5 || *c.Wc >= 25 {
			want = Yes
		}
		must.Equal(t, f.Texts("possessed")[i], want, c.Model, c.Language, c.Concept, "possessed")
		must.Equal(t, f.Numbers("distinctiveness")[i], 1-f.Numbers("inverse_distinctiveness")[i], "distinctiveness",
			"Dt")
		for _, s := range []string{"self_consistency", "cross_consistency", "text_match", "inverse_distinctiveness",
			"distinctiveness"} {
			low, v, high := f.Numbers(s + "_low")[i], f.Numbers(s)[i], f.Numbers(s + "_high")[i]
			if c.N < 3 != math.IsNaN(low) || c.N >= 3 && !(low <= v && v <= high) {
				t.Errorf("%s of %d images: %g in [%g, %g]", s, c.N, v, low, high)
			}
		}
	}
	means := tabulartest.Evaluate(t, "cococrola-means", f, nil)
	must.Equal(t, means.Len(), 2*5+4, "means")
	for _, metric := range []string{"cococrola-table", "cococrola-cells", "cococrola-wins"} {
		tabulartest.Evaluate(t, metric, means, nil)
	}
	for _, metric := range []string{"cococrola-ranking", "cococrola-correlations", "cococrola-failures"} {
		if out := tabulartest.Evaluate(t, metric, f, nil); out.Len() == 0 {
			t.Errorf("%s is empty", metric)
		}
	}
}

// means returns the means without intervals.
func means(t *testing.T, rows []Scored, blank string) []Mean {
	t.Helper()
	return must.Get(ComputeLanguageMeans(rows, blank, metrics.Intervals{}))(t)
}
