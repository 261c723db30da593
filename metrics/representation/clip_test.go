package representation

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// axesTexts are the five texts along the axes of a space of five dimensions, so that an image's similarities are its
// own numbers.
func axesTexts() map[string][]float32 {
	texts := map[string][]float32{}
	for k, label := range TextLabels {
		v := make([]float32, 5)
		v[k] = float32(k + 1) // lengths must not matter
		texts[label] = v
	}
	return texts
}

func TestClipLabelsByHand(t *testing.T) {
	for _, c := range []struct {
		image []float32 // similarities with group_a, group_b, uncertain, person, object, up to its length
		tie   string
		want  PerceivedGroup
		why   string
	}{
		{[]float32{3, 1, 1, 2, 1}, "", First, ""},
		{[]float32{1, 3, 1, 2, 1}, "", Second, ""},
		{[]float32{1, 1, 3, 2, 1}, "", Uncertain, UncertainText},
		{[]float32{3, 1, 1, 1, 2}, "", Uncertain, NoPerson},
		{[]float32{3, 1, 1, 2, 2}, "", First, ""}, // a tie stays
		{[]float32{3, 1, 1, 2, 2}, "stay", First, ""},
		{[]float32{3, 1, 1, 2, 2}, "drop", Uncertain, NoPerson},
		{[]float32{3, 3, 1, 2, 1}, "", Uncertain, Tied},
		{[]float32{3, 1, 3, 2, 1}, "", Uncertain, Tied},
		{[]float32{1, 3, 3, 2, 1}, "", Uncertain, Tied},
		{[]float32{2, 2, 2, 2, 1}, "", Uncertain, Tied},
		{[]float32{1, 1, 3, 2, 1}, "", Uncertain, UncertainText}, // groups tie below the third
		{[]float32{-3, -1, -2, 0, 0}, "", Second, ""},
		{nil, "", Uncertain, NoVector},
	} {
		got := must.Get(ComputeClipLabels([][]float32{c.image}, axesTexts(), ClipVariant{Tie: c.tie}))(t)
		must.Equal(t, got[0].Group, c.want, c.image, "tie", c.tie, got[0])
		must.Equal(t, got[0].Why, c.why, c.image, "tie", c.tie, got[0])
	}
}

// TestClipProbabilities: with scale 10 and cosines 0.6, 0.8, 0: exp(6), exp(8) and 1 over their sum; person and
// object are equal.
func TestClipProbabilities(t *testing.T) {
	got := must.Get(ComputeClipLabels([][]float32{{3, 4, 0, 0, 0}}, axesTexts(), ClipVariant{Scale: 10}))(t)
	a, b, sum := math.Exp(10*float64(0.6)), math.Exp(10*float64(0.8)), math.Exp(6)+math.Exp(8)+1
	near.Check(t, "probabilities", []float64{got[0].A, got[0].B, got[0].Uncertain, got[0].PersonRather},
		[]float64{a / sum, b / sum, 1 / sum, 0.5}, 1e-12, 0)
}

// TestClipProperties: a batch gives what its images give alone; the scale moves no label; exchanging the groups
// exchanges labels and probabilities.
func TestClipProperties(t *testing.T) {
	rng := near.Rand(t, 41)
	images := make([][]float32, 300)
	for i := range images {
		for range 5 {
			images[i] = append(images[i], float32(rng.NormFloat64()))
		}
	}
	texts, swapped := axesTexts(), axesTexts()
	swapped[TextA], swapped[TextB] = texts[TextB], texts[TextA]
	all := must.Get(ComputeClipLabels(images, texts, ClipVariant{Scale: 7}))(t)
	other := must.Get(ComputeClipLabels(images, swapped, ClipVariant{Scale: 7}))(t)
	counts := map[string]int{}
	for i, got := range all {
		alone := must.Get(ComputeClipLabels(images[i:i+1], texts, ClipVariant{Scale: 7}))(t)
		louder := must.Get(ComputeClipLabels(images[i:i+1], texts, ClipVariant{Scale: 100}))(t)
		if alone[0] != got || louder[0].Group != got.Group || louder[0].Why != got.Why {
			t.Errorf("image %d alone: %+v, of another scale: %+v, in the batch %+v", i, alone[0], louder[0], got)
		}
		back := map[PerceivedGroup]PerceivedGroup{First: Second, Second: First}[other[i].Group]
		must.Equal(t, back, got.Group, "image", i, other[i], "with the groups exchanged", got)
		must.Near(t, other[i].A, got.B, 1e-15, "image", i, other[i], "with the groups exchanged", got)
		counts[got.Why+fmt.Sprint(got.Group)]++
	}
	must.Equal(t, len(counts), 4, "the images do not cover all cases")
}

func TestClipErrors(t *testing.T) {
	good := [][]float32{{1, 0, 0, 1, 0}}
	for _, c := range map[string]struct {
		images [][]float32
		spoil  func(map[string][]float32)
		o      ClipVariant
		want   string
	}{
		"no text": {good, func(m map[string][]float32) { delete(m, TextObject) }, ClipVariant{}, `"object"`},
		"text width": {good, func(m map[string][]float32) { m[TextB] = []float32{1} }, ClipVariant{},
			"use one model"},
		"zero":         {[][]float32{{0, 0, 0, 0, 0}}, nil, ClipVariant{}, "image 1"},
		"NaN":          {[][]float32{good[0], {0, float32(math.NaN()), 0, 0, 0}}, nil, ClipVariant{}, "image 2"},
		"width":        {[][]float32{{1}}, nil, ClipVariant{}, "use one model"},
		"scale":        {good, nil, ClipVariant{Scale: -1}, "logit scale"},
		"infinite":     {good, nil, ClipVariant{Scale: math.Inf(1)}, "logit scale"},
		"scale is NaN": {good, nil, ClipVariant{Scale: math.NaN()}, "logit scale"},
		"tie":          {good, nil, ClipVariant{Tie: "flip"}, "stay or drop"},
	} {
		texts := axesTexts()
		if c.spoil != nil {
			c.spoil(texts)
		}
		must.Fail(ComputeClipLabels(c.images, texts, c.o))(t, c.want)
	}
	var bad *ImageError
	if _, err := ComputeClipLabels([][]float32{{1}}, axesTexts(), ClipVariant{}); !errors.As(err,
		&bad) || bad.Row != 0 {
		t.Errorf("%v is no ImageError", err)
	}
}

// textFrame is the table of texts with vectors along the axes.
func textFrame() *table.Frame {
	texts := axesTexts()
	var vectors [][]float32
	for _, l := range TextLabels {
		vectors = append(vectors, texts[l])
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("label", TextLabels),
		table.VectorColumn("clip_text", vectors)}}
}

// clipImages are n images for each of two professions under two prompts, with random vectors; every seventh was
// refused.
func clipImages(rng *rand.Rand, n int) *table.Frame {
	var text [6][]string
	var vectors [][]float32
	for _, prompt := range []string{data.Original, "P-G1"} {
		for _, attribute := range []string{"doctor", "बढ़ई"} {
			for i := range n {
				outcome, v := "made", []float32{rng.Float32(), rng.Float32(), rng.Float32() / 2, rng.Float32(),
					rng.Float32() / 2}
				if len(vectors)%7 == 6 {
					outcome, v = "refused", nil
				}
				for k, s := range []string{fmt.Sprint(prompt, attribute, i), data.SD, data.Profession, prompt,
					attribute, outcome} {
					text[k] = append(text[k], s)
				}
				vectors = append(vectors, v)
			}
		}
	}
	f := &table.Frame{}
	for k, name := range []string{"id", "model", "category", "prompt_id", "attribute", "outcome"} {
		f.Columns = append(f.Columns, table.TextColumn(name, text[k]))
	}
	f.Columns = append(f.Columns, table.VectorColumn("clip_image", vectors))
	return f
}

// TestClipTable: labels by CLIP are read by the diversity score as ratings are, over all attributes; images that
// were refused count as requested.
func TestClipTable(t *testing.T) {
	in := clipImages(near.Rand(t, 42), 40)
	labels := must.Get(evaluate(t, "entigen-clip-labels", [2]string{"in", "texts"}, in, textFrame(), nil))(t)
	counts := map[string]*Counts{}
	refused := 0
	for i, group := range labels.Texts("perceived_gender") {
		name := labels.Texts("prompt_id")[i] + " " + labels.Texts("attribute")[i]
		if counts[name] == nil {
			counts[name] = &Counts{}
		}
		p := []float64{labels.Numbers("p_group_a")[i], labels.Numbers("p_group_b")[i], labels.Numbers("p_uncertain")[i]}
		switch why := labels.Texts("reason")[i]; {
		case why == NoVector:
			refused++
			must.Near(t, p[0], math.NaN(), 0, "row", i, why, p)
			must.Equal(t, in.Texts("outcome")[i], "refused", "row", i, why, p)
		case math.Abs(p[0]+p[1]+p[2]-1) > 1e-12 || (why == "") != (group != data.NoGroup) ||
			(why == NoPerson) != (labels.Numbers("person")[i] == 0):
			t.Errorf("row %d: %q, %q, %v", i, group, why, p)
		}
		switch group {
		case "man":
			counts[name].First++
		case "woman":
			counts[name].Second++
		default:
			counts[name].Uncertain++
		}
	}
	if refused == 0 {
		t.Error("no image was refused")
	}
	f := tabulartest.Evaluate(t, "entigen-diversity", labels, nil)
	if f.Len() != 2 {
		t.Fatalf("%d rows", f.Len())
	}
	for i, prompt := range f.Texts("prompt_id") {
		d := ComputeDiversity([]Counts{*counts[prompt+" doctor"], *counts[prompt+" बढ़ई"]})
		must.Equal(t, f.Numbers("diversity")[i], d.Value, prompt, d)
		must.Equal(t, f.Numbers("n_used")[i], float64(d.Usable), prompt, d)
		must.Equal(t, f.Numbers("n_asked")[i], 80, prompt, d)
	}
	skin, err := evaluate(t, "entigen-clip-labels", [2]string{"in", "texts"}, in, textFrame(),
		map[string]string{"axis": data.PerceivedSkin})
	if err != nil || !slices.Contains(skin.Texts("perceived_skin_colour"), "light-skinned") {
		t.Errorf("%v", err)
	}
	for _, c := range map[string]struct {
		in, texts *table.Frame
		want      string
	}{
		"twice": {in.Pick([]int{0, 1, 0}), textFrame(), "row 3"},
		"label": {in, textFrame().With(table.TextColumn("label", []string{TextA, TextB, "neither", TextPerson,
			TextObject})), "neither"},
		"texts": {in, textFrame().Pick([]int{0, 1, 2, 3}), `"object"`},
		"zero": {in.Pick([]int{0}).With(table.VectorColumn("clip_image", [][]float32{make([]float32, 5)})),
			textFrame(), "row 1"},
		"vectors": {&table.Frame{Columns: in.Columns[:6]}, textFrame(), "clip_image"},
		"names":   {&table.Frame{Columns: in.Columns[1:]}, textFrame(), "image_id or id"},
	} {
		must.Fail(evaluate(t, "entigen-clip-labels", [2]string{"in", "texts"}, c.in, c.texts, nil))(t, c.want)
	}
}

// TestClipTexts: the texts of Table 4, editable as any table is.
func TestClipTexts(t *testing.T) {
	f := must.Get(ClipTexts(data.PerceivedGender, data.PaperGrammar).Rows(t.Context()))(t)
	must.Equal(t, f.Texts("text")[2], "A photo of a person with an uncertain gender")
	must.EqualSlices(t, f.Texts("label"), TextLabels)
	must.EqualSlices(t, f.Texts("id"), TextLabels, "ids") // text embedding needs ids
	must.Fail(ClipTexts(data.PerceivedSkin, data.PaperGrammar).Err())(t, "released")
}
