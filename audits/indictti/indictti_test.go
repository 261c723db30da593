package indictti_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/audits/indictti"
	"antipode/datasets"
	data "antipode/datasets/indictti"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/test/testengine"
)

// network is the folder of a network with random weights.
func network(name string) string { return "../../gomlxmodels/" + name }

// captions are the English captions of the fixture, with the reason why the pool leaves one out.
var captions = []struct{ id, text, reason string }{
	{"10", "a red boat on a lake", ""}, {"11", "two men next to a drum", ""}, {"12", "A kite above houses", ""},
	{"13", "an old kettle", ""}, {"14", "a lantern at night", ""}, {"15", "a bell below a tree", ""},
	{"16", "a photo of London", "capitalized word"}, {"17", "a lonely mushroom", "no caption in hin_Deva"},
	{"18", "a house without a photo", "no image"}, {"19", "an old kettle", "repeats 13"},
}

// laion writes a folder with captions in the layout of LAION-COCO-NLLB, photos.csv, translations.csv, ratings.csv and
// Dalle3.csv: two images of the captions 10 to 15 in each of four languages, of which one in Urdu was refused.
func laion(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name string, lines ...string) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	var images []string
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, PerCell: 1})
	f := testengine.Rows(t, "images", world.Reference())
	for i := range 18 {
		content := must.Get(os.ReadFile(f.Images("image")[i].Path))(t)
		images = append(images, fmt.Sprintf("%02d.png", i))
		write(images[i], string(content))
	}
	var released []map[string]any
	photos, ratings := []string{"id,image"}, []string{"language,prompt_id,annotator,rating"}
	translations, generated := []string{"id,language,text,source"}, []string{"id,image,language,prompt_id,seed,outcome"}
	for i, c := range captions {
		var pairs [][]string
		for _, l := range data.Languages() {
			if l.Source == data.NLLB && !strings.HasSuffix(c.reason, l.Code) {
				pairs = append(pairs, []string{l.Code, c.text + " (" + l.Name + ")"})
			}
		}
		text := must.Get(json.Marshal(pairs))(t)
		released = append(released, map[string]any{"id": c.id, "url": "https://images.example/" + c.id,
			"eng_caption": c.text, "captions": string(text), "score": 0.3})
		if c.reason != "no image" {
			photos = append(photos, c.id+","+images[i])
		}
		translations = append(translations, fmt.Sprintf("%s,brx_Deva,बोट %s,IndicTrans2", c.id, c.id))
		for a := range 2 {
			ratings = append(ratings, fmt.Sprintf("hin_Deva,%s,annotator %d,%d", c.id, a, 3+a+i%2))
		}
		for _, l := range []string{"en", "hin_Deva", "urd_Arab", "brx_Deva"} {
			for r := range 2 {
				outcome, image := "ok", images[(7*i+3*r+len(l))%len(images)]
				if l == "urd_Arab" && r == 1 {
					outcome, image = "refused", ""
				}
				if i < 6 {
					generated = append(generated, fmt.Sprintf("%s-%s-%d,%s,%s,%s,%d,%s", c.id, l, r, image, l, c.id, r,
						outcome))
				}
			}
		}
	}
	write("photos.csv", photos...)
	write("ratings.csv", ratings...)
	write("translations.csv", translations...)
	write("Dalle3.csv", generated...)
	must.Do(t, os.Mkdir(filepath.Join(dir, "data"), 0o755))
	file := filepath.Join(dir, "data", "test-00000-of-00001.parquet")
	_ = must.Get(datasets.FromRows(released).SaveE(context.Background(), file))(t)
	return dir
}

// real is the audit of the fixture, with random weights.
func real(t *testing.T, dir string) indictti.Audit {
	return indictti.Audit{Captions: "laion_coco_nllb:" + dir, Photos: filepath.Join(dir, "photos.csv"),
		Translations: filepath.Join(dir, "translations.csv"), Languages: "hin_Deva,urd_Arab,brx_Deva",
		Ratings: filepath.Join(dir, "ratings.csv"), Size: 4, N: 2, Resamples: 4,
		Generator:  network("diffusion/testdata/sd1") + "," + filepath.Join(dir, "Dalle3.csv"),
		Generation: models.GenerateOptions{Steps: 1}, Captioner: network("blip2/testdata/opt"),
		Captioning: models.CaptionOptions{MaxTokens: 3}, Encoder: network("blip2/testdata/opt"),
		TextEncoder: "../../kernel/backend/all/testdata/encoders/sentence", Joint: network("blip2/testdata/retrieval")}
}

// The audit of captions in the layout of LAION-COCO-NLLB, from parameters alone: every table of it.
func TestRealCaptions(t *testing.T) {
	testengine.Use(t)
	a := real(t, laion(t))
	work := testengine.Rows(t, "workload", a.Workload(datasets.WorkloadOptions{}))
	if got := fmt.Sprint(work.Texts("stage"), work.Numbers("items")); got != "[embed sentence generate sd1 "+
		"caption opt embed retrieval embed opt total] [56 32 46 50 50 234]" {
		t.Errorf("workload %s", got)
	}
	pool := testengine.Rows(t, "pool", a.Pool())
	for i, c := range captions {
		must.Equal(t, pool.Texts("reason")[i], c.reason, c.text)
	}
	selected := testengine.Rows(t, "selected", a.Selected())
	if selected.Len() != 4 || !(selected.Numbers("mean_similarity")[0] <= selected.Numbers("median_similarity")[0]) {
		t.Errorf("selected %v", selected.Texts("id"))
	}
	prompts := testengine.Rows(t, "prompts", a.Prompts().Count("language", "caption_source", "outcome"))
	must.Equal(t, fmt.Sprint(prompts.Texts("language"), prompts.Texts("caption_source"), prompts.Numbers("n")),
		"[en hin_Deva urd_Arab brx_Deva] [original NLLB NLLB IndicTrans2] [4 4 4 4]", "prompts")
	counts := testengine.Rows(t, "counts", a.Counts())
	must.Equal(t, fmt.Sprint(counts.Texts("model"), counts.Numbers("n_ok"), counts.Numbers("n_refused")),
		"[Dalle3 Dalle3 Dalle3 Dalle3 sd1 sd1 sd1 sd1] [8 8 4 8 8 8 8 8] [0 0 4 0 0 0 0 0]", "counts")
	complete := testengine.Rows(t, "complete", a.Scores(indictti.Complete))
	common := testengine.Rows(t, "common", a.Scores(indictti.Common))
	must.Equal(t, complete.Len(), 2*4*5)
	must.Equal(t, common.Len(), complete.Len())
	for i, score := range common.Texts("score") {
		if common.Numbers("n")[i] > 8 || score == "IGC" && common.Texts("encoder")[i] != a.Encoder {
			t.Errorf("%s: n = %v, encoder %s", score, common.Numbers("n")[i], common.Texts("encoder")[i])
		}
	}
	for name, tab := range map[string]datasets.Table{"sets": a.Sets(), "examples": a.Examples(2),
		"drops": a.Drops(indictti.Common), "differences": a.Differences(), "lowest": a.Lowest(3), "losses": a.Losses(),
		"claims": a.Claims(), "table": a.PaperTable("9"), "overall": a.OverallSCAL(indictti.Common),
		"record":  a.Record(),
		"ratings": a.Translated()} {
		if f := testengine.Rows(t, name, tab); f.Len() == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
	findings := testengine.Rows(t, "findings", a.Findings())
	if findings.Len() != 6 || findings.Texts("verdict")[0] != "not found" {
		t.Errorf("findings %v", findings.Texts("verdict"))
	}
	must.Equal(t, testengine.Rows(t, "truth", a.Truth()).Len(), 0, "injected disparities in real captions")
	computed := map[string]int{}
	ledger := testengine.Rows(t, "ledger", a.Ledger())
	for i, item := range ledger.Texts("item") {
		if ledger.Texts("verdict")[i] != metrics.NotComputable {
			table, _, _ := strings.Cut(item, ",")
			computed[table]++
		}
	}
	if computed["Table 7"] != 4 || computed["Table 10"] != 4 { // sd1 is not in the paper
		t.Errorf("computed %v", computed)
	}
}

// The profile AsPrinted and single options change the scores, and the record names them.
func TestOptions(t *testing.T) {
	testengine.Use(t)
	a := indictti.Audit{Generator: indictti.Sampler, Size: 5, N: 2, Resamples: -1, Languages: "qab_Deva,qac_Arab",
		Captioner: network("blip2/testdata/opt"), Encoder: network("vit/testdata/hf-bf16-shards"),
		TextEncoder: "../../kernel/backend/all/testdata/encoders/sentence"}
	printed := a
	printed.Profile = indictti.AsPrinted
	for _, score := range []string{"SCWL", "CLGC"} {
		one := testengine.Rows(t, score, a.Scores(indictti.Complete).Where("score", "==", score)).Numbers("value")
		two := testengine.Rows(t, score, printed.Scores(indictti.Complete).Where("score", "==", score)).Numbers("value")
		for i := range one {
			want := one[i]
			if score == "SCWL" {
				want *= 2
			}
			if d := two[i] - want; len(one) != 3 || d > 1e-9 || d < -1e-9 {
				t.Errorf("%s: %v and as printed %v", score, one, two)
			}
		}
	}
	record := testengine.Rows(t, "record", printed.Record().Where("option", "==", "equation 10"))
	must.Equal(t, record.Texts("value")[0], "literal", "record")
	for _, score := range []string{"igc", "lgc"} { // the mean of the captions is the score of a language
		a.Score = score
		f := testengine.Rows(t, score, a.Findings().Join(a.Scores(indictti.Complete).
			Where("score", "==", strings.ToUpper(score)).Select("language", "value"), "language"))
		for i, mean := range f.Numbers("mean_a") {
			if d := mean - f.Numbers("value")[i]; f.Len() != 2 || d > 1e-9 || d < -1e-9 {
				t.Errorf("%s of %s: %g, its score is %g", score, f.Texts("language")[i], mean, f.Numbers("value")[i])
			}
		}
	}
	for _, generator := range []string{"", indictti.Sampler} { // by the world's own networks
		_ = must.Get(indictti.Audit{Generator: generator}.Findings().Plan())(t)
	}
	for _, wrong := range []indictti.Audit{{Profile: "public-code"}, {Seed: 3}, {Score: "dwl"},
		{Captions: "captions.csv", Generator: indictti.Sampler}} {
		must.Fail(wrong.Images().Rows(context.Background()))(t)
	}
}

// A table of prompts needs no data set; without reference images there is no IGC.
func TestPromptTable(t *testing.T) {
	testengine.Use(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "prompts.csv")
	must.Do(t, os.WriteFile(file, []byte("id,language,text\na,en,a boat in Goa\na,tam_Taml,படகு\nb,en,a drum\n"+
		"b,tam_Taml,மேளம்\n"), 0o600))
	generators := strings.Join([]string{network("diffusion/testdata/sd1"), network("diffusion/testdata/sd2"),
		network("diffusion/testdata/alt2")}, ",")
	a := indictti.Audit{Captions: file, N: 2, Resamples: -1, Generator: generators,
		Generation: models.GenerateOptions{Steps: 1}, Captioner: network("blip2/testdata/opt"),
		Encoder:     network("vit/testdata/hf-bf16-shards"),
		TextEncoder: "../../kernel/backend/all/testdata/encoders/sentence",
		Joint:       network("blip2/testdata/retrieval"), Options: indictti.Options{JointPooling: "projected_max"}}
	scores := testengine.Rows(t, "scores", a.Scores(indictti.Complete).Count("score", "language"))
	must.Equal(t, fmt.Sprint(scores.Texts("score"), scores.Texts("language")),
		"[CLGC CLGC LGC LGC SCWL SCWL DWL DWL] [en tam_Taml en tam_Taml en tam_Taml en tam_Taml]", "scores")
	seeds := testengine.Rows(t, "images", a.Images().Count("model"))
	must.Equal(t, fmt.Sprint(seeds.Texts("model"), seeds.Numbers("n")), "[sd1 sd2 alt2] [8 8 8]", "images")
	drawn := testengine.Rows(t, "seeds", a.Images()).Numbers("seed")
	must.Equal(t, drawn[0], drawn[8], "seeds")
	must.Equal(t, drawn[17], 1, "seeds")
	// IGC without reference images
	must.Fail(a.IGC(indictti.Complete).Rows(context.Background()))(t, "antipode data images")
}
