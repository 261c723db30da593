package all

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
)

// imageServer is an image API that refuses prompts with "forbidden", breaks off in the middle of the first three
// answers to a prompt with "broken", and counts what it is asked.
type imageServer struct {
	mu     sync.Mutex
	asked  map[string]int
	listed int // requests for the list of models
	key    string
}

// newImageServer starts one, whose address the environment has.
func newImageServer(t *testing.T) *imageServer {
	t.Helper()
	s := &imageServer{asked: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"OPENAI_BASE_URL": server.URL + "/v1",
		"OPENAI_API_KEY": "sk-test-secret", "HTTP_PROXY": "", "http_proxy": ""} {
		t.Setenv(name, value)
	}
	return s
}

func (s *imageServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		s.mu.Lock()
		s.listed++
		s.mu.Unlock()
		shutdown := time.Now().AddDate(0, 0, 30).UTC().Format(time.DateOnly)
		fmt.Fprintf(w, `{"data": [{"id": "house-painter", "shutdown_date": %q}]}`, shutdown)
		return
	}
	var body struct{ Prompt string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked[body.Prompt]++
	times := s.asked[body.Prompt]
	s.key = r.Header.Get("Authorization")
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if strings.Contains(body.Prompt, "forbidden") {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w,
			`{"error": {"code": "content_policy_violation", "message": "Your request was rejected as a result of our safety system."}}`)
		return
	}
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	img.Set(times, 0, color.White)
	var b bytes.Buffer
	_ = png.Encode(&b, img)
	answer, _ := json.Marshal(
		map[string]any{"data": []map[string]string{{"b64_json": base64.StdEncoding.EncodeToString(b.Bytes()),
			"revised_prompt": "a fine " + body.Prompt}}})
	if strings.Contains(body.Prompt, "broken") && times <= 3 {
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		_, _ = w.Write(answer[:len(answer)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(answer)
}

// Images of an image API: outcomes, changed prompts, and nothing paid for twice.
func TestGenerateByAPI(t *testing.T) {
	s := newImageServer(t)
	evaluator(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"},
		{"id": "b", "prompt": "forbidden house"}, {"id": "c", "prompt": "broken house"}})
	table := gomlxmodels.Generate("api:house-painter", prompts, gomlxmodels.GenerateOptions{N: 2, Width: 1024,
		Height: 1024, API: gomlxmodels.APIOptions{Quality: "standard", Price: 0.04}})
	plan := must.Get(table.Plan())(t)
	res := must.Get(client.Registered().Run(context.Background(), client.Request{Plan: plan}, nil))(t)
	must.True(t, len(res.Notes) == 1 && strings.HasPrefix(res.Notes[0], "house-painter will be shut down on 2"),
		"notes %q", res.Notes)
	f := res.Frame
	if got := strings.Join(f.Texts("id"), " "); got != "a#1 a#2 b#1 b#2 c#1 c#2" {
		t.Fatalf("rows %s", got)
	}
	outcomes := f.Texts("outcome")
	must.True(t, slices.Equal(outcomes[:4], []string{"ok", "ok", "refused", "refused"}),
		"outcomes %v, reasons %q", outcomes, f.Texts("reason"))
	if f.Texts("revised_prompt")[0] != "a fine house" || f.Numbers("cost")[0] != 0.04 || f.Numbers("cost")[2] != 0 ||
		f.Texts("model")[0] != "house-painter" {
		t.Errorf("revised %q, cost %v, model %q", f.Texts("revised_prompt"), f.Numbers("cost"), f.Texts("model"))
	}
	images := f.Images("image")
	if images[0].Path == "" || images[0].SHA256 == images[1].SHA256 || images[2].Path != "" {
		t.Errorf("images %+v", images[:3])
	}
	must.True(t, s.asked["house"] == 2 && s.asked["forbidden house"] == 2 && s.key == "Bearer sk-test-secret",
		"asked %v", s.asked)

	// A second run requests only the failed prompts that may succeed.
	failed := 0
	for _, o := range outcomes[4:] {
		if o == "failed" {
			failed++
		}
	}
	before := s.asked["broken house"]
	again := must.Get(table.Rows(context.Background()))(t)
	must.True(t, s.asked["house"] == 2 && s.asked["forbidden house"] == 2 && s.asked["broken house"] == before+failed,
		"asked again: %v, before %d, %d failed", s.asked, before, failed)
	must.True(t, !slices.Contains(again.Texts("outcome"), "failed") && again.Images("image")[0] == images[0],
		"outcomes the second time: %v, %q", again.Texts("outcome"), again.Texts("reason"))

	// Where every row is stored, nothing is requested, not even the list of models.
	listed := s.listed
	if _, err := table.Rows(context.Background()); err != nil || s.listed != listed || listed != 2 {
		t.Errorf("%v; %d requests for the list, before %d", err, s.listed, listed)
	}
	must.True(t, failed != 0, "no answer broke off: the test shows nothing of what may pass")
}

// TestPaidOnce: four clients request the same twelve images at once, and one of them ends early. Each image is
// requested once, and all that stay have it.
func TestPaidOnce(t *testing.T) {
	s := newImageServer(t)
	evaluator(t)
	var rows []map[string]any
	for i := range 12 {
		rows = append(rows, map[string]any{"id": fmt.Sprint(i), "prompt": fmt.Sprint("house ", i)})
	}
	plan := must.Get(gomlxmodels.Generate("api:house-painter", datasets.FromRows(rows),
		gomlxmodels.GenerateOptions{API: gomlxmodels.APIOptions{Price: 0.04}}).Plan())(t)
	early, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			ctx := t.Context()
			if i == 0 {
				ctx = early
			}
			res, err := client.Registered().Run(ctx, client.Request{Plan: plan, Batch: i + 1}, nil)
			if i > 0 && (err != nil || res.Rows != 12 || slices.Contains(res.Frame.Texts("outcome"), "failed")) {
				t.Errorf("client %d: %+v, %v", i, res, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	end()
	wg.Wait()
	for prompt, times := range s.asked {
		must.Equal(t, times, 1, prompt, "was requested", "times")
	}
	must.Equal(t, len(s.asked), 12, "prompts were requested")
}

// TestAddressOfTheClient: a request goes to the address that the client's environment had when it made the table, with
// the client's key, whatever the environment of the process that runs it. The address is in the plan and the digest.
func TestAddressOfTheClient(t *testing.T) {
	evaluator(t)
	var servers [3]*imageServer // the last is that of the process
	var plans [2]*table.Plan
	for i := range servers {
		servers[i] = newImageServer(t)
		if i == len(plans) {
			break
		}
		plan, err := gomlxmodels.Generate("api:house-painter",
			datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}}),
			gomlxmodels.GenerateOptions{API: gomlxmodels.APIOptions{Price: 0.04}}).Plan()
		if err != nil || !strings.Contains(string(plan.Args), os.Getenv("OPENAI_BASE_URL")) {
			t.Fatalf("%s: %v", plan.Args, err)
		}
		plans[i] = plan
	}
	t.Setenv("OPENAI_API_KEY", "sk-of-the-process")
	for i, plan := range plans {
		key := fmt.Sprint("sk-of-client-", i)
		res, err := client.Registered().Run(t.Context(), client.Request{Plan: plan,
			Secrets: map[string]string{"OPENAI_API_KEY": key}}, nil)
		if err != nil || res.Computed != 1 || servers[i].asked["house"] != 1 || servers[i].key != "Bearer "+key {
			t.Errorf("client %d: %+v, %v; requests %v with %q", i, res, err, servers[i].asked, servers[i].key)
		}
	}
	if len(servers[2].asked) > 0 || servers[2].listed > 0 {
		t.Errorf("requests to the address of the process: %v, and %d lists", servers[2].asked, servers[2].listed)
	}
}

func TestGenerateRefuses(t *testing.T) {
	evaluator(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "house"}})
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("OPENAI_BASE_URL", "")
	type o = gomlxmodels.GenerateOptions
	type api = gomlxmodels.APIOptions
	for want, table := range map[string]datasets.Table{
		"Steps is for a pipeline of diffusers": gomlxmodels.Generate("api:gpt-image-2", prompts, o{Steps: 20}),
		"OpenAI's own API does not take seed": gomlxmodels.Generate("api:gpt-image-2", prompts,
			o{API: api{Extra: []string{"seed"}}}),
		`API.Extra is "sampler"; it must be one of seed`: gomlxmodels.Generate("api:mine", prompts,
			o{API: api{BaseURL: "http://localhost:1/v1", Extra: []string{"seed", "sampler"}}}),
		"server that takes guidance_scale (API.Extra": gomlxmodels.Generate("api:mine", prompts, o{Steps: 20,
			Guidance: 3, API: api{BaseURL: "http://localhost:1/v1", Extra: []string{"num_inference_steps"}}}),
		"Negative is for": gomlxmodels.Generate("api:mine", prompts, o{Negative: "people"}),
		"(exec:PATH), not for an image API": gomlxmodels.Generate("api:mine", prompts,
			o{Scheduler: "ddim"}),
		"API.ModelDigest is for an image API (api:NAME), not for a pipeline": gomlxmodels.Generate("some/model",
			prompts,
			o{API: api{ModelDigest: "1"}}),
		"model shut down 2026-05-12: dall-e-3; import existing": gomlxmodels.Generate("api:dall-e-3", prompts),
		"each side must be a multiple of 16": gomlxmodels.Generate("api:gpt-image-2", prompts,
			o{Width: 1000, Height: 1000}),
		`quality "hd" of gpt-image-2`: gomlxmodels.Generate("api:gpt-image-2", prompts, o{API: api{Quality: "hd"}}),
		"API.Price is -1; it must be above 0": gomlxmodels.Generate("api:gpt-image-2", prompts,
			o{API: api{Price: -1}}),
		"API.BudgetImages is -1; it must be at least 0": gomlxmodels.Generate("api:gpt-image-2", prompts,
			o{API: api{BudgetImages: -1}}),
		"API.Budget is for an image API (api:NAME) or a program": gomlxmodels.Generate("some/model", prompts,
			o{API: api{Budget: 3}}),
		"models pull some/model":                         gomlxmodels.Generate("some/model", prompts),
		"OPENAI_API_KEY":                                 gomlxmodels.Generate("api:gpt-image-2", prompts),
		`no such column: "prompt"`:                       gomlxmodels.Generate("some/model", prompts.Select("id")),
		"Steps is -1; it must be at least 1 and at most": gomlxmodels.Generate("some/model", prompts, o{Steps: -1}),
		"a multiple of 8": gomlxmodels.Generate("some/model", prompts,
			gomlxmodels.GenerateOptions{Width: 100, Height: 100}),
		`Scheduler is "magic"; it must be one of ddim`: gomlxmodels.Generate("some/model", prompts,
			gomlxmodels.GenerateOptions{Scheduler: "magic"}),
		"is no whole number from 0 to": gomlxmodels.Generate("some/model", prompts.With("seed", -1)),
	} {
		_, err := table.Rows(context.Background())
		must.Err(t, err, want)
	}
}
