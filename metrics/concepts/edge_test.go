package concepts

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// small returns a table of two concepts in two languages, with n images per cell.
func small(n int) (images, words *table.Frame) {
	var ids, models, languages, concepts, outcome []string
	var full, joint [][]float32
	for _, l := range []string{"en", "he"} {
		for k, c := range []string{"dog", "sea"} {
			for i := range n {
				ids, models, languages, concepts, outcome = append(ids, l+c+string(rune('a'+i))),
					append(models, "SD 2"), append(languages, l), append(concepts, c), append(outcome, "ok")
				full, joint = append(full, []float32{1, float32(i), float32(k)}),
					append(joint, []float32{1, float32(k)})
			}
		}
	}
	images = &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("model", models),
		table.TextColumn("language", languages), table.TextColumn("concept", concepts),
		table.TextColumn("outcome", outcome), table.VectorColumn("full", full),
		table.VectorColumn("clip_image", joint)}}
	words = &table.Frame{Columns: []table.Column{table.TextColumn("language", []string{"en", "en"}),
		table.TextColumn("concept", []string{"dog", "sea"}),
		table.VectorColumn("clip_text", [][]float32{{1, 0}, {0, 1}})}}
	return images, words
}

func row(t *testing.T, f *table.Frame, language, concept string) int {
	t.Helper()
	for i, l := range f.Texts("language") {
		if l == language && f.Texts("concept")[i] == concept {
			return i
		}
	}
	t.Fatalf("no row for %s, %s", language, concept)
	return 0
}

func scored(t *testing.T, images, words *table.Frame, options map[string]string) *table.Frame {
	t.Helper()
	return must.Get(scoresOf(images, words, options, 1))(t)
}

// TestMissing: refused and failed images are left out and counted; a missing language is blank, and left out of
// means.
func TestMissing(t *testing.T) {
	p, w := small(3)
	// en dog
	p.Column("outcome").Texts[0], p.Column("full").Vectors[0], p.Column("clip_image").Vectors[0] = "refused", nil, nil
	p.Column("outcome").Texts[1] = "failed"
	p.Column("full").Vectors[9] = nil // he sea
	f := scored(t, p, w, nil)
	dog := row(t, f, "en", "dog")
	must.Equal(t, f.Numbers("n_asked")[dog], 3)
	must.Equal(t, f.Numbers("n_refused")[dog], 1)
	must.Equal(t, f.Numbers("n_used")[dog], 1)
	must.Equal(t, f.Numbers("n_text")[dog], 1)
	if !math.IsNaN(f.Numbers("self_consistency")[dog]) || !math.IsNaN(f.Numbers("cross_consistency")[dog]) ||
		math.IsNaN(f.Numbers("text_match")[dog]) {
		t.Error("one image: Sc and Xc in the source language are not defined, Wc is")
	}
	if he := row(t, f, "he", "dog"); f.Numbers("n_reference")[he] != 1 ||
		math.IsNaN(f.Numbers("cross_consistency")[he]) {
		t.Error("he dog has one reference image, and so an Xc")
	}
	if sea := row(t, f, "he", "sea"); f.Numbers("n_used")[sea] != 2 || f.Numbers("n_asked")[sea] != 3 {
		t.Error("he sea: a image without a vector is left out")
	}
	literal := scored(t, p, w, map[string]string{"self": "literal"})
	must.Near(t, literal.Numbers("cross_consistency")[dog], 1, 1e-12, "literal Xc of one image with itself is 1")

	for i, l := range p.Texts("language") { // SD 2 in English only, another model in Hebrew only
		if l == "he" {
			p.Column("model").Texts[i] = "other"
		}
	}
	f = scored(t, p, w, nil)
	if f.Len() != 8 {
		t.Fatalf("%d rows, want a grid of 8", f.Len())
	}
	means := tabulartest.Evaluate(t, "cococrola-means", f, map[string]string{"resamples": "0"})
	for i, m := range means.Texts("model") {
		xc, used := means.Numbers("cross_consistency")[i], means.Numbers("n_used")[i]
		if has := m == "SD 2" && means.Texts("language")[i] != "he" || m == "Avg" &&
			means.Texts("language")[i] == "en"; has == math.IsNaN(xc) || has != (used > 0) {
			t.Errorf("%s, %s: mean Xc %g of %g", m, means.Texts("language")[i], xc, used)
		}
	}
	minus := tabulartest.Evaluate(t, "cococrola-means", f, map[string]string{"resamples": "0", "profile": PublicCode})
	for i, m := range minus.Texts("model") {
		if m == "SD 2" && minus.Texts("language")[i] == "en" { // dog is blank, sea is not
			sea := f.Numbers("cross_consistency")[row(t, f, "en", "sea")]
			got := minus.Numbers("cross_consistency")[i]
			must.Near(t, got, (sea-1)/2, 1e-12, "blank as −1")
			must.Equal(t, minus.Texts("blank")[i], "minus-one", "blank as −1")
		}
	}
}

func TestOneImage(t *testing.T) {
	p, w := small(1)
	f := scored(t, p, w, nil)
	for i := range f.Len() {
		en := f.Texts("language")[i] == "en"
		if !math.IsNaN(f.Numbers("self_consistency")[i]) || math.IsNaN(f.Numbers("cross_consistency")[i]) != en ||
			math.IsNaN(f.Numbers("inverse_distinctiveness")[i]) || !math.IsNaN(f.Numbers("text_match_low")[i]) {
			t.Errorf("row %d of one-image cells", i)
		}
	}
}

// TestCopies: images that are all the same have scores without intervals.
func TestCopies(t *testing.T) {
	p, w := small(6)
	one := p.Pick(make([]int, p.Len()))
	p = p.With(table.VectorColumn("full", one.Vectors("full")),
		table.VectorColumn("clip_image", one.Vectors("clip_image")))
	f := scored(t, p, w, nil)
	for _, c := range f.Columns {
		name, is := strings.CutSuffix(c.Name, "_low")
		for row, low := range c.Numbers {
			if is && low == f.Numbers(name + "_high")[row] {
				t.Errorf("row %d: the interval of %s is %v to %v", row, name, low, low)
			}
		}
	}
	if v := f.Numbers("self_consistency")[0]; v < 0.999 {
		t.Errorf("self-consistency %v of copies", v)
	}
}

func TestNoWords(t *testing.T) {
	p, _ := small(3)
	f := scored(t, p, nil, nil)
	for i := range f.Len() {
		want := Unknown // Wc is blank: only a high Xc decides
		if f.Numbers("cross_consistency")[i] >= 0.5 {
			want = Yes
		}
		must.Near(t, f.Numbers("text_match")[i], math.NaN(), 0, "row", i, "Wc")
		must.Equal(t, f.Texts("possessed")[i], want, "row", i)
	}
}

// TestSource: the source language can depend on the model.
func TestSource(t *testing.T) {
	p, w := small(3)
	f := scored(t, p, w, map[string]string{"source": "en,SD 2=he"})
	for i, l := range f.Texts("language") {
		if xc, sc := f.Numbers("cross_consistency")[i],
			f.Numbers("self_consistency")[i]; f.Texts("source")[i] != "he" || (l == "he") != (xc == sc) {
			t.Errorf("%s: source %s, Xc %g, Sc %g", l, f.Texts("source")[i], xc, sc)
		}
	}
	for list, want := range map[string]string{"en,CogView 2=zh": "zh", "en": "en", "zh,A=en": "zh"} {
		must.Equal(t, must.Get(SourceOf(list, "CogView 2"))(t), want, list)
	}
}

// TestBad: errors are one line with the row and the column.
func TestBad(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range map[string]struct {
		spoil   func(p, w *table.Frame)
		options map[string]string
		want    string
	}{
		"zero": {func(p, w *table.Frame) { p.Column("full").Vectors[4] = []float32{0, 0, 0} }, nil,
			`row 10 (id "enseab"), column full: the vector is all zeros`},
		"nan": {func(p, w *table.Frame) { p.Column("full").Vectors[4] = []float32{0, nan, 0} }, nil,
			`row 10 (id "enseab"), column full: the vector contains NaN`},
		"infinite": {func(p, w *table.Frame) {
			p.Column("clip_image").Vectors[4] = []float32{0,
				float32(math.Inf(1))}
		}, nil, `row 10 (id "enseab"), column clip_image: the vector contains NaN or infinity`},
		"width": {func(p, w *table.Frame) { p.Column("full").Vectors[4] = []float32{0, 1} }, nil,
			`row 10 (id "enseab"), column full: the vector has 2 values, others have 3`},
		"joint": {func(p, w *table.Frame) { p.Column("clip_image").Vectors[4] = []float32{0, 1, 1} }, nil,
			`row 10 (id "enseab"), column clip_image: the vector has 3 values`},
		"word": {func(p, w *table.Frame) { w.Column("clip_text").Vectors[1] = []float32{0, 0} }, nil,
			`table "words", row 9 (concept "sea"), column clip_text: the vector is all zeros`},
		"word twice": {func(p, w *table.Frame) { w.Column("concept").Texts[1] = "dog" }, nil,
			`table "words", row 9: the word of concept "dog"`},
		"id": {func(p, w *table.Frame) { p.Column("id").Texts[4] = p.Column("id").Texts[2] }, nil,
			`row 10 (id "endogc"), column id: row 6 has the same id`},
		"blank": {func(p, w *table.Frame) { p.Column("language").Texts[4] = "" }, nil,
			`row 10 (id "enseab"), column language: it is blank`},
		"column": {func(p, w *table.Frame) {}, map[string]string{"vector": "pooled"}, `"pooled"`},
		"m":      {func(p, w *table.Frame) {}, map[string]string{"m": "many"}, `m: "many"`},
		"self":   {func(p, w *table.Frame) {}, map[string]string{"self": "twice"}, `self is "twice"`},
		"source": {func(p, w *table.Frame) {}, map[string]string{"source": "CogView 2=zh"},
			`has no language for the model "SD 2"`},
		"threshold": {func(p, w *table.Frame) {}, map[string]string{"xc_below": "half"}, `xc-below: "half"`},
	} {
		p, w := small(3)
		p.RowNumbers, w.RowNumbers = []int{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24}, []int{7, 9}
		c.spoil(p, w)
		must.Fail(scoresOf(p, w, c.options, 1))(t, c.want)
	}
	p, w := small(3)
	f := scored(t, p, w, nil)
	must.Fail(tabulartest.Run("cococrola-means", f, nil, "language"))(t, "no option \"by\"") // grouped
	f.Column("concept").Texts[1], f.RowNumbers = "dog", []int{3, 4, 5, 6}
	must.Fail(tabulartest.Run("cococrola-means", f, nil))(t, `row 4 (id "dog"), column concept: row 3 has`) // twice
	must.Fail(ComputeConceptScores(Set{}, Options{Sample: "some"}))(t, `sample is "some"`)
}

// TestRowsInAnyOrder: the result does not depend on the order of rows.
func TestRowsInAnyOrder(t *testing.T) {
	p, w := small(5)
	f := scored(t, p, w, nil)
	for i := range p.Columns {
		slices.Reverse(p.Columns[i].Texts)
		slices.Reverse(p.Columns[i].Vectors)
	}
	g := scored(t, p, w, nil)
	for i, c := range f.Columns {
		if !slices.Equal(c.Texts, g.Columns[i].Texts) || !slices.EqualFunc(c.Numbers, g.Columns[i].Numbers,
			func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("column %s: %v%v, reversed %v%v", c.Name, c.Texts, c.Numbers, g.Columns[i].Texts,
				g.Columns[i].Numbers)
		}
	}
}

// TestRegistered: every operation has a title, a citation and inputs, and every metric a unit, range and direction.
func TestRegistered(t *testing.T) {
	n := 0
	for _, name := range append(operation.Names(true), operation.Names(false)...) {
		m := operation.Find(name)
		if !strings.HasPrefix(name, "cococrola-") {
			continue
		}
		n++
		if m.Title == "" || m.Metric && (m.Unit == "" || m.Range == "" || m.Direction == "") ||
			!strings.Contains(m.Citation, "ACL 2023") || len(m.Inputs) == 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	must.Equal(t, n, 18, "operations")
}
