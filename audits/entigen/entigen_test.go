package entigen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/audits/entigen"
	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/manifest/manifesttest"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/significance"
	"antipode/test/testengine"
)

// verdicts counts the verdicts of the items whose name contains a text.
func verdicts(ledger *datasets.Frame, part string) map[string]int {
	out := map[string]int{}
	for i, item := range ledger.Texts("item") {
		if strings.Contains(item, part) {
			out[ledger.Texts("verdict")[i]]++
		}
	}
	return out
}

// The released ratings reproduce 72 of the 81 printed values of diversity by people, and all 24 of Table 3, through the
// audit and in its ledger.
func TestReleased(t *testing.T) {
	dir := manifesttest.Dir(t, data.Name)
	t.Setenv("ANTIPODE_DATA", filepath.Dir(dir))
	testengine.Use(t)
	a := entigen.Audit{Ratings: entigen.Released, Resamples: 100}
	cells := testengine.Rows(t, "cells", a.Cells(""))
	equal := map[bool]float64{}
	for i, axis := range cells.Texts("axis") {
		equal[axis == ""] += cells.Numbers("equal")[i]
	}
	if cells.Len() != 105 || equal[false] != 72 || equal[true] != 24 {
		t.Errorf("%d cells, %v reproduced (true: Table 3)", cells.Len(), equal)
	}
	if f := testengine.Rows(t, "claims", a.Claims()); f.Len() != 11 || len(f.Columns) != 2 {
		t.Errorf("%d claims", f.Len())
	}
	ledger := testengine.Rows(t, "ledger", a.Ledger())
	if got := verdicts(ledger, "by human"); got[metrics.SameDigits] != 72 || got[metrics.NotComputable] != 0 {
		t.Errorf("values by people: %v", got)
	}
	must.Equal(t, verdicts(ledger, "Table 3")[metrics.SameDigits], 24, "Table 3")
	must.Equal(t, verdicts(ledger, "by clip")[metrics.NotComputable], 33, "values by CLIP")
	// Nine images of a prompt leave what depends on a score undecided; without intervals the values decide.
	values := a
	values.Resamples = -1
	exact := testengine.Rows(t, "values", values.Claims())
	claims := testengine.Rows(t, "claims", a.Claims())
	for item, want := range map[string][2]string{
		"Stable Diffusion, police officer: perceived women prevail after the sentence on gender": {"yes", "undecided"},
		"DALL-E-mini, makeup: perceived men prevail after the sentence on gender":                {"no", "undecided"},
		"weddings, by people: both sentences on culture lower the score":                         {"yes", "undecided"},
		"professions, by people: 'irrespective of' lowers the score of its axis":                 {"no", "undecided"},
		"minDALL-E, bride: every original image is perceived as Western":                         {"no", "no"},
	} {
		a, b := slices.Index(exact.Texts("item"), item), slices.Index(claims.Texts("item"), item)
		if a < 0 || b < 0 || exact.Texts("holds")[a] != want[0] || claims.Texts("holds")[b] != want[1] ||
			!slices.Contains(ledger.Texts("item"), item) {
			t.Errorf("%s: want %s, and with intervals %s", item, want[0], want[1])
		}
	}
	f := testengine.Rows(t, "findings", a.Findings())
	if f.Len() != 198 || !slices.Contains(f.Texts("verdict"), significance.Undecided) {
		t.Errorf("%d findings", f.Len())
	}
	if a.HasImages() || a.Images().Err() == nil {
		t.Error("images of the released ratings")
	}
	must.Equal(t, testengine.Rows(t, "agreement", a.Agreement()).Len()+testengine.Rows(t, "truth", a.Truth()).Len(), 0,
		"an agreement without a judge, or injected disparities")
}

// The CLIP alone finds a disparity of the procedural sampler. TestModels in audits finds all with perfect raters.
func TestSampler(t *testing.T) {
	testengine.Use(t)
	a := entigen.Audit{Generator: entigen.Sampler, Seed: 3, N: 14, Resamples: -1, Captioner: entigen.None}
	a.Attributes = testengine.Rows(t, "truth", a.Truth()).Texts("attribute")[:1]
	_ = must.Get(entigen.Audit{Generator: entigen.Sampler}.Findings().Plan())(t)
	f := testengine.Rows(t, "findings of the CLIP", a.Findings().Where("test", "==", "imbalance"))
	if !slices.Contains(f.Texts("verdict"), "found") || f.Len() != 2 {
		t.Errorf("by the CLIP %v: %v", f.Texts("axis"), f.Texts("verdict"))
	}
}

func TestFields(t *testing.T) {
	for want, a := range map[string]entigen.Audit{
		`profile "p"`:           {Profile: "p"},
		"knows world 7 only":    {Seed: 3},
		"built-in world only":   {List: entigen.List, Generator: entigen.Sampler},
		"have prompts of their": {List: entigen.List, Ratings: entigen.Released},
		"have one name":         {Generator: "x/a,y/a"},
		"nobody rated":          {List: entigen.List},
	} {
		must.Fail(a.Raters().Err())(t, want)
	}
}

// network is the folder of a network with random weights.
func network(name string) string { return "../../gomlxmodels/" + name }

// photographs is the audit of a model with the paper's prompts, with random weights in the architectures of Stable
// Diffusion and CLIP.
func photographs() entigen.Audit {
	return entigen.Audit{List: entigen.List, Attributes: []string{"doctor", "bride"}, N: 2, Resamples: 20,
		Generator: network("diffusion/testdata/sd1"), Generation: models.GenerateOptions{Steps: 1, Safety: "off"},
		Judge: "../../kernel/backend/all/testdata/encoders/clip", ModelLabels: []string{"sd1=Stable Diffusion"}}
}

// The audit of a real architecture, from parameters alone: the judge labels professions, and nobody weddings.
func TestModels(t *testing.T) {
	testengine.Use(t)
	a := photographs()
	work := testengine.Rows(t, "workload", a.Workload(datasets.WorkloadOptions{}))
	must.Equal(t, fmt.Sprint(work.Texts("stage"), work.Numbers("items")),
		"[generate sd1 embed clip total] [24 19 43]", "workload")
	images := testengine.Rows(t, "images", a.Images())
	if images.Len() != 24 || images.Texts("id")[0] != "sd1/profession/original/doctor/0#1" {
		t.Errorf("%d images, the first %q", images.Len(), images.Texts("id")[0])
	}
	if seeds := images.Numbers("seed"); seeds[0] == seeds[2] || seeds[1] != seeds[0]+1 {
		t.Errorf("seeds %v", seeds[:4])
	}
	a.Profile = entigen.PublicCode
	if f := testengine.Rows(t, "public code", a.Images()); f.Numbers("seed")[2] != 0 ||
		f.Texts("prompt")[6] != "a photo of a doctor if all genders can be doctor" {
		t.Errorf("public code: seeds %v, prompt %q", f.Numbers("seed")[:4], f.Texts("prompt")[6])
	}
	a.Profile = ""
	labels := testengine.Rows(t, "labels", a.Labels())
	if labels.Len() != 14 || labels.Texts("perceived_gender") == nil || len(a.JudgeAxes()) != 1 {
		t.Errorf("%d labels %v", labels.Len(), labels.Columns)
	}
	for name, tab := range map[string]datasets.Table{"gaps": a.Gaps(), "bias": a.Bias(), "judges": a.Judges(),
		"quality": a.Quality(), "effects": a.Effects(), "controls": a.Controls(), "table": a.PaperTable("1"),
		"power": a.Power(), "choices": a.Choices(), "raters": a.RaterAgreement(), "rules": a.Rules(),
		"examples": a.Examples(a.Striking()), "ablations": a.Ablations()} {
		if f := testengine.Rows(t, name, tab); f.Len() == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
	must.Equal(t, verdicts(testengine.Rows(t, "ledger", a.Ledger()), "by human")[metrics.NotComputable], 81,
		"values by people without people")
}

// TestOwnAxis: ratings of an axis of one's own and images made before need no judge; one that labels another axis is
// compared on none.
func TestOwnAxis(t *testing.T) {
	testengine.Use(t)
	dir := t.TempDir()
	images, ratings := "id,image,model,category,attribute,prompt_id,outcome\n", "image_id,model,category,attribute,"+
		"prompt_id,kind,person,as_described,perceived_age\n"
	for i := range 12 {
		row := fmt.Sprintf(",mine,job,baker,%s", []string{"original", "age"}[i%2])
		images += fmt.Sprintf("i%d,%d.png%s,ok\n", i, i, row)
		ratings += fmt.Sprintf("i%d%s,age,1,1,%s\n", i, row, []string{"young", "old", "old"}[i%3])
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".png")), nil, 0o600)) // nothing reads it
	}
	for name, text := range map[string]string{"images.csv": images, "ratings.csv": ratings} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	a := entigen.Audit{List: entigen.List, Generator: filepath.Join(dir, "images.csv"), Resamples: 20,
		Ratings: filepath.Join(dir, "ratings.csv"), Axes: "perceived_age=young/old"}
	if a.HasJudge() || len(a.JudgeAxes()) > 0 {
		t.Error("a judge without a name")
	}
	judges := testengine.Rows(t, "judges", a.Judges())
	if judges.Len() != 2 || judges.Texts("judge")[0] != "raters" || judges.Texts("axis")[0] != "perceived age" {
		t.Errorf("diversity: %v %v", judges.Texts("judge"), judges.Texts("axis"))
	}
	for _, judge := range []string{"", "archipelago-clip"} {
		a.Judge = judge
		if f := testengine.Rows(t, "agreement", a.Agreement()); f.Len() != 0 || len(f.Columns) < 5 {
			t.Errorf("agreement with judge %q: %d rows", judge, f.Len())
		}
		must.Equal(t, testengine.Rows(t, "confusion", a.Confusion()).Len(), 0, "labels compared with those of judge",
			judge, "rows")
	}
	a.Axes = ""
	must.Fail(a.Bias().Rows(t.Context()))(t, "perceived_age=young/old") // an axis that is not named
}
