package all

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	"antipode/test/stagetest"
)

// chatServer is a chat API that answers as a word in the question asks it to. It counts the requests by question.
type chatServer struct {
	mu    sync.Mutex
	asked map[string]int
	paid  map[string]int // complete answers by question, seed and order of the choices
	sent  []map[string]any
	url   string
}

const chatKey = "sk-test-of-the-judge"

func newChatServer(t *testing.T) *chatServer {
	t.Helper()
	s := &chatServer{asked: map[string]int{}, paid: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/v1"
	t.Setenv("OPENAI_BASE_URL", s.url)
	t.Setenv("OPENAI_API_KEY", chatKey)
	t.Setenv("HTTP_PROXY", "")
	t.Setenv("http_proxy", "")
	return s
}

// letterJSON is an answer with log-probabilities 0.8 and 0.2 for A and B.
const letterJSON = `{"choices":[{"message":{"content":"A"},"finish_reason":"stop","logprobs":{"content":[{` +
	`"token":"A","logprob":-0.22314355131420976,"top_logprobs":[{"token":"A","logprob":-0.22314355131420976},{"token":" B",` +
	`"logprob":-1.6094379124341003}]}]}}]}`

func textJSON(text, more string) string {
	return fmt.Sprintf(`{"choices":[{"message":{"content":%q%s},"finish_reason":"stop"}]}`, text, more)
}

func (s *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	messages := body["messages"].([]any)
	content := messages[len(messages)-1].(map[string]any)["content"].([]any)
	text := content[1].(map[string]any)["text"].(string)
	question, _, _ := strings.Cut(text, "\n")
	s.mu.Lock()
	s.asked[question]++
	times := s.asked[question]
	s.sent = append(s.sent, body)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fail := func(status int, text string) { w.WriteHeader(status); fmt.Fprint(w, text) }
	has := func(word string) bool { return strings.Contains(question, word) }
	answer := letterJSON
	switch {
	case has("slow") && times == 1:
		time.Sleep(50 * time.Millisecond)
	case has("cut") && times == 1, has("always") && has("reset"):
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(letterJSON[:40]))
		panic(http.ErrAbortHandler)
	case has("reset") && times == 1: // after payment
		panic(http.ErrAbortHandler)
	case has("limited") && times == 1:
		w.Header().Set("Retry-After-Ms", "20")
		fail(http.StatusTooManyRequests, `{"error":{"message":"slow down, `+chatKey+`"}}`)
		return
	case has("invalid"):
		answer = `{"choices": 7}`
	case has("refused"):
		answer = textJSON("", `,"refusal":"I cannot judge people, `+chatKey+`"`)
	case has("filtered"):
		fail(http.StatusBadRequest, `{"error":{"code":"content_filter","message":"blocked"}}`)
		return
	case has("sorry"):
		answer = textJSON("I'm sorry, I can't help with that.", "")
	case has("wrong"):
		answer = textJSON("D, your key is "+chatKey, "")
	case has("extra"):
		answer = textJSON("The answer is **B**, because of the light.", "")
	case has("without") && body["logprobs"] != nil:
		fail(http.StatusBadRequest, `{"object":"error","message":"logprobs is not supported by this model","code":400}`)
		return
	case has("newer") && body["max_tokens"] != nil:
		fail(http.StatusBadRequest, `{"error":{"message":"Unsupported parameter: 'max_tokens'"}}`)
		return
	case has("newer"), has("without"):
		answer = textJSON("A", "")
	case has("reasons"):
		answer = `{"choices":[{"message":{"content":null},"finish_reason":"length"}]}`
	case has("different"):
		answer = textJSON([]string{"A", "B", "A", "maybe"}[int(body["seed"].(float64))%4], "")
	}
	s.mu.Lock()
	s.paid[fmt.Sprint(text, body["seed"])]++
	s.mu.Unlock()
	fmt.Fprint(w, answer)
}

// scenesWith is a table of n images, with the values of a column.
func scenesWith(t *testing.T, column string, values ...string) datasets.Table {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	fmt.Fprintf(&b, "id,image,region,%s\n", column)
	for i, img := range stagetest.Scenes(t, len(values)) {
		must.Do(t, os.Rename(img.Path, filepath.Join(dir, fmt.Sprintf("p%d.png", i))))
		fmt.Fprintf(&b, "p%d,p%d.png,%s,%s\n", i, i, []string{"north", "south"}[i%2], values[i])
	}
	file := filepath.Join(dir, "t.csv")
	must.Do(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return datasets.CSV(file)
}

// TestAskChat: what becomes of a question when the server misbehaves. Every complete answer is requested once, also by
// another run, and the key is in no file, message or column.
func TestAskChat(t *testing.T) {
	s := newChatServer(t)
	home := t.TempDir()
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, Use(home))
	const none = "failed the answer names none of the choices: "
	words := []string{"good", "slow", "cut", "reset", "limited", "invalid", "refused", "filtered", "sorry", "wrong",
		"extra", "reasons", "always reset"}
	wants := []string{"yes logits ok ", "yes logits ok ", "yes logits ok ", "yes logits ok ", "yes logits ok ",
		"  failed the answer is not the JSON of an API for answers", "  refused I cannot judge people, [key]",
		"  refused blocked (content_filter)", "  refused I'm sorry, I can't help with that.",
		"  " + none + `"D, your key is [key]"`, "no none ok ", "  failed the answer is cut off before it begins",
		"  failed may pass: "}
	images := scenesWith(t, "word", words...)
	ask := func(o gomlxmodels.AskOptions) (*table.Frame, []string) {
		t.Helper()
		o.Question, o.Choices = "Is it {word}?", []string{"yes", "no", "cannot tell"}
		plan := must.Get(gomlxmodels.Ask("chat:judge", images, o).Plan())(t)
		res := must.Get(client.Registered().Run(t.Context(), client.Request{Plan: plan}, nil))(t)
		return res.Frame, res.Notes
	}
	f, notes := ask(gomlxmodels.AskOptions{System: "You judge images.", Chat: gomlxmodels.ChatOptions{Price: 0.01,
		ImageSize: 32}})
	for i, want := range wants {
		got := strings.Join([]string{f.Texts("answer")[i], f.Texts("answer_source")[i], f.Texts("answer_outcome")[i],
			f.Texts("answer_reason")[i]}, " ")
		p := f.Numbers("answer_p_yes")[i]
		must.True(t, strings.HasPrefix(got, want) && strings.Contains(want, "logits") == (math.Abs(p-0.8) < 1e-9),
			"%s: %q with %v, want %q", words[i], got, p, want)
		wantCost := map[string]float64{"cut": 0.02, "reset": 0.02, "always reset": 0.02, "filtered": 0}
		if cost := f.Numbers("answer_cost")[i]; math.Abs(cost-0.01) > 1e-9 && math.Abs(cost-wantCost[words[i]]) > 1e-9 {
			t.Errorf("%s: cost %v", words[i], cost)
		}
	}
	first := s.sent[0]
	url := fmt.Sprint(first["messages"].([]any)[1])
	if first["model"] != "judge" || first["temperature"] != 0.0 || first["max_tokens"] != 64.0 ||
		first["logprobs"] != true || first["top_logprobs"] != 20.0 ||
		!strings.Contains(url, "data:image/png;base64,iVBOR") ||
		!strings.Contains(url, "A. yes\nB. no\nC. cannot tell\nAnswer with the letter") {
		t.Errorf("the request is %.600v", first)
	}
	lines := strings.Join(notes, "\n")
	// notes
	must.Has(t, lines, "3 of 13 answers are refused (region: north 2 of 7, south 1 of 6)",
		"1 of 13 answers name none of the choices", "3 of 13 answers failed for another reason")
	for what, n := range s.paid {
		must.Equal(t, n, 1, "requests for a complete answer", what)
	}
	before := len(s.sent)
	must.Do(t, os.RemoveAll(filepath.Join(home, "items"))) // as if the process had ended before a batch was stored
	must.Do(t, Use(home))
	again, _ := ask(gomlxmodels.AskOptions{System: "You judge images.", Chat: gomlxmodels.ChatOptions{Price: 0.01,
		ImageSize: 32}})
	if asked := len(s.sent) - before; asked != 2 { // for the one that may pass
		t.Errorf("%d requests of a second run", asked)
	}
	must.EqualSlices(t, again.Texts("answer"), f.Texts("answer"), "answers of a second run")
	noKey(t, home, []byte(chatKey), lines, fmt.Sprint(f.Columns))
}

// noKey checks that a key is in no file of a folder and in none of the texts.
func noKey(t *testing.T, home string, key []byte, texts ...string) {
	t.Helper()
	files := 0
	must.Do(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		must.True(t, !bytes.Contains(data, key), "the key is in %s", path)
		return err
	}))
	for _, text := range texts {
		must.True(t, !strings.Contains(text, string(key)), "the key is in %.300s", text)
	}
	must.True(t, files != 0, "there are no files")
}

// TestAskChatFields: fields that a server refuses are left out; samples, orders and formats.
func TestAskChatFields(t *testing.T) {
	s := newChatServer(t)
	evaluator(t)
	images := scenesWith(t, "word", "x")
	choices := []string{"yes", "no"}
	for _, c := range []struct {
		name     string
		o        gomlxmodels.AskOptions
		answer   string
		source   string
		p        float64
		requests int
		check    func(body map[string]any, text string) bool
	}{
		{"without", gomlxmodels.AskOptions{}, "yes", "none", math.NaN(), 2,
			func(b map[string]any, _ string) bool { return b["logprobs"] == nil && b["top_logprobs"] == nil }},
		{"newer", gomlxmodels.AskOptions{}, "yes", "none", math.NaN(), 2,
			func(b map[string]any, _ string) bool { return b["max_completion_tokens"] == 64.0 }},
		{"different", gomlxmodels.AskOptions{Seed: 4, Chat: gomlxmodels.ChatOptions{Samples: 4}}, "yes", "samples",
			2.0 / 3, 4,
			func(b map[string]any, _ string) bool { return b["temperature"] == nil }},
		{"permuted", gomlxmodels.AskOptions{Permute: true}, "yes", "logits", 0.5, 2,
			func(b map[string]any, text string) bool { return b["seed"] == 0.0 }},
		{"words", gomlxmodels.AskOptions{Chat: gomlxmodels.ChatOptions{Format: "words"}}, "failed", "", math.NaN(), 1,
			func(_ map[string]any, text string) bool { return strings.Contains(text, "Choices: yes; no\n") }},
		{"plain", gomlxmodels.AskOptions{Chat: gomlxmodels.ChatOptions{Format: "plain"}}, "failed", "", math.NaN(), 1,
			func(_ map[string]any, text string) bool { return text == "plain?" }},
	} {
		before := len(s.sent)
		c.o.Question, c.o.Choices = c.name+"?", choices
		f := must.Get(gomlxmodels.Ask("chat:judge", images, c.o).Rows(t.Context()))(t)
		answer, p := f.Texts("answer")[0], f.Numbers("answer_p_yes")[0]
		if answer == "" {
			answer = f.Texts("answer_outcome")[0]
		}
		last := s.sent[len(s.sent)-1]
		messages := last["messages"].([]any)
		text := messages[0].(map[string]any)["content"].([]any)[1].(map[string]any)["text"].(string)
		if answer != c.answer || f.Texts("answer_source")[0] != c.source || len(s.sent)-before != c.requests ||
			math.Abs(p-c.p) > 1e-9 || math.IsNaN(p) != math.IsNaN(c.p) || !c.check(last, text) {
			t.Errorf("%s: %q from %q with %v in %d requests; the last was %.300v", c.name, answer,
				f.Texts("answer_source")[0], p, len(s.sent)-before, last)
		}
	}
	many := scenesWith(t, "word", "a", "b", "c", "d", "e", "f") // of which four are asked at once, with logprobs
	fresh := gomlxmodels.AskOptions{Question: "without {word}?", Choices: choices, System: "Be brief."}
	f := must.Get(gomlxmodels.Ask("chat:judge", many, fresh).Rows(t.Context()))(t)
	if slices.ContainsFunc(f.Texts("answer"), func(a string) bool { return a != "yes" }) {
		t.Errorf("answers %q, %q", f.Texts("answer"), f.Texts("answer_reason"))
	}
	more := gomlxmodels.AskOptions{Question: "different?", Choices: choices, Seed: 4,
		Chat: gomlxmodels.ChatOptions{Samples: 8}}
	before := len(s.sent)
	if must.Get(gomlxmodels.Ask("chat:judge", images, more).Rows(t.Context()))(t); len(s.sent)-before != 4 {
		t.Errorf("%d requests for four more samples", len(s.sent)-before)
	}
	budget := gomlxmodels.AskOptions{Question: "budget {word}?", Choices: choices, Permute: true,
		Chat: gomlxmodels.ChatOptions{BudgetRequests: 1}}
	_, err := gomlxmodels.Ask("chat:judge", images, budget).Rows(t.Context())
	must.Err(t, err, "1 of 1 answers are paid or requested; answers are stored")
	for want, o := range map[string]gomlxmodels.AskOptions{
		"Exec.Workers is for a program (exec:PATH), not for a chat model": {Question: "?", Choices: choices,
			Exec: gomlxmodels.ExecOptions{Workers: 2}},
		"format plain lists no choices": {Question: "?", Choices: choices, Permute: true,
			Chat: gomlxmodels.ChatOptions{Format: "plain"}},
		`no such column: "nowhere"`: {Question: "{nowhere}?", Choices: choices},
		`no such column: "choices"`: {Question: "?"},
	} {
		must.Fail(gomlxmodels.Ask("chat:judge", images, o).Plan())(t, want)
	}
}

// TestAskQuestions: each question of a table is asked about each image, or about those of its prompt, with its choices.
func TestAskQuestions(t *testing.T) {
	newChatServer(t)
	evaluator(t)
	images := scenesWith(t, "prompt_id", "a", "b", "c")
	questions := datasets.FromRows([]map[string]any{
		{"id": "q1", "question": "good one?", "choices": "yes|no", "wanted": "yes", "prompt_id": "a"},
		{"id": "q2", "question": "extra?", "choices": "red|blue|cannot tell", "wanted": "red", "prompt_id": "b"},
		{"id": "q3", "question": "sorry?", "choices": "yes|no", "wanted": "", "prompt_id": "b"}})
	f := must.Get(gomlxmodels.Ask("chat:judge", images.Questions(questions, "prompt_id"),
		gomlxmodels.AskOptions{Shuffle: true}).Rows(t.Context()))(t)
	if got := strings.Join(f.Texts("id"), " "); got != "p0#q1 p1#q2 p1#q3" ||
		strings.Join(f.Texts("image_id"), " ") != "p0 p1 p1" || f.Texts("question_id")[1] != "q2" {
		t.Fatalf("rows %s", got)
	}
	p := strings.Split(f.Texts("answer_probabilities")[0], "|")
	yes := slices.Contains([]string{"yes"}, f.Texts("answer")[0])
	if wanted := f.Numbers("answer_p_wanted")[0]; len(p) != 2 || f.Numbers("answer_p")[0] < 0.799 ||
		yes != (f.Numbers("answer_correct")[0] == 1) || yes != (wanted > 0.5) || p[0] != table.NumberText(wanted) {
		t.Errorf("%q %v, %v", p, wanted, f.Numbers("answer_correct"))
	}
	if f.Texts("answer_outcome")[2] != "refused" || !math.IsNaN(f.Numbers("answer_correct")[2]) ||
		f.Texts("answer_source")[1] != "none" || f.Texts("answer_probabilities")[1] != "" {
		t.Errorf("%q, %v", f.Texts("answer_outcome"), f.Numbers("answer_correct"))
	}
	every := must.Get(images.Questions(questions.Select("id", "question", "choices", "wanted")).Rows(t.Context()))(t)
	must.True(t, every.Len() == 9 && every.Texts("id")[8] == "p2#q3", "%q", every.Texts("id"))
	must.Fail(images.Questions(questions).Plan())(t, `a column "prompt_id"`)
	bad := datasets.FromRows([]map[string]any{{"id": "q", "question": "?", "choices": "yes", "wanted": "no"}})
	_, err := gomlxmodels.Ask("chat:judge", images.Questions(bad), gomlxmodels.AskOptions{}).Rows(t.Context())
	must.Err(t, err, "1 choices: give 2 to 64")
}

// TestAskPaidOnce: three clients ask the same questions at once, and one of them ends early. Each answer is requested
// once.
func TestAskPaidOnce(t *testing.T) {
	s := newChatServer(t)
	evaluator(t)
	images := scenesWith(t, "word", slices.Repeat([]string{"good"}, 12)...)
	plan := must.Get(gomlxmodels.Ask("chat:judge", images, gomlxmodels.AskOptions{Question: "good {id}?",
		Choices: []string{"yes", "no"}}).Plan())(t)
	early, end := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for i := range 3 {
		wait.Go(func() {
			ctx := t.Context()
			if i == 0 {
				ctx = early
			}
			res, err := client.Registered().Run(ctx, client.Request{Plan: plan, Batch: i + 1}, nil)
			if i > 0 && (err != nil || slices.Contains(res.Frame.Texts("answer"), "")) {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	time.Sleep(20 * time.Millisecond)
	end()
	wait.Wait()
	for what, n := range s.paid {
		must.Equal(t, n, 1, "requests for", what)
	}
	must.Equal(t, len(s.paid), 12, "answers")
}
