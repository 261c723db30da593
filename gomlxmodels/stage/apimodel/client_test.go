package apimodel

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/must"
)

func TestImage(t *testing.T) {
	file := pngFile(t)
	f := newFake(t, give(200, imageJSON(file, "")))
	r := must.Get(f.generator(t, nil).Generate(t.Context(), "a red house", nil))(t)
	if r.Outcome != OK || r.Reason != "" || !bytes.Equal(r.Image, file) || r.Type != "image/png" || r.Width != 5 ||
		r.Height != 3 {
		t.Errorf("%+v", r)
	}
	if r.RevisedPrompt != "a red house, at dusk" || r.Cost != 0.040 || r.Requests != 1 {
		t.Errorf("%+v", r)
	}
	want := map[string]any{"model": "house-painter", "prompt": "a red house", "n": 1.0, "size": "1024x1024",
		"quality": "standard", "response_format": "b64_json"}
	must.Equal(t, fmt.Sprint(f.asked[0]), fmt.Sprint(want), f.asked[0], want)
	must.Equal(t, f.headers[0].Get("Authorization"), "Bearer "+testKey, "the key is not sent")
}

// TestFields: further fields are sent, and do not replace those of the API.
func TestFields(t *testing.T) {
	f := newFake(t, give(200, imageJSON(pngFile(t), "")))
	r, err := f.generator(t, nil).Generate(t.Context(), "a red house", map[string]any{"seed": 7, "n": 4,
		"negative_prompt": "people"})
	want := map[string]any{"model": "house-painter", "prompt": "a red house", "n": 1.0, "size": "1024x1024",
		"quality": "standard", "response_format": "b64_json", "seed": 7.0, "negative_prompt": "people"}
	if err != nil || r.Outcome != OK || fmt.Sprint(f.asked[0]) != fmt.Sprint(want) {
		t.Errorf("%v; asked %v, want %v", err, f.asked[0], want)
	}
}

// TestMisbehaving: what becomes of a prompt when the server misbehaves, in how many requests, at what cost.
func TestMisbehaving(t *testing.T) {
	file := pngFile(t)
	good := give(200, imageJSON(file, ""))
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte(`{"data": [{"b64_json": "iVBORw0`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		block := bytes.Repeat([]byte(" "), 1<<20)
		for range maxAnswer>>20 + 1 {
			if _, err := z.Write(block); err != nil {
				return
			}
		}
		_ = z.Close()
	}
	huge := bytes.Clone(file)
	copy(huge[16:], []byte{0, 0, 0xf0, 0, 0, 0, 0xf0, 0}) // 61440×61440 pixels
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	const limited = "rate_limit_exceeded"
	for _, c := range []struct {
		name     string
		handlers []http.HandlerFunc
		outcome  string
		reason   string
		err      string
		requests int
		paid     int
		waits    []time.Duration // exact, or −1 = the generator's own
	}{
		{"429 with Retry-After", []http.HandlerFunc{give(429, problemJSON(limited, "slow down"), "Retry-After", "17"),
			good}, OK, "", "", 2, 1, []time.Duration{17 * time.Second}},
		{"429 with a date", []http.HandlerFunc{give(429, "{}", "Retry-After", "Sun, 01 Mar 2026 12:01:30 GMT"), good},
			OK, "", "", 2, 1, []time.Duration{90 * time.Second}},
		{"429 with milliseconds", []http.HandlerFunc{give(429, "{}", "Retry-After-Ms", "250", "Retry-After", "1"),
			good}, OK, "", "", 2, 1, []time.Duration{250 * time.Millisecond}},
		{"429 without", []http.HandlerFunc{give(429, "{}"), good}, OK, "", "", 2, 1, []time.Duration{-1}},
		{"429 for hours", []http.HandlerFunc{give(429, "{}", "Retry-After", "7200")}, Failed, "", "asks to wait 2h", 1,
			0, nil},
		{"429 for ever", []http.HandlerFunc{give(429, problemJSON(limited, "slow down"), "Retry-After", "1")}, Failed,
			"slow down (rate_limit_exceeded)", "", 4, 0, []time.Duration{time.Second, time.Second, time.Second}},
		{"quota", []http.HandlerFunc{give(429, problemJSON("insufficient_quota", "pay first"))}, Failed, "",
			"pay first", 1, 0, nil},
		{"billing limit", []http.HandlerFunc{give(400, problemJSON("billing_hard_limit_reached", "limit"))}, Failed, "",
			"billing_hard_limit_reached", 1, 0, nil},
		{"500 twice", []http.HandlerFunc{give(500, "oops"), give(503, ""), good}, OK, "", "", 3, 1,
			[]time.Duration{-1, -1}},
		{"time-out once", []http.HandlerFunc{slow, good}, OK, "", "", 2, 2, []time.Duration{-1}},
		{"time-out", []http.HandlerFunc{slow}, Failed, "it took more than", "", 2, 2, []time.Duration{-1}},
		{"gateway's time-out", []http.HandlerFunc{give(504, "")}, Failed, "status 504", "", 2, 2, []time.Duration{-1}},
		{"half a body once", []http.HandlerFunc{half, good}, OK, "", "", 2, 2, []time.Duration{-1}},
		{"half a body", []http.HandlerFunc{half}, Failed, "cut off", "", 2, 2, []time.Duration{-1}},
		{"half a JSON", []http.HandlerFunc{give(200, `{"data": [{"b64`), good}, OK, "", "", 2, 2, []time.Duration{-1}},
		{"refused by content policy", []http.HandlerFunc{give(400,
			problemJSON("content_policy_violation", "Your request was rejected as a result of our safety system."))},
			Refused, "content_policy_violation", "", 1, 0, nil},
		{"refused by a GPT image model", []http.HandlerFunc{give(400, problemJSON("moderation_blocked", "blocked"))},
			Refused, "moderation_blocked", "", 1, 0, nil},
		{"refused without a code",
			[]http.HandlerFunc{give(400, `{"error": {"code": null, "message": "Rejected by our safety system"}}`)},
			Refused, "safety system", "", 1, 0, nil},
		{"refused with status 200",
			[]http.HandlerFunc{give(200, `{"error": {"code": "content_filter", "message": "no"}}`)}, Refused,
			"content_filter", "", 1, 0, nil},
		{"bad request", []http.HandlerFunc{give(400, problemJSON("invalid_value", "size is wrong"))}, Failed,
			"size is wrong (invalid_value)", "", 1, 0, nil},
		{"error as text", []http.HandlerFunc{give(400, `{"error": "no such size"}`)}, Failed, "no such size", "", 1, 0,
			nil},
		{"unknown model", []http.HandlerFunc{give(404, problemJSON("model_not_found", "no such model"))}, Failed, "",
			"no such model", 1, 0, nil},
		{"image bomb", []http.HandlerFunc{give(200, imageJSON(huge, ""))}, Failed, "too large", "", 1, 1, nil},
		{"compressed bomb", []http.HandlerFunc{bomb}, Failed, "more than 64 MiB", "", 1, 1, nil},
		{"no image", []http.HandlerFunc{give(200, imageJSON([]byte("<svg/>"), ""))}, Failed, "an SVG drawing", "",
			1, 1, nil},
		{"damaged image", []http.HandlerFunc{give(200, imageJSON(file[:len(file)-20], ""))}, Failed,
			"not a readable PNG", "", 1, 1, nil},
		{"no base64", []http.HandlerFunc{give(200, `{"data": [{"b64_json": "%%%"}]}`)}, Failed, "not base64", "", 1, 1,
			nil},
		{"data address", []http.HandlerFunc{give(200,
			`{"data": [{"b64_json": "data:image/png;base64,`+base64.StdEncoding.EncodeToString(file)+`"}]}`)}, OK, "",
			"", 1, 1, nil},
		{"empty", []http.HandlerFunc{give(200, `{"data": []}`)}, Failed, "no image", "", 1, 1, nil},
		{"nothing", []http.HandlerFunc{give(200, `{"data": [{}]}`)}, Failed, "neither", "", 1, 1, nil},
		{"wrong JSON", []http.HandlerFunc{give(200, `{"data": 7}`)}, Failed, "not the JSON", "", 1, 1, nil},
		{"wrong content type", []http.HandlerFunc{give(200, "<html>", "Content-Type", "text/html")}, Failed,
			"text/html", "", 1, 1, nil},
		{"redirect", []http.HandlerFunc{give(307, "", "Location", "/elsewhere")}, Failed, "", "redirect", 1, 0, nil},
		{"file elsewhere", []http.HandlerFunc{give(200, `{"data": [{"url": "http://127.0.0.2:9/x.png"}]}`)}, Failed,
			"only https", "", 1, 1, nil},
		{"file on disk", []http.HandlerFunc{give(200, `{"data": [{"url": "file:///etc/passwd"}]}`)}, Failed,
			"URL is not allowed", "", 1, 1, nil},
		{"file with a user", []http.HandlerFunc{give(200, `{"data": [{"url": "https://a:b@example.com/x.png"}]}`)},
			Failed, "URL is not allowed", "", 1, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.handlers...)
			g := f.generator(t, func(o *Options) {
				o.Retries = 3
				if strings.HasPrefix(c.name, "time-out") {
					o.Timeout = time.Second
				}
			})
			r, err := g.Generate(t.Context(), "a red house", nil)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if r.Outcome != c.outcome || err == nil && !strings.Contains(r.Reason, c.reason) ||
				(r.Image != nil) != (c.outcome == OK) {
				t.Errorf("%s, %q, %d bytes; want %s, %q", r.Outcome, r.Reason, len(r.Image), c.outcome, c.reason)
			}
			asked, fetched := f.counts()
			must.Equal(t, asked, c.requests)
			must.Equal(t, r.Requests, c.requests)
			must.Near(t, r.Cost, 0.040*float64(c.paid), 1e-9, "cost")
			must.Near(t, g.spent, 0.040*float64(c.paid), 1e-9)
			must.Equal(t, fetched, 0, "files fetched")
			checkWaits(t, f.waits, c.waits)
		})
	}
}

// checkWaits compares waits; −1 stands for one of the generator's own, which grow from a second on.
func checkWaits(t *testing.T, got, want []time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("waits %v, want %v", got, want)
		return
	}
	for i, w := range want {
		least := time.Second << i
		if w >= 0 && got[i] != w || w < 0 && (got[i] < least || got[i] > least+least/4) {
			t.Errorf("waits %v, want %v", got, want)
			return
		}
	}
}

// TestAddress: an image behind an address is fetched again where that fails, and never made again.
func TestAddress(t *testing.T) {
	file := pngFile(t)
	raw := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) }
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(file)))
		_, _ = w.Write(file[:20])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	long := func(w http.ResponseWriter, _ *http.Request) {
		block := make([]byte, 1<<20)
		for range maxImage>>20 + 1 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for _, c := range []struct {
		name    string
		files   []http.HandlerFunc
		outcome string
		reason  string
		fetched int
	}{
		{"fetched", []http.HandlerFunc{raw}, OK, "", 1},
		{"trouble first", []http.HandlerFunc{give(503, ""), cut, raw}, OK, "", 3},
		{"gone", []http.HandlerFunc{give(404, "")}, Failed, "status 404", 1},
		{"trouble for ever", []http.HandlerFunc{give(500, "")}, Failed, "status 500", 4},
		{"redirect", []http.HandlerFunc{give(302, "", "Location", "/other.png")}, Failed, "status 302", 1},
		{"too long", []http.HandlerFunc{long}, Failed, "more than 48 MiB", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f *fake
			first := func(w http.ResponseWriter, r *http.Request) {
				give(200, fmt.Sprintf(`{"data": [{"url": %q}]}`, f.URL+"/files/x.png?sig=secret-signature"))(w, r)
			}
			f = newFake(t, append([]http.HandlerFunc{first}, c.files...)...)
			r := must.Get(f.generator(t, func(o *Options) { o.Retries = 3 }).Generate(t.Context(), "a red house",
				nil))(t)
			if r.Outcome != c.outcome || !strings.Contains(r.Reason, c.reason) ||
				strings.Contains(r.Reason, "signature") {
				t.Errorf("%s, %q; want %s, %q", r.Outcome, r.Reason, c.outcome, c.reason)
			}
			if asked, fetched := f.counts(); asked != 1 || fetched != c.fetched || r.Cost != 0.040 {
				t.Errorf("%d requests, %d fetched, cost %v; want 1, %d, 0.04", asked, fetched, r.Cost, c.fetched)
			}
		})
	}
}

// TestKeyIsSecret: neither errors nor printed values hold the key, whole or with stars.
func TestKeyIsSecret(t *testing.T) {
	f := newFake(t, give(401,
		problemJSON("invalid_api_key", "Incorrect API key provided: "+testKey+" or sk-test-****ghij.")))
	o := Options{Key: testKey}
	g := f.generator(t, nil)
	_, err := g.Generate(t.Context(), "a red house", nil)
	if asked, _ := f.counts(); err == nil || asked != 1 {
		t.Fatalf("error %v after %d requests", err, asked)
	}
	printed := fmt.Sprintf("%v %+v %#v %s %v %+v %#v", o, o, o, o.Key, g, g, g)
	for _, text := range []string{err.Error(), printed} {
		if strings.Contains(text, "0123456789") || strings.Contains(text, "ghij") {
			t.Errorf("the key shows in %s", text)
		}
	}
	const token = "token-of+another/form-0123456789"
	f = newFake(t, give(400, problemJSON("bad", "you sent "+token+" or "+url.QueryEscape(token))))
	g = f.generator(t, func(o *Options) { o.Key = Secret(token) })
	must.Equal(t, must.Get(g.Generate(t.Context(), "a red house", nil))(t).Reason,
		"status 400: you sent [key] or [key] (bad)")
}

// TestBudget checks that concurrent goroutines together never request more than the budget allows.
func TestBudget(t *testing.T) {
	t.Run("dollars", func(t *testing.T) { budget(t, func(o *Options) { o.Budget = 0.13 }) }) // three images of 0.04
	t.Run("images", func(t *testing.T) { budget(t, func(o *Options) { o.BudgetPaid = 3 }) })
}

// budget requests eight images with a budget for three.
func budget(t *testing.T, change func(*Options)) {
	f := newFake(t, give(200, imageJSON(pngFile(t), "")))
	g := f.generator(t, change)
	var wait sync.WaitGroup
	var mu sync.Mutex
	made, refusals := 0, 0
	for range 8 {
		wait.Go(func() {
			r, err := g.Generate(t.Context(), "a red house", nil)
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, ErrBudget) {
				refusals++
			} else if err == nil && r.Outcome == OK {
				made++
			}
		})
	}
	wait.Wait()
	if asked, _ := f.counts(); made != 3 || refusals != 5 || asked != 3 || math.Abs(g.spent-0.12) > 1e-9 {
		t.Errorf("%d made, %d over budget, %d requests, spent %v", made, refusals, asked, g.spent)
	}
}

// TestBudgetOfRefusals: what is not paid does not use up the budget.
func TestBudgetOfRefusals(t *testing.T) {
	no := give(400, problemJSON("moderation_blocked", "no"))
	f := newFake(t, no, no, no, give(200, imageJSON(pngFile(t), "")))
	g := f.generator(t, func(o *Options) { o.Budget = 0.05 })
	for i, want := range []string{Refused, Refused, Refused, OK} {
		must.Equal(t, must.Get(g.Generate(t.Context(), "a red house", nil))(t).Outcome, want, "prompt", i)
	}
	if _, err := g.Generate(t.Context(), "a red house", nil); !errors.Is(err, ErrBudget) {
		t.Errorf("over budget: %v", err)
	}
}

func TestRateLimit(t *testing.T) {
	f := newFake(t, give(200, imageJSON(pngFile(t), "")))
	g := f.generator(t, func(o *Options) { o.PerMinute = 5 })
	for range 3 {
		if r, err := g.Generate(t.Context(), "a red house", nil); err != nil || r.Outcome != OK {
			t.Fatal(r, err)
		}
	}
	checkWaits(t, f.waits, []time.Duration{12 * time.Second, 12 * time.Second})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	g := f.generator(t, nil)
	canceled := func() {
		t.Helper()
		_, err := g.Generate(ctx, "a red house", nil)
		if asked, _ := f.counts(); !errors.Is(err, context.Canceled) || asked != 1 {
			t.Errorf("%v after %d requests", err, asked)
		}
	}
	canceled()
	must.Equal(t, g.spent, 0.040, "spent", "what may have been paid counts")
	canceled()
}

// TestNoServer: what never left this machine is not paid.
func TestNoServer(t *testing.T) {
	f := newFake(t, give(500, ""))
	g := f.generator(t, func(o *Options) { o.Retries = 2 })
	f.Close()
	r, err := g.Generate(t.Context(), "a red house", nil)
	if err != nil || r.Outcome != Failed || !r.Transient || r.Requests != 3 || r.Cost != 0 ||
		!strings.Contains(r.Reason, "no connection") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPromptsNotSent(t *testing.T) {
	f := newFake(t, give(500, ""))
	g := f.generator(t, nil)
	for _, prompt := range []string{"", " \n", "a\xff", strings.Repeat("é", maxPrompt+1)} {
		if r, err := g.Generate(t.Context(), prompt, nil); err != nil || r.Outcome != Failed || r.Reason == "" ||
			r.Transient {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if asked, _ := f.counts(); asked != 0 {
		t.Errorf("%d requests", asked)
	}
}

// TestOnce: rows that need one answer at once request it once; an answer that is not kept is requested again.
func TestOnce(t *testing.T) {
	dir, requests := t.TempDir(), atomic.Int32{}
	ask := func(key string, keep bool) error {
		_, err := Once(dir, key, nil, func() (string, bool, error) {
			requests.Add(1)
			time.Sleep(10 * time.Millisecond)
			return "answer", keep, nil
		})
		return err
	}
	must.Do(t, errors.Join(Each(4, func(int) error { return ask("a", true) })...))
	must.Equal(t, requests.Load(), 1)
	must.Do(t, errors.Join(ask("b", false), ask("b", false)))
	must.Equal(t, requests.Load(), 3)
}

// TestFinal: a failure is kept only if it was paid for.
func TestFinal(t *testing.T) {
	for want, list := range map[bool][]Result{true: {{Outcome: OK}, {Outcome: Refused}, {Outcome: Failed, Cost: 0.01}},
		false: {{Outcome: Failed}, {Outcome: Failed, CostUnknown: true}, {Outcome: Failed, Cost: 1, Transient: true}}} {
		for _, r := range list {
			must.Equal(t, r.Final(), want, fmt.Sprintf("%+v", r))
		}
	}
}
