package cococrola

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"antipode/datasets"
	data "antipode/datasets/cococrola"
	"antipode/internal/near"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

// compute evaluates a metric with inputs by role.
func compute(metric string, inputs map[string]*client.Frame) (*client.Frame, []string, error) {
	m, err := metrics.Find(metric)
	if err != nil {
		return nil, nil, err
	}
	args := metrics.Args{Metric: metric}
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
	if err == nil && !slices.Equal(f.Specs(), m.Columns(args)) {
		return nil, nil, fmt.Errorf("columns %v", f.Specs())
	}
	return f, notes, err
}

// By hand: wording 1 scores 0.2 and 0.4, wording 2 0.6 and 0.8; a third concept has a score of one wording alone and counts for neither.
func TestWordings(t *testing.T) {
	in := table("SD/1 en dog 0.2 20 no", "SD/1 en sea 0.4 30 no", "SD/1 en sun 0.9 10 yes", "SD/2 en dog 0.6 20 yes", "SD/2 en sea 0.8 30 yes", "SD/10 en dog 0.5 20 yes", "SD/10 en sea 0.5 30 yes", "SD/1 es dog 0.7 25 yes")
	for i, m := range in.Texts("model") {
		in.Texts("model")[i] = strings.Replace(m, "/", mark, 1)
	}
	f := tabulartest.Evaluate(t, "cococrola-wordings", in, nil)
	if f.Len() != 4*3+4 {
		t.Fatalf("%d rows", f.Len())
	}
	want := map[string]float64{"mean 1": 0.3, "mean 2": 0.7, "mean 10": 0.5, "difference 1": -0.2, "sd": 0.2, "range": 0.4, "middle": 0.5, "low": 0.3, "high": 0.7}
	for i, w := range []string{"1", "2", "10"} {
		if f.Texts("wording")[i] != w || f.Texts("score")[i] != "cross_consistency" || f.Numbers("n_used")[i] != 2 || f.Numbers("n_left_out")[i] != 1 || f.Numbers("n_wordings")[i] != 3 {
			t.Errorf("row %d: %v", i, datasets.Format(f, 3))
		}
		got := map[string]float64{"mean " + w: f.Numbers("mean")[i], "sd": f.Numbers("wordings_sd")[i], "range": f.Numbers("wordings_range")[i], "middle": f.Numbers("wordings_mean")[i], "low": f.Numbers("wordings_low")[i], "high": f.Numbers("wordings_high")[i]}
		if i == 0 {
			got["difference 1"] = f.Numbers("difference")[0]
		}
		for name, v := range got {
			if math.Abs(v-want[name]) > 1e-12 {
				t.Errorf("wording %s, %s: %v, want %v", w, name, v, want[name])
			}
		}
	}
	if f.Texts("language")[12] != "es" || !math.IsNaN(f.Numbers("wordings_sd")[12]) || f.Numbers("wordings_range")[12] != 0 || !math.IsNaN(f.Numbers("mean")[14]) {
		t.Errorf("one wording: %v", datasets.Format(f, 0))
	}
	if _, err := tabulartest.Run("cococrola-wordings", table("SD en dog 0.2 20 no"), nil); err == nil || !strings.Contains(err.Error(), "names no wording") {
		t.Error(err)
	}
}

// The scores of a wording are those of its pictures alone; the source language goes by the model without its wording.
func TestScoresByWording(t *testing.T) {
	pictures, words := small(4)
	var wordings []string
	for i := range pictures.Len() {
		wordings = append(wordings, []string{"1", "2"}[i%2])
	}
	worded := pictures.With(client.TextColumn("prompt_id", wordings))
	for i := range worded.Texts("model") {
		worded.Texts("model")[i] = "CogView 2"
	}
	options := map[string]string{"wording": "prompt_id", "source": "en,CogView 2=he", "draws": "0"}
	f := must(t, worded, words, options)
	if f.Len() != 8 || f.Texts("model")[0] != "CogView 2 / 1" || f.Texts("source")[0] != "he" || f.Numbers("n_used")[0] != 2 {
		t.Fatalf("%v", datasets.Format(f, 0))
	}
	var first []int
	for i, w := range wordings {
		if w == "1" {
			first = append(first, i)
		}
	}
	alone := must(t, worded.Pick(first), words, map[string]string{"source": "he", "draws": "0"})
	for _, column := range []string{"self_consistency", "cross_consistency", "text_match"} {
		if err := near.Compare(f.Numbers(column)[:4], alone.Numbers(column), 0, 1e-12); err != nil {
			t.Errorf("%s: %v", column, err)
		}
	}
	if f.Texts("vector")[0] != "full" || f.Texts("joint")[0] != "clip_image" || f.Texts("profile")[0] != Paper {
		t.Errorf("the result does not say which vectors it compares: %v", f.Specs())
	}
	if bare := must(t, worded, nil, options); bare.Texts("joint")[0] != "" {
		t.Errorf("no words, yet joint is %q", bare.Texts("joint")[0])
	}
	if _, err := scoresOf(pictures, words, map[string]string{"wording": "prompt_id"}, 1); err == nil || !strings.Contains(err.Error(), `no such column: "prompt_id"`) {
		t.Error(err)
	}
	if w := tabulartest.Evaluate(t, "cococrola-wordings", f, nil); w.Len() != 2*4*2 || w.Numbers("n_wordings")[0] != 2 {
		t.Errorf("%d rows", w.Len())
	}
}

// The paper's creative prompts with the possession of the concepts inside them.
func TestCreative(t *testing.T) {
	in := table("SD en bird 0.7 28 yes", "SD en keyboard 0.8 29 yes", "SD en snow 0.6 27 yes", "SD en dog 0.4 20 no", "SD en fire 0.6 26 yes", "SD en moon 0.6 26 yes", "SD ja snow 0.7 28 yes", "SD ja bird 0.6 26 yes")
	f, _, err := compute("cococrola-creative", map[string]*client.Frame{"in": in})
	if err != nil || f.Len() != 6*3 {
		t.Fatal(f, err)
	}
	all := map[string]string{}
	for i, id := range f.Texts("prompt_id") {
		all[id+f.Texts("language")[i]] = fmt.Sprint(f.Texts("all_possessed")[i], f.Numbers("n_possessed")[i], "/", f.Numbers("n_concepts")[i])
		if strings.Contains(f.Texts("prompt")[i], "snow") && f.Texts("concept")[i] == "snow" && f.Numbers("cross_consistency")[i] != 0.6 {
			t.Errorf("row %d: %v", i, f.Numbers("cross_consistency")[i])
		}
	}
	for prompt, want := range map[string]string{"aen": "yes3/3", "ben": "no2/3", "aja": "2/3", "aes": "0/3"} {
		if all[prompt] != want {
			t.Errorf("%s: %q, want %q", prompt, all[prompt], want)
		}
	}
	own := &client.Frame{Columns: []client.Column{client.TextColumn("prompt_id", []string{"c"}), client.TextColumn("language", []string{"en"}), client.TextColumn("prompt", []string{"a dog on the moon"}), client.TextColumn("concepts", []string{"dog, moon"})}}
	f, _, err = compute("cococrola-creative", map[string]*client.Frame{"in": in, "prompts": own})
	if err != nil || f.Len() != 2 || f.Texts("all_possessed")[1] != "no" {
		t.Errorf("own prompts: %v, %v", f, err)
	}
	own.Texts("concepts")[0] = " "
	if _, _, err := compute("cococrola-creative", map[string]*client.Frame{"in": in, "prompts": own}); err == nil || !strings.Contains(err.Error(), "it names no concept") {
		t.Error(err)
	}
}

func labels(lines ...string) *client.Frame {
	f := &client.Frame{Columns: []client.Column{client.TextColumn("model", nil), client.TextColumn("language", nil), client.TextColumn("concept", nil), client.TextColumn("kind", nil)}}
	for _, line := range lines {
		for i, v := range strings.Split(line, "|") {
			f.Columns[i].Texts = append(f.Columns[i].Texts, v)
		}
	}
	return f
}

// Failures are counted by kind; a hand label stands in place of the rule's, and the file of labels comes back as it was written.
func TestFailureCounts(t *testing.T) {
	in := labels("DALL-E 2|he|eye|generic collision", "DALL-E 2|he|sea|non-specific", "DALL-E 2|he|ship|", "DALL-E 2|en|prince|non-specific", "SD 2|he|eye|specific collision")
	hand := labels("DALL-E 2|he|sea|generic collision", "DALL-E 2|he|eye|generic collision", "DALL-E 2|he|moon|non-specific", "SD 2|he|eye|")
	var text strings.Builder
	w := csv.NewWriter(&text)
	for i := range hand.Len() {
		if err := w.Write([]string{hand.Columns[0].Texts[i], hand.Columns[1].Texts[i], hand.Columns[2].Texts[i], hand.Columns[3].Texts[i]}); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	again, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range again {
		lines = append(lines, strings.Join(r, "|"))
	}
	f, notes, err := compute("cococrola-failure-counts", map[string]*client.Frame{"in": in, "labels": labels(lines...)})
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "1 labels are of concepts") {
		t.Fatal(notes, err)
	}
	got := map[string]string{}
	for i, m := range f.Texts("model") {
		got[m+" "+f.Texts("language")[i]+" "+f.Texts("kind")[i]] = fmt.Sprintf("%v %.3f %v %v %v", f.Numbers("n")[i], f.Numbers("share")[i], f.Numbers("n_by_hand")[i], f.Numbers("n_by_rule")[i], f.Numbers("n_changed")[i])
	}
	for key, want := range map[string]string{"DALL-E 2 he generic collision": "2 0.667 2 0 1", "DALL-E 2 he non-specific": "0 0.000 0 0 0", "DALL-E 2 he ": "1 0.333 0 1 0", "DALL-E 2 en non-specific": "1 1.000 0 1 0", "SD 2 he specific collision": "1 1.000 0 1 0"} {
		if got[key] != want {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if len(got) != 4+3+3 {
		t.Errorf("%v", got)
	}
	for want, inputs := range map[string]map[string]*client.Frame{
		`"odd" is none of`:   {"in": in, "labels": labels("SD 2|he|eye|odd")},
		"has a kind already": {"in": labels("a|b|c|", "a|b|c|non-specific")},
	} {
		if _, _, err := compute("cococrola-failure-counts", inputs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// r, slope and intercept are those of gonum, on random scores with blanks.
func TestLines(t *testing.T) {
	rng := near.Rand(t, 91)
	var rows []Scored
	var x, y []float64
	for i := range 50 {
		a, b := rng.Float64(), rng.Float64()
		b += 0.5 * a
		if i%9 == 3 {
			b = math.NaN()
		} else {
			x, y = append(x, a), append(y, b)
		}
		concept := fmt.Sprint("c", i)
		rows = append(rows, Scored{Model: "m", Cell: Cell{"en", concept}, Xc: a}, Scored{Model: "m", Cell: Cell{"es", concept}, Xc: b})
	}
	intercept, slope := stat.LinearRegression(x, y, nil, false)
	got := Correlations(rows, scoreOf("cross_consistency"), true, 20, 1)
	if len(got) != 1 || math.Abs(got[0].R.Value-stat.Correlation(x, y, nil)) > 1e-9 || math.Abs(got[0].Slope-slope) > 1e-9 || math.Abs(got[0].Intercept-intercept) > 1e-9 || got[0].Used != len(x) {
		t.Errorf("%+v, want slope %v, intercept %v", got, slope, intercept)
	}
	if _, slope, intercept := fit([]float64{1, 1, 1}, []float64{1, 2, 3}, nil); !math.IsNaN(slope) || !math.IsNaN(intercept) {
		t.Errorf("no variance: slope %v, intercept %v", slope, intercept)
	}
}

func TestConstructorsOfExperiments(t *testing.T) {
	scores := datasets.New("test", nil, slices.Concat(scoreColumns, datasets.Columns("kind:text")))
	prompts := data.Creative()
	for name, table := range map[string]datasets.Table{"wordings": Wordings(scores), "creative": CreativePossession(scores, &prompts), "paper's": CreativePossession(scores, nil), "counts": FailureCounts(scores, &scores), "rule": FailureCounts(scores, nil)} {
		if table.Err() != nil || len(table.Columns()) == 0 {
			t.Errorf("%s: %v", name, table.Err())
		}
	}
	pictures, words := small(2)
	if table := ConceptScores(Tables{datasets.FromFrame(pictures), datasets.FromFrame(words)}, ByWording("prompt_id")); table.Err() != nil {
		t.Error(table.Err())
	}
}
