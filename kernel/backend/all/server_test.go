package all

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/internal/must"
)

// ownServer is an image API that notes the bodies of its requests.
func ownServer(t *testing.T, note func(body map[string]any)) (base string) {
	t.Helper()
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 16, 16))))
	answer := fmt.Sprintf(`{"data": [{"b64_json": %q}]}`, base64.StdEncoding.EncodeToString(file.Bytes()))
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		note(body)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// TestOwnServer: seed, steps, guidance and negative prompt reach a server that takes them, and its images are stored
// under the digest of its weights, whatever its address.
func TestOwnServer(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	evaluator(t)
	var bodies []map[string]any
	note := func(body map[string]any) { bodies = append(bodies, body) }
	base, other := ownServer(t, note), ownServer(t, note)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house", "negative": ""},
		{"id": "b", "prompt": "boat", "negative": "people"}})
	full := gomlxmodels.GenerateOptions{N: 2, Seed: 7, Steps: 20, Guidance: 3.5, Negative: "blurry",
		API: gomlxmodels.APIOptions{BaseURL: base, ModelDigest: "revision 1",
			Extra: []string{"seed", "num_inference_steps", "guidance_scale", "negative_prompt"}}}
	f := must.Get(gomlxmodels.Generate("api:mine", prompts, full).Rows(t.Context()))(t)
	cost := f.Numbers("cost")
	must.True(t, math.IsNaN(cost[0]) && f.Texts("outcome")[0] == "ok", "cost %v, outcomes %v", cost, f.Texts("outcome"))
	var got []string
	for _, b := range bodies {
		got = append(got, fmt.Sprint(b["prompt"], " ", b["seed"], " ", b["num_inference_steps"], " ",
			b["guidance_scale"], " ", b["negative_prompt"]))
	}
	slices.Sort(got)
	must.EqualSlices(t, got, []string{"boat 7 20 3.5 people", "boat 8 20 3.5 people", "house 7 20 3.5 blurry",
		"house 8 20 3.5 blurry"}, "requests")
	for _, c := range []struct {
		name     string
		change   func(o *gomlxmodels.GenerateOptions)
		requests int
	}{
		{"again", func(*gomlxmodels.GenerateOptions) {}, 0},
		{"another address", func(o *gomlxmodels.GenerateOptions) { o.API.BaseURL = other }, 0},
		{"another order", func(o *gomlxmodels.GenerateOptions) { slices.Reverse(o.API.Extra) }, 0},
		{"other weights", func(o *gomlxmodels.GenerateOptions) { o.API.ModelDigest = "revision 2" }, 4},
		{"no digest", func(o *gomlxmodels.GenerateOptions) { o.API.ModelDigest = "" }, 4},
		{"no digest, another address", func(o *gomlxmodels.GenerateOptions) {
			o.API.ModelDigest, o.API.BaseURL = "", other
		}, 4},
		{"steps", func(o *gomlxmodels.GenerateOptions) { o.Steps = 21 }, 4},
		{"guidance", func(o *gomlxmodels.GenerateOptions) { o.Guidance = 4 }, 4},
		{"negative of one prompt", func(o *gomlxmodels.GenerateOptions) { o.Negative = "dark" }, 2},
		{"fields", func(o *gomlxmodels.GenerateOptions) {
			o.Steps, o.Guidance, o.Negative, o.API.Extra = 0, 0, "", []string{"seed"}
		}, 4},
	} {
		bodies = nil
		o := full
		o.API.Extra = slices.Clone(full.API.Extra)
		c.change(&o)
		if _, err := gomlxmodels.Generate("api:mine", prompts, o).Rows(t.Context()); err != nil {
			t.Fatal(c.name, err)
		}
		must.Equal(t, len(bodies), c.requests, c.name, "requests")
		if c.name == "fields" && (len(bodies[0]) != 5 || bodies[0]["seed"] == nil) {
			t.Errorf("only the seed is listed: %v", bodies[0])
		}
	}
}

// TestAnswersMove moves a store whose items are lost: images that were paid for are not requested again, and no file
// has the path of the store.
func TestAnswersMove(t *testing.T) {
	requests := 0
	base := ownServer(t, func(map[string]any) { requests++ })
	home, moved := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	before := client.Registered()
	t.Cleanup(func() { client.Register(before) })
	generate := func(home string) {
		t.Helper()
		e := must.Get(NewEngine(home, "test"))(t)
		client.Register(e)
		prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}})
		o := gomlxmodels.GenerateOptions{API: gomlxmodels.APIOptions{BaseURL: base}}
		if _, err := gomlxmodels.Generate("api:mine", prompts, o).Rows(t.Context()); err != nil {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	generate(home)
	answers, err := filepath.Glob(filepath.Join(home, "models", "api", "*.json"))
	if err != nil || len(answers) != 1 {
		t.Fatal(answers, err)
	}
	text, err := os.ReadFile(answers[0])
	must.True(t, err == nil && !strings.Contains(string(text), home), "%s, %v", text, err)
	must.Do(t, os.Rename(home, moved))
	must.Do(t, os.RemoveAll(filepath.Join(moved, "items")))
	if generate(moved); requests != 1 {
		t.Errorf("%d requests, want 1", requests)
	}
}

// TestServerRecord: the digest of the weights is in the record of the run, and a budget in images ends a run.
func TestServerRecord(t *testing.T) {
	e := registered(t)
	requests := 0
	base := ownServer(t, func(map[string]any) { requests++ })
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}})
	o := gomlxmodels.GenerateOptions{
		API: gomlxmodels.APIOptions{BaseURL: base, ModelDigest: "revision 1", BudgetImages: 1}}
	res := must.Get(gomlxmodels.Generate("api:mine", prompts, o).SaveE(t.Context(), t.TempDir()+"/o.csv"))(t)
	rec, err := e.Store.Record(res.Record)
	must.True(t, err == nil && rec.Models["api:mine"] == "revision 1", "%+v, %v", rec, err)
	o.N = 3 // one is stored, one is within the budget
	_, err = gomlxmodels.Generate("api:mine", prompts, o).Rows(t.Context())
	if err == nil || !strings.Contains(err.Error(), "1 of 1 images") || requests != 2 {
		t.Errorf("%v after %d requests", err, requests)
	}
}
