package cococrola_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/audits/cococrola"
	"antipode/datasets"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/concepts"
	"antipode/metrics/significance"
	"antipode/metrics/tokens"
	"antipode/test/testengine"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
}

// conceptFile writes a concept list in the form of the released one, with its templates, and returns its path.
func conceptFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "prompts.json"),
		`{"en": "a photograph of $$$", "es": "una fotografía de $$$", "ja": "$$$の写真"}`)
	file := filepath.Join(dir, "concepts.csv")
	write(t, file, "en,es,ja\ndog,perro,犬\nship,barco,船\nwatch,reloj,時計\nclock,reloj,時計\n")
	return file
}

// network is the folder of a network with random weights.
func network(name string) string { return "../../gomlxmodels/" + name }

// clip returns the folder of a CLIP with random weights, and a tokenizer of lower-case letters.
func clip(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clip-random")
	must.Do(t, os.CopyFS(dir, os.DirFS(network("clip/testdata/bf16-shards"))))
	var tokenizer map[string]any
	data, err := os.ReadFile(network("diffusion/testdata/sd1/tokenizer/tokenizer.json"))
	if err == nil {
		err = json.Unmarshal(data, &tokenizer)
	}
	if err != nil {
		t.Fatal(err)
	}
	vocabulary := map[string]int{"<|startoftext|>": 62, "<|endoftext|>": 63}
	for i := range 26 {
		letter := string(rune('a' + i))
		vocabulary[letter], vocabulary[letter+"</w>"] = 2*i, 2*i+1
	}
	model := tokenizer["model"].(map[string]any)
	model["vocab"], model["merges"] = vocabulary, []string{}
	for i, added := range tokenizer["added_tokens"].([]any) {
		added.(map[string]any)["id"] = 62 + i
	}
	data = must.Get(json.Marshal(tokenizer))(t)
	ids := strings.NewReplacer("517", "62", "518", "63") // of the start and the end, elsewhere in the file
	write(t, filepath.Join(dir, "tokenizer.json"), ids.Replace(string(data)))
	return dir
}

// real is the audit of the fixture, with random weights in the architectures of Stable Diffusion and CLIP.
func real(t *testing.T) cococrola.Audit {
	return cococrola.Audit{Concepts: conceptFile(t), N: 3, Generator: network("diffusion/testdata/sd1"),
		Generation: models.GenerateOptions{Steps: 1, Safety: "off"}, Encoder: clip(t)}
}

// The audit of a concept list, from parameters alone: every table of it.
func TestConceptList(t *testing.T) {
	testengine.Use(t)
	a := real(t)
	work := testengine.Rows(t, "workload", a.Workload(datasets.WorkloadOptions{}))
	must.Equal(t, fmt.Sprint(work.Texts("stage"), work.Numbers("items")),
		"[embed clip-random generate sd1 total] [76 48 124]", "workload")
	images := testengine.Rows(t, "images", a.Images())
	if p := images.Texts("prompt"); len(p) != 36 || !slices.Contains(p, "una fotografía de barco") {
		t.Errorf("%d images, prompts %q", len(p), p)
	}
	must.Equal(t, len(slices.Compact(slices.Sorted(slices.Values(images.Numbers("seed"))))), 36, "images share seeds")
	scores := testengine.Rows(t, "scores", a.Scores())
	if scores.Len() != 12 || scores.Texts("vector")[0] != models.ClipImagePooled ||
		scores.Texts("joint_model")[0] != "clip-random" || scores.Numbers("n_used")[0] != 3 ||
		!strings.Contains(scores.Texts("options")[0], "m=100 sample=per-concept") {
		t.Errorf("scores %v", scores)
	}
	literal := a
	literal.Profile, literal.Vector, literal.Scoring.Self = cococrola.PublicCode, models.ClipImage, "literal"
	if f := testengine.Rows(t, "options", literal.Scores()); f.Texts("vector")[0] != models.ClipImage ||
		f.Texts("profile")[0] != cococrola.PublicCode || !strings.Contains(f.Texts("options")[0], "sample=shared") ||
		!strings.Contains(f.Texts("options")[0], "self=literal") {
		t.Errorf("options %q", f.Texts("options")[0])
	}
	must.Equal(t, testengine.Rows(t, "collisions", a.Collisions()).Len(), 2, "collisions")
	findings := testengine.Rows(t, "findings", a.Findings())
	if findings.Len() != 2 || findings.Texts("verdict")[0] != significance.NotFound {
		t.Errorf("findings %v", findings)
	}
	ledger := testengine.Rows(t, "ledger", a.Ledger())
	if ledger.Len() != 158+20 || slices.ContainsFunc(ledger.Texts("verdict"), func(v string) bool {
		return v != metrics.NotComputable
	}) {
		t.Errorf("a model that the paper does not have: %q", ledger.Texts("verdict"))
	}
	for name, tab := range map[string]datasets.Table{"means": a.Means(), "table": a.PaperTable("2"), "tests": a.Tests(),
		"examples": a.Examples(1), "ranked": a.Ranked("es", "text_match", 4, true), "pairs": a.Pairs("text_match"),
		"correlations": a.Correlations("text_match"), "wins": a.Wins(), "cells": a.PaperCells()} {
		if f := testengine.Rows(t, name, tab); f.Len() == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
	for name, tab := range map[string]datasets.Table{"truth": a.Truth(), "templates": a.TemplateScores()} {
		must.Equal(t, testengine.Rows(t, name, tab).Len(), 0, name, "rows")
	}
	f := testengine.Rows(t, "losses", a.Losses())
	a.Repaired = filepath.Join(t.TempDir(), "repaired.csv")
	write(t, a.Repaired, "id,language,concept,prompt\n1,ja,dog,inu\n2,ja,ship,fune\n"+
		"3,ja,watch,tokei\n4,ja,clock,tokei\n")
	g := testengine.Rows(t, "losses, repaired", a.Losses())
	row := 4 // of ja; 1 is that of es
	if f.Texts("cause")[row] != "partial" || !math.IsNaN(f.Numbers("loss")[row]) ||
		g.Texts("method")[row] != tokens.ByRepair || math.IsNaN(g.Numbers("loss")[row]) {
		t.Errorf("the tokenizer splits Japanese characters: %v of %v, repaired %v", f.Texts("cause"),
			f.Numbers("loss"), g.Numbers("loss"))
	}
	if l := a.LowestLanguage(); l != "es" && l != "ja" {
		t.Errorf("lowest language %q", l)
	}
}

// TestGenerators: several generators are compared, in one table of images with unique ids.
func TestGenerators(t *testing.T) {
	testengine.Use(t)
	a := real(t)
	a.N, a.Languages = 2, []string{"en", "es"}
	a.Generator += "," + network("diffusion/testdata/sd2")
	must.Equal(t, testengine.Rows(t, "images", a.Images()).Len(), 32, "images")
	f := testengine.Rows(t, "wins", a.Wins().Where("score", "==", "Xc"))
	must.Equal(t, fmt.Sprint(f.Texts("model")), "[sd1 sd2]", "wins of")
	must.Equal(t, testengine.Rows(t, "findings", a.Findings()).Len(), 2, "findings")
}

// TestTemplates: Appendix B compares the templates of English and Spanish.
func TestTemplates(t *testing.T) {
	testengine.Use(t)
	a := real(t)
	a.Templates, a.Languages = []string{"dog"}, []string{"en", "es"}
	f := testengine.Rows(t, "templates", a.TemplateScores().Where("score", "==", "cross_consistency"))
	if f.Len() != 16 || f.Numbers("n_templates")[0] != 8 {
		t.Errorf("%d rows: %v", f.Len(), f)
	}
}

// TestReleased: the authors' scores, from a made-up copy of their demo repository: with the public code's profile a
// failed cell counts as −1.
func TestReleased(t *testing.T) {
	testengine.Use(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "demo/sd2/results_en.csv"), "en,es\n0.55,0.4\n0.55,---\n")
	write(t, filepath.Join(dir, "demo/sd2/results_self.csv"), "en,es\n0.55,0.4\n0.55,---\n")
	write(t, filepath.Join(dir, "demo/sd2/results_specific.csv"), "en,es\n0.3,0.4\n0.2,---\n")
	write(t, filepath.Join(dir, "concepts.csv"), "en,es\ndog,perro\nship,barco\n")
	a := cococrola.Audit{Concepts: filepath.Join(dir, "concepts.csv"), Generator: "released:" + dir,
		Encoder: cococrola.Released}
	for of, want := range map[[2]string]float64{{cococrola.Paper, concepts.LeaveOut}: 0.4, {cococrola.Paper}: 0.4,
		{cococrola.Paper, concepts.MinusOne}: -0.3, {cococrola.PublicCode}: -0.3,
		{cococrola.PublicCode, concepts.LeaveOut}: 0.4} {
		a.Profile, a.Blank = of[0], of[1]
		means := testengine.Rows(t, of[0], a.Means().Where("model", "==", "SD 2").Where("language", "==", "es"))
		if got := means.Numbers("cross_consistency")[0]; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s: mean Xc %v, want %v", of, got, want)
		}
	}
	a.Profile, a.Blank = cococrola.PublicCode, ""
	ledger := testengine.Rows(t, "ledger", a.Ledger().Where("verdict", "!=", metrics.NotComputable))
	if items := ledger.Texts("item"); !slices.Contains(items, "Table 2, SD 2, EN, Xc") ||
		slices.Contains(items, "Table 2, SD 2, EN, Wc") {
		t.Errorf("ledger %q", items)
	}
	if testengine.Rows(t, "tests", a.Tests()).Len() != 0 || a.Generates() || !a.HasImages() {
		t.Error("the authors' scores have no vectors and no generator")
	}
	file := filepath.Join(dir, "scores.csv")
	a.Scores().With("text_match", 25).Save(file)
	a = cococrola.Audit{Concepts: a.Concepts, Generator: file}
	if f := testengine.Rows(t, "a table of scores", a.Means()); f.Len() == 0 || a.HasImages() {
		t.Errorf("a table of scores: %v", f)
	}
}

// TestInvalid: wrong parts are errors of the tables, which name the part.
func TestInvalid(t *testing.T) {
	for part, a := range map[string]cococrola.Audit{
		"profile":            {Profile: "public"},
		"vector":             {Vector: "clip"},
		"generator released": {Encoder: cococrola.Released},
		".csv":               {Concepts: "concepts"},
		"world 7":            {Seed: 3},
		"built-in world":     {Concepts: "cococrola", Generator: cococrola.Sampler},
	} {
		must.Fail(a.Scores().Err())(t, part)
	}
}
