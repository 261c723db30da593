package concepts

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// compute evaluates a metric with inputs by role.
func compute(metric string, inputs map[string]*table.Frame) (*table.Frame, []string, error) {
	var notes []string
	f, err := tabulartest.RunOn(metric, inputs, nil, &notes)
	return f, notes, err
}

// TestTemplates by hand: template 1 has scores 0.2 and 0.4, template 2 0.6 and 0.8; a third concept has a score for one
// template only and is left out.
func TestTemplates(t *testing.T) {
	in := tab("SD/1 en dog 0.2 20 no", "SD/1 en sea 0.4 30 no", "SD/1 en sun 0.9 10 yes", "SD/2 en dog 0.6 20 yes",
		"SD/2 en sea 0.8 30 yes", "SD/10 en dog 0.5 20 yes", "SD/10 en sea 0.5 30 yes", "SD/1 es dog 0.7 25 yes")
	for i, m := range in.Texts("model") {
		in.Texts("model")[i] = strings.Replace(m, "/", separator, 1)
	}
	f := tabulartest.Evaluate(t, "cococrola-templates", in, nil)
	if f.Len() != 4*3+4 {
		t.Fatalf("%d rows", f.Len())
	}
	want := map[string]float64{"mean 1": 0.3, "mean 2": 0.7, "mean 10": 0.5, "difference 1": -0.2, "sd": 0.2,
		"range": 0.4, "middle": 0.5, "low": 0.3, "high": 0.7}
	for i, w := range []string{"1", "2", "10"} {
		if f.Texts("template")[i] != w || f.Texts("score")[i] != "cross_consistency" || f.Numbers("n_used")[i] != 2 ||
			f.Numbers("n_left_out")[i] != 1 || f.Numbers("n_templates")[i] != 3 {
			t.Errorf("row %d: %v", i, datasets.Format(f, 3))
		}
		got := map[string]float64{"mean " + w: f.Numbers("mean")[i], "sd": f.Numbers("templates_sd")[i],
			"range": f.Numbers("templates_range")[i], "middle": f.Numbers("templates_mean")[i],
			"low": f.Numbers("templates_low")[i], "high": f.Numbers("templates_high")[i]}
		if i == 0 {
			got["difference 1"] = f.Numbers("difference")[0]
		}
		for name, v := range got {
			must.Near(t, v, want[name], 1e-12, "template", w, name)
		}
	}
	if f.Texts("language")[12] != "es" || !math.IsNaN(f.Numbers("templates_sd")[12]) ||
		f.Numbers("templates_range")[12] != 0 || !math.IsNaN(f.Numbers("mean")[14]) {
		t.Errorf("one template: %v", datasets.Format(f, 0))
	}
	must.Fail(tabulartest.Run("cococrola-templates", tab("SD en dog 0.2 20 no"), nil))(t, "has no template")
}

// TestScoresByTemplate: the scores of a template depend on its images only; the source language is that of the model
// without the template.
func TestScoresByTemplate(t *testing.T) {
	images, words := small(4)
	var templates []string
	for i := range images.Len() {
		templates = append(templates, []string{"1", "2"}[i%2])
	}
	withTemplates := images.With(table.TextColumn("prompt_id", templates))
	for i := range withTemplates.Texts("model") {
		withTemplates.Texts("model")[i] = "CogView 2"
	}
	options := map[string]string{"template": "prompt_id", "source": "en,CogView 2=he", "resamples": "0"}
	f := scored(t, withTemplates, words, options)
	if f.Len() != 8 || f.Texts("model")[0] != "CogView 2 / 1" || f.Texts("source")[0] != "he" ||
		f.Numbers("n_used")[0] != 2 {
		t.Fatalf("%v", datasets.Format(f, 0))
	}
	var first []int
	for i, w := range templates {
		if w == "1" {
			first = append(first, i)
		}
	}
	alone := scored(t, withTemplates.Pick(first), words, map[string]string{"source": "he", "resamples": "0"})
	for _, column := range []string{"self_consistency", "cross_consistency", "text_match"} {
		near.Check(t, column, f.Numbers(column)[:4], alone.Numbers(column), 0, 1e-12)
	}
	if f.Texts("vector")[0] != "full" || f.Texts("joint")[0] != "clip_image" || f.Texts("profile")[0] != Paper {
		t.Errorf("the result does not name the vectors it compares: %v", f.Specs())
	}
	must.Equal(t, scored(t, withTemplates, nil, options).Texts("joint")[0], "", "no words, yet joint")
	must.Fail(scoresOf(images, words, map[string]string{"template": "prompt_id"}, 1))(t, `no such column: "prompt_id"`)
	if w := tabulartest.Evaluate(t, "cococrola-templates", f, nil); w.Len() != 2*4*2 ||
		w.Numbers("n_templates")[0] != 2 {
		t.Errorf("%d rows", w.Len())
	}
}

// TestCreative: possession of the concepts in the paper's creative prompts.
func TestCreative(t *testing.T) {
	in := tab("SD en bird 0.7 28 yes", "SD en keyboard 0.8 29 yes", "SD en snow 0.6 27 yes", "SD en dog 0.4 20 no",
		"SD en fire 0.6 26 yes", "SD en moon 0.6 26 yes", "SD ja snow 0.7 28 yes", "SD ja bird 0.6 26 yes")
	f, _, err := compute("cococrola-creative", map[string]*table.Frame{"in": in})
	if err != nil || f.Len() != 6*3 {
		t.Fatal(f, err)
	}
	all := map[string]string{}
	for i, id := range f.Texts("prompt_id") {
		all[id+f.Texts("language")[i]] = fmt.Sprint(f.Texts("all_possessed")[i], f.Numbers("n_possessed")[i], "/",
			f.Numbers("n_concepts")[i])
		if strings.Contains(f.Texts("prompt")[i], "snow") && f.Texts("concept")[i] == "snow" &&
			f.Numbers("cross_consistency")[i] != 0.6 {
			t.Errorf("row %d: %v", i, f.Numbers("cross_consistency")[i])
		}
	}
	for prompt, want := range map[string]string{"aen": "yes3/3", "ben": "no2/3", "aja": "2/3", "aes": "0/3"} {
		must.Equal(t, all[prompt], want, prompt)
	}
	own := &table.Frame{Columns: []table.Column{table.TextColumn("prompt_id", []string{"c"}),
		table.TextColumn("language", []string{"en"}), table.TextColumn("prompt", []string{"a dog on the moon"}),
		table.TextColumn("concepts", []string{"dog, moon"})}}
	f, _, err = compute("cococrola-creative", map[string]*table.Frame{"in": in, "prompts": own})
	if err != nil || f.Len() != 2 || f.Texts("all_possessed")[1] != "no" {
		t.Errorf("own prompts: %v, %v", f, err)
	}
	own.Texts("concepts")[0] = " "
	must.Fail(compute("cococrola-creative", map[string]*table.Frame{"in": in, "prompts": own}))(t,
		"column concepts: it is blank")
}

func labeled(lines ...string) *table.Frame {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("model", nil), table.TextColumn("language", nil),
		table.TextColumn("concept", nil), table.TextColumn("kind", nil)}}
	for _, line := range lines {
		for i, v := range strings.Split(line, "|") {
			f.Columns[i].Texts = append(f.Columns[i].Texts, v)
		}
	}
	return f
}

// TestFailureCounts: failures are counted by kind; a label given by hand replaces that of the rule.
func TestFailureCounts(t *testing.T) {
	in := labeled("DALL-E 2|he|eye|generic collision", "DALL-E 2|he|sea|non-specific", "DALL-E 2|he|ship|",
		"DALL-E 2|en|prince|non-specific", "SD 2|he|eye|specific collision")
	hand := labeled("DALL-E 2|he|sea|generic collision", "DALL-E 2|he|eye|generic collision",
		"DALL-E 2|he|moon|non-specific", "SD 2|he|eye|")
	f, notes, err := compute("cococrola-failure-counts", map[string]*table.Frame{"in": in, "labels": hand})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 labels are of concepts") {
		t.Fatal(notes, err)
	}
	got := map[string]string{}
	for i, m := range f.Texts("model") {
		got[m+" "+f.Texts("language")[i]+" "+f.Texts("kind")[i]] = fmt.Sprintf("%v %.3f %v %v %v", f.Numbers("n")[i],
			f.Numbers("share")[i], f.Numbers("n_by_hand")[i], f.Numbers("n_by_rule")[i], f.Numbers("n_changed")[i])
	}
	for key, want := range map[string]string{"DALL-E 2 he generic collision": "2 0.667 2 0 1",
		"DALL-E 2 he non-specific": "0 0.000 0 0 0", "DALL-E 2 he ": "1 0.333 0 1 0",
		"DALL-E 2 en non-specific": "1 1.000 0 1 0", "SD 2 he specific collision": "1 1.000 0 1 0"} {
		must.Equal(t, got[key], want, key)
	}
	must.Equal(t, len(got), 4+3+3)
	for want, inputs := range map[string]map[string]*table.Frame{
		`kind is "odd"`:            {"in": in, "labels": labeled("SD 2|he|eye|odd")},
		`concept "c" occurs twice`: {"in": labeled("a|b|c|", "a|b|c|non-specific")},
	} {
		must.Fail(compute("cococrola-failure-counts", inputs))(t, want)
	}
}

// TestShown: an image shows the concepts whose words are nearest; possession is that of the scores.
func TestShown(t *testing.T) {
	words := &table.Frame{Columns: []table.Column{table.TextColumn("concept", []string{"dog", "sea", "sun"}),
		table.VectorColumn("clip_text", [][]float32{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})}}
	same := func(v string) []string { return []string{v, v, v} }
	images := &table.Frame{Columns: []table.Column{table.TextColumn("model", same("A")),
		table.TextColumn("language", same("es")), table.TextColumn("prompt_id", same("p")),
		table.TextColumn("concepts", same("dog, sea")),
		table.VectorColumn("clip_image", [][]float32{{2, 1, 0}, {1, 0, 0.5}, nil})}}
	got, _, err := compute("cococrola-shown", map[string]*table.Frame{"in": images, "words": words,
		"scores": tab("A es dog 0.9 30 yes", "A es sea 0.1 10 no")})
	if err != nil || !slices.Equal(got.Numbers("shown"), []float64{1, 0.5}) ||
		!slices.Equal(got.Numbers("all_shown"), []float64{0.5, 0.5}) || got.Numbers("n_images")[0] != 2 ||
		!slices.Equal(got.Texts("possessed"), []string{"yes", "no"}) ||
		!slices.Equal(got.Texts("all_possessed"), []string{"no", "no"}) {
		t.Errorf("%v, %+v", err, got)
	}
	images.Columns[3].Texts[0] = "dog, cat"
	images.Columns[3].Texts[1], images.Columns[3].Texts[2] = "dog, cat", "dog, cat"
	none, notes, err := compute("cococrola-shown", map[string]*table.Frame{"in": images, "words": words})
	if err != nil || none.Len() != 0 || !strings.Contains(strings.Join(notes, ""), `"cat" is not among the words`) {
		t.Errorf("%v, %d rows, notes %q", err, none.Len(), notes)
	}
	answers := &table.Frame{Columns: []table.Column{table.TextColumn("model", same("A")),
		table.TextColumn("language", same("es")), table.TextColumn("prompt_id", same("p")),
		table.TextColumn("image_id", []string{"1", "1", "2"}),
		table.TextColumn("concept", []string{"dog", "sea", "dog"}),
		table.TextColumn("answer", same("yes"))}}
	judged, notes, err := compute("cococrola-shown-by-judge", map[string]*table.Frame{"in": answers})
	if err != nil || !slices.Equal(judged.Numbers("n_images"), []float64{1, 1}) || len(notes) != 1 {
		t.Errorf("%v, a question is missing: %v, notes %q", err, judged, notes)
	}
	words.RowNumbers = []int{2, 3, 5}
	words.Vectors("clip_text")[2] = []float32{1}
	must.Fail(compute("cococrola-shown", map[string]*table.Frame{"in": images, "words": words}))(t,
		"row 5 (id \"\"), column clip_text: it has 1 numbers, others have 3")
	words.Vectors("clip_text")[2], words.Texts("concept")[2] = []float32{0, 0, 1}, "dog"
	must.Fail(compute("cococrola-shown", map[string]*table.Frame{"in": images, "words": words}))(t,
		`"dog" has another word`)
}

// TestFailuresByTemplate: the kinds of scores by template are those of the model's images.
func TestFailuresByTemplate(t *testing.T) {
	in := tab("M en dog 0.2 20 no", "M he sea 0.2 20 no")
	in.Columns[0].Texts = []string{"SD 2", "SD 2 / 1"}
	images, _ := small(3)
	f, _ := must.Get2(compute("cococrola-failures", map[string]*table.Frame{"in": in, "images": images}))(t)
	if slices.Contains(f.Texts("kind"), "") {
		t.Errorf("%v", f)
	}
	images.Vectors("full")[3] = []float32{1} // of another cell than the first
	must.Fail(compute("cococrola-failures", map[string]*table.Frame{"in": in, "images": images}))(t,
		`row 4 (id "enseaa"), column full: it has 1 numbers, others have 3`)
}
