package stereotypes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

func TestClipAttributesByHand(t *testing.T) {
	texts := [][]float32{{2, 0, 0}, {0, 1, 0}, {0, 0, 5}}
	image := [][]float32{{3, 4, 0}, nil} // cosines 0.6, 0.8, 0
	a, b := math.Exp(-2), 1+math.Exp(-2)+math.Exp(-8)
	for _, c := range []struct {
		o     ClipVariant
		found []int
	}{
		{ClipVariant{Method: ByTop, Top: 1, Scale: 10}, []int{1}}, {ClipVariant{Method: ByTop, Top: 9, Scale: 10},
			[]int{1, 0, 2}},
		{ClipVariant{Method: ByCosine, Threshold: 0.5, Scale: 10}, []int{1, 0}},
		{ClipVariant{Method: ByCosine, Threshold: 0.81, Scale: 10}, nil},
		{ClipVariant{Method: ByProbability, Threshold: 0.5, Scale: 10}, []int{1}},
		{ClipVariant{Method: ByProbability, Threshold: 0.1, Scale: 10}, []int{1, 0}},
	} {
		rows, err := ClipAttributes(image, texts, c.o)
		if err != nil || rows[1] != nil {
			t.Fatal(rows, err)
		}
		var found []int
		for _, s := range rows[0] {
			if s.Found {
				found = append(found, s.Attribute)
			}
		}
		if !slices.Equal(found, c.found) {
			t.Errorf("%+v: %v", c.o, found)
		}
		near.Check(t, "scores", []float64{rows[0][0].Cosine, rows[0][1].Cosine, rows[0][2].Cosine,
			rows[0][0].Probability, rows[0][1].Probability}, []float64{0.8, 0.6, 0, 1 / b, a / b}, 1e-9, 1e-15)
	}
	for _, c := range []struct {
		images, texts [][]float32
		o             ClipVariant
		want          string
	}{
		{image, texts, ClipVariant{}, "method"}, {image, texts, ClipVariant{Method: ByTop}, "top 0"},
		{image, texts, ClipVariant{Method: ByCosine, Scale: -1}, "scale -1"},
		{image, nil, ClipVariant{Method: ByCosine}, "no text"},
		{image, [][]float32{{0, 0, 0}}, ClipVariant{Method: ByCosine}, "text 1"},
		{image, [][]float32{{1, 0, 0}, {1}}, ClipVariant{Method: ByCosine}, "text 2"},
		{[][]float32{{1}}, texts, ClipVariant{Method: ByCosine}, "one model"},
		{[][]float32{{0, 0, 0}}, texts, ClipVariant{Method: ByCosine}, "zeros"},
		{[][]float32{{0, float32(math.NaN()), 0}}, texts, ClipVariant{Method: ByCosine}, "NaN"},
		{image, texts, ClipVariant{Method: ByCosine, Threshold: math.NaN()}, "threshold NaN"},
	} {
		if _, err := ClipAttributes(c.images, c.texts, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v does not say %q", c.o, err, c.want)
		}
	}
}

// TestClipAttributesOracle: a slow softmax of cosines; an image alone scores as in the batch; the order of the texts
// moves no score.
func TestClipAttributesOracle(t *testing.T) {
	rng := near.Rand(t, 421)
	random := func(n int) [][]float32 {
		out := make([][]float32, n)
		for i := range out {
			out[i] = make([]float32, 8)
			for k := range out[i] {
				out[i][k] = float32(rng.NormFloat64())
			}
		}
		return out
	}
	images, texts := random(40), random(25)
	order := rng.Perm(len(texts))
	shuffled := make([][]float32, len(texts))
	for k, at := range order {
		shuffled[k] = texts[at]
	}
	o := ClipVariant{Method: ByProbability, Threshold: 0.1, Scale: 12}
	all, err := ClipAttributes(images, texts, o)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ClipAttributes(images, shuffled, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range images {
		alone, err := ClipAttributes([][]float32{p}, texts, o)
		if err != nil || !slices.Equal(alone[0], all[i]) {
			t.Errorf("image %d has another score on its own (%v)", i, err)
		}
		var cos, e []float64
		sum := 0.0
		for _, v := range texts {
			var dot, x, y float64
			for k := range v {
				dot, x, y = dot+float64(p[k])*float64(v[k]), x+float64(p[k])*float64(p[k]),
					y+float64(v[k])*float64(v[k])
			}
			cos, e = append(cos, dot/math.Sqrt(x*y)), append(e, math.Exp(12*dot/math.Sqrt(x*y)))
			sum += e[len(e)-1]
		}
		total := 0.0
		for r, s := range all[i] {
			near.Check(t, "score", []float64{s.Cosine, s.Probability},
				[]float64{cos[s.Attribute], e[s.Attribute] / sum}, 1e-9, 1e-12)
			if s.Rank != r+1 || r > 0 && s.Cosine > all[i][r-1].Cosine || s.Found != (s.Probability >= 0.1) {
				t.Errorf("image %d, rank %d: %+v", i, r+1, s)
			}
			if q := other[i][r]; order[q.Attribute] != s.Attribute || math.Abs(q.Probability-s.Probability) > 1e-15 {
				t.Errorf("image %d: %+v with the texts in another order, %+v", i, q, s)
			}
			total += s.Probability
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("probabilities sum to %g", total)
		}
	}
}

// clipTables: six images of Veltan, three of Norra, one refused; vectors near to hat, sea or टोपी.
func clipTables() (images, attributes *table.Frame) {
	vectors := [][]float32{{9, 1, 0}, {9, 1, 0}, {8, 2, 0}, {1, 9, 0}, {9, 0, 1}, {7, 0, 3}, {0, 1, 9}, {0, 9, 1}, nil}
	var ids, identities, outcomes []string
	for i, v := range vectors {
		ids, identities, outcomes = append(ids, fmt.Sprint("p", i)),
			append(identities, map[bool]string{true: "Veltan", false: "Norra"}[i < 6]),
			append(outcomes, map[bool]string{true: "refused", false: "made"}[v == nil])
	}
	images = &table.Frame{Columns: []table.Column{table.TextColumn("id", ids),
		table.TextColumn("identity", identities), table.TextColumn("outcome", outcomes),
		table.VectorColumn("clip_image", vectors)}}
	pairs := pairFrame()
	of := map[string][]float32{"hat": {1, 0, 0}, "sea": {0, 1, 0}, "टोपी": {0, 0, 1}, "kind": {1, 1, 1}}
	var texts [][]float32
	for _, a := range pairs.Texts("attribute") {
		texts = append(texts, of[a])
	}
	return images, pairs.With(table.VectorColumn("clip_text", texts))
}

// TestClipAttributeTables: what CLIP finds goes through likelihoods, tendencies and offensiveness as people's answers
// do, and through salience as captions do.
func TestClipAttributeTables(t *testing.T) {
	images, attributes := clipTables()
	options := map[string]string{"top_k": "1", "rows": "all", "show_offensive": "true"}
	f, _, err := evaluate(t, "visage-clip-attributes", "attributes", images, attributes, options)
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != 8*3 || f.Numbers("n_vocabulary")[0] != 3 { // kind cannot be seen; a refused image has no rows
		t.Errorf("%d rows, vocabulary %g", f.Len(), f.Numbers("n_vocabulary")[0])
	}
	l := tabulartest.Evaluate(t, "visage-likelihood", f, map[string]string{"resamples": "0", "min_attributes": "1"})
	got := map[string]float64{}
	for i, a := range l.Texts("attribute") {
		got[l.Texts("identity")[i]+" "+a+" "+l.Texts("kind")[i]] = l.Numbers("likelihood")[i]
	}
	for name, want := range map[string]float64{"Veltan hat stereotype": 5. / 6, "Veltan sea random": 1. / 6,
		"Veltan टोपी random": 0, "Norra sea stereotype": 0.5, "Norra टोपी stereotype": 0.5, "Norra hat random": 0} {
		if math.Abs(got[name]-want) > 1e-15 {
			t.Errorf("%s: %g, want %g", name, got[name], want)
		}
	}
	o := tabulartest.Evaluate(t, "visage-offensiveness", f, map[string]string{"min_attributes": "1"})
	for i, id := range o.Texts("identity") {
		want := map[string]float64{"Norra": -0.5, "Veltan": math.NaN()}[id] // sea 0, टोपी −1; nobody rated Veltan's hat
		if v := o.Numbers("offensiveness")[i]; v != want && !(math.IsNaN(v) && math.IsNaN(want)) || id == "Veltan" &&
			o.Numbers("n_unrated")[i] != 1 {
			t.Errorf("%s: %g, want %g", id, v, want)
		}
	}
	s := tabulartest.Evaluate(t, "visage-found-salience", f, map[string]string{"show_offensive": "true"})
	var captions []Caption
	for i, a := range f.Texts("attribute") {
		if f.Numbers("selected")[i] == 1 {
			captions = append(captions, Caption{f.Texts("identity")[i], f.Texts("image_id")[i], a})
		}
	}
	want, err := Salience(captions, Vocabulary{Attributes: []string{"hat", "sea", "टोपी"}},
		SalienceOptions{Weighting: Weighting{Alpha: 1}})
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for _, w := range want {
		for _, a := range w.Attributes {
			if s.Texts("identity")[row] != w.Identity || s.Texts("attribute")[row] != a.Attribute ||
				math.Abs(s.Numbers("salience")[row]-a.Salience.Value) > 1e-12 ||
				s.Numbers("share")[row] != a.Share.Value {
				t.Errorf("row %d: %s %s %g, captions give %s %+v", row, s.Texts("identity")[row],
					s.Texts("attribute")[row], s.Numbers("salience")[row], w.Identity, a)
			}
			row++
		}
	}
	if s.Len() != row || row != 4 || s.Texts("vocabulary")[0] != "found" {
		t.Errorf("%d rows, %d wanted", s.Len(), row)
	}
}

// TestClipAttributesMask: a pair that is rated offensive, unrated or not listed is masked by default, and the
// salience refuses masked findings.
func TestClipAttributesMask(t *testing.T) {
	images, attributes := clipTables()
	f, _, err := evaluate(t, "visage-clip-attributes", "attributes", images, attributes,
		map[string]string{"rows": "all"})
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for i, a := range f.Texts("attribute") {
		id := f.Texts("identity")[i]
		switch {
		case strings.HasPrefix(a, "masked "):
		case id == "Norra" && (a == "sea" || a == "टोपी"):
			shown++
		default:
			t.Errorf("%s is shown for %s", a, id)
		}
	}
	if shown != 4 {
		t.Errorf("%d pairs shown", shown)
	}
	if _, err := tabulartest.Run("visage-found-salience", f, nil); err == nil ||
		!strings.Contains(err.Error(), "masked") {
		t.Errorf("%v", err)
	}
	open, _, err := evaluate(t, "visage-clip-attributes", "attributes", images, attributes,
		map[string]string{"show_offensive": "true", "top_k": "1"})
	if err != nil {
		t.Fatal(err)
	}
	s := tabulartest.Evaluate(t, "visage-found-salience", open, nil)
	for i, a := range s.Texts("attribute") {
		if s.Texts("identity")[i] == "Veltan" && !strings.HasPrefix(a, "masked ") {
			t.Errorf("%s is shown for Veltan", a)
		}
	}
	two := func(c table.Column) *table.Frame { return attributes.With(c) }
	vectors := slices.Clone(attributes.Vectors("clip_text"))
	vectors[5] = []float32{1, 1, 1}
	for name, c := range map[string]struct {
		in, attributes *table.Frame
		want           string
	}{
		"twice":       {images.Pick([]int{0, 1, 0}), attributes, "row 3"},
		"no vector":   {images, two(table.VectorColumn("clip_text", make([][]float32, 6))), `"hat" has no vector`},
		"two vectors": {images, two(table.VectorColumn("clip_text", vectors)), "another vector"},
		"no texts":    {images, pairFrame(), "clip_text"},
		"blank": {images.With(table.TextColumn("identity",
			append([]string{""}, images.Texts("identity")[1:]...))), attributes, "row 1"},
	} {
		if _, _, err := evaluate(t, "visage-clip-attributes", "attributes", c.in, c.attributes, nil); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", name, err, c.want)
		}
	}
	if _, err := SalienceOfFound([]Found{{"V", "p", []string{"hat"}}, {"V", "p", nil}},
		Vocabulary{Attributes: []string{"hat"}}, SalienceOptions{}); err == nil {
		t.Error("a duplicate image passes")
	}
	if _, err := SalienceOfFound([]Found{{"V", "p", []string{"hat", "hat"}}}, Vocabulary{Attributes: []string{"hat"}},
		SalienceOptions{}); err == nil {
		t.Error("an attribute twice passes")
	}
	if _, err := SalienceOfFound([]Found{{"V", "p", []string{"cow"}}}, Vocabulary{Attributes: []string{"hat"}},
		SalienceOptions{}); err == nil || !strings.Contains(err.Error(), "cow") {
		t.Errorf("%v", err)
	}
}
