package audits_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/audits/cococrola"
	"antipode/audits/entigen"
	"antipode/audits/visage"
	"antipode/datasets"
	models "antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/metrics/concepts"
	"antipode/test/testengine"
)

// pixels identifies an image by its pixels.
func pixels(data []byte) (digest [32]byte, err error) {
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return digest, err
	}
	plain := image.NewRGBA(img.Bounds())
	draw.Draw(plain, plain.Rect, img, plain.Rect.Min, draw.Src)
	return sha256.Sum256(plain.Pix), nil
}

// judge starts a chat server that answers a question about an image with the words of a function, and returns the
// name of the judge and its options.
func judge(t *testing.T, answer func(question string, image [32]byte) string) (string, models.AskOptions) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct {
				Content []struct {
					Text     string `json:"text"`
					ImageURL struct {
						URL string `json:"url"`
					} `json:"image_url"`
				} `json:"content"`
			} `json:"messages"`
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		content := body.Messages[len(body.Messages)-1].Content
		_, encoded, _ := strings.Cut(content[0].ImageURL.URL, ",")
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		digest, err := pixels(data)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		question, _, _ := strings.Cut(content[1].Text, "\n")
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, answer(question, digest))
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"OPENAI_API_KEY": "sk-test", "HTTP_PROXY": "", "http_proxy": ""} {
		t.Setenv(name, value)
	}
	return "ask:chat:judge", models.AskOptions{Chat: models.ChatOptions{BaseURL: server.URL + "/v1", Format: "words"}}
}

// digests returns the pixels of the images of a table by id.
func digests(t *testing.T, images *datasets.Frame) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	for i, id := range images.Texts("id") {
		out[id] = must.Get(pixels(must.Get(os.ReadFile(images.Images("image")[i].Path))(t)))(t)
	}
	return out
}

// TestJudgeOfVisage: a judge that is never wrong finds what perfect annotators find, about the same images.
func TestJudgeOfVisage(t *testing.T) {
	testengine.Use(t)
	perfect := visage.Audit{Generator: visage.Sampler, N: 2, Resamples: -1}
	annotations := testengine.Rows(t, "annotations", perfect.Annotated())
	of := digests(t, testengine.Rows(t, "images", perfect.Images()))
	shown := map[[32]byte]map[string]bool{}
	for i, id := range annotations.Texts("image_id") {
		if shown[of[id]] == nil {
			shown[of[id]] = map[string]bool{}
		}
		shown[of[id]][annotations.Texts("attribute")[i]] = annotations.Numbers("selected")[i] == 1
	}
	a := perfect
	a.Judge, a.Asking = judge(t, func(question string, image [32]byte) string {
		attribute := strings.TrimSuffix(strings.TrimPrefix(question, "Does this image show "), "?")
		is, known := shown[image][attribute]
		switch {
		case !known:
			return "cannot tell"
		case is:
			return "yes"
		}
		return "no"
	})
	answers := testengine.Rows(t, "answers", a.Annotated())
	if got := answers.Texts("found_by"); len(got) < 100 || got[0] != "judge" || a.Annotators() != "judge" {
		t.Fatalf("%d answers, by %s", len(got), a.Annotators())
	}
	for i, id := range answers.Texts("image_id") {
		name := answers.Texts("attribute")[i]
		if is := shown[of[id]][name]; is != (answers.Numbers("selected")[i] == 1) {
			t.Errorf("%s, %s: %v", id, name, answers.Numbers("selected")[i])
		}
	}
	var found [2][]string
	for k, audit := range []visage.Audit{perfect, a} {
		f := testengine.Rows(t, "findings", audit.Findings())
		for i, verdict := range f.Texts("verdict") {
			found[k] = append(found[k], f.Texts("identity")[i]+" "+verdict)
		}
		slices.Sort(found[k])
	}
	must.EqualSlices(t, found[0], found[1], "findings", "of perfect annotators")
	a.Annotations = "x.csv"
	must.Fail(a.Annotated().Err())(t, "leave the judge") // a judge of annotations
	a.Annotations, a.Judge = "", "archipelago-clip"
	must.Fail(a.Annotated().Err())(t, "ask:MODEL") // a CLIP as judge
}

// TestJudgeOfEntigen: the captioner of the built-in world, as a judge that continues "the crest is", gives the labels
// of perfect raters; a judge of photographs tells groups, and that it cannot tell or sees nobody.
func TestJudgeOfEntigen(t *testing.T) {
	testengine.Use(t)
	a := entigen.Audit{Generator: entigen.Sampler, Judge: "ask:archipelago-blip", N: 1, Resamples: -1}
	agreement := testengine.Rows(t, "agreement", a.Agreement().Where("scope", "==", "pooled").
		Where("definition", "==", "both-decided"))
	if got := agreement.Numbers("agreement"); len(got) != 2 || slices.Min(got) < 0.95 {
		t.Errorf("agreement with perfect raters: %v", got)
	}
	if got := testengine.Rows(t, "judges", a.Judges()).Texts("judge"); !slices.Contains(got, "archipelago-blip") {
		t.Errorf("judges %v", got)
	}
	dir := t.TempDir()
	answers := []string{"man", "woman", "woman", "cannot tell", "nobody", "I would rather not say"}
	table, by := "id,image,model,category,attribute,prompt_id,outcome\n", map[[32]byte]string{}
	for i, answer := range answers {
		img := image.NewGray(image.Rect(0, 0, 8, 8))
		img.Set(i, 0, color.White)
		var data bytes.Buffer
		must.Do(t, png.Encode(&data, img))
		must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".png")), data.Bytes(), 0o600))
		table += fmt.Sprintf("i%d,%d.png,mine,profession,baker,original,ok\n", i, i)
		by[must.Get(pixels(data.Bytes()))(t)] = answer
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "images.csv"), []byte(table), 0o600))
	b := entigen.Audit{List: entigen.List, Generator: filepath.Join(dir, "images.csv"), Resamples: -1,
		Axes: "perceived_age=young/old"}
	b.Judge, b.Asking = judge(t, func(question string, image [32]byte) string {
		if strings.Contains(question, "perceived age") {
			return "old"
		}
		return by[image]
	})
	f := testengine.Rows(t, "labels", b.Judged().Sort("image_id"))
	want := []string{"man", "woman", "woman", "no group", "no group", ""}
	if got := f.Texts("perceived_gender"); !slices.Equal(got, want) || f.Numbers("person")[4] != 0 ||
		f.Numbers("person")[3] != 1 || f.Texts("perceived_age")[1] != "old" {
		t.Errorf("labels %q, %q, persons %v", got, f.Texts("perceived_age"), f.Numbers("person"))
	}
	bias := testengine.Rows(t, "bias", b.Bias().Where("axis", "==", "perceived gender"))
	if got := bias.Numbers("bias"); len(got) != 1 || fmt.Sprintf("%.4f", got[0]) != "-0.3333" {
		t.Errorf("bias of one man and two women: %v", got)
	}
	b.Texts = "texts.csv"
	must.Fail(b.Judged().Err())(t, "answers questions") // texts of a judge that answers questions
}

// TestJudgeOfCoCoCroLa: what a judge answers about images of creative prompts and of failures is counted.
func TestJudgeOfCoCoCroLa(t *testing.T) {
	testengine.Use(t)
	a := cococrola.Audit{Generator: cococrola.Sampler, N: 2}
	truth := testengine.Rows(t, "truth", a.Truth())
	a.Languages, a.Only = []string{"en", truth.Texts("carrier")[0]}, []string{truth.Texts("subject")[0], "kite"}
	a.Judge, a.Asking = judge(t, func(question string, _ [32]byte) string {
		switch {
		case strings.HasPrefix(question, "What does this image show"):
			return "another object"
		case strings.Contains(question, "harbor"):
			return "no"
		}
		return "yes"
	})
	images := "id,image,model,language,prompt_id,concepts\n"
	dir := t.TempDir()
	var data bytes.Buffer
	must.Do(t, png.Encode(&data, image.NewGray(image.Rect(0, 0, 8, 8))))
	must.Do(t, os.WriteFile(filepath.Join(dir, "a.png"), data.Bytes(), 0o600))
	images += "a,a.png,m,en,p,\"boat, harbor\"\nb,a.png,m,en,p,\"boat, harbor\"\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "images.csv"), []byte(images), 0o600))
	table := datasets.CSV(filepath.Join(dir, "images.csv"))
	asked := table.Questions(concepts.ShownQuestions(table), "prompt_id")
	answers := models.Ask(strings.TrimPrefix(a.Judge, "ask:"), asked, a.Asking)
	f := testengine.Rows(t, "shown", concepts.ShownByJudge(answers, datasets.Table{}))
	must.Equal(t, fmt.Sprint(f.Texts("concept"), f.Numbers("shown"), f.Numbers("all_shown"), f.Numbers("n_images")),
		"[boat harbor] [1 0] [0 0] [2 2]", "shown")
	kinds := testengine.Rows(t, "kinds", a.JudgedKinds())
	if other := func(kind string) bool { return kind != concepts.NonSpecific }; kinds.Len() == 0 ||
		slices.ContainsFunc(kinds.Texts("kind"), other) {
		t.Errorf("kinds of failure %q", kinds.Texts("kind"))
	}
	counts := testengine.Rows(t, "counts", a.FailureCounts().Where("kind", "==", concepts.NonSpecific))
	byHand := 0.0
	for _, n := range counts.Numbers("n_by_hand") {
		byHand += n
	}
	must.Equal(t, byHand, float64(kinds.Len()), "failures labeled by the judge")
}
