package apimodel

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/internal/must"
)

// through sends every request to another server, as if it had the address of the first.
type through struct{ to *url.URL }

func (t through) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = t.to.Scheme, t.to.Host
	return http.DefaultTransport.RoundTrip(r)
}

// official makes requests to OpenAI's own address arrive at the fake.
func (f *fake) official(t *testing.T) func(*Options) {
	return func(o *Options) { o.BaseURL, o.Transport = officialURL, through{must.Get(url.Parse(f.URL))(t)} }
}

// at sets the generator's clock.
func at(t *testing.T, g *Client, date string) {
	t.Helper()
	now := must.Get(time.Parse(time.DateOnly, date))(t)
	g.now = func() time.Time { return now.Add(12 * time.Hour) }
}

// listJSON is a list of models, each a name or a name and its shutdown_date.
func listJSON(models ...string) string {
	var data []string
	for _, m := range models {
		name, date, dated := strings.Cut(m, " ")
		entry := fmt.Sprintf(`{"id": %q, "object": "model", "created": 1, "shutdown_date": null}`, name)
		if dated {
			entry = fmt.Sprintf(`{"id": %q, "object": "model", "shutdown_date": %s}`, name, date)
		}
		data = append(data, entry)
	}
	return `{"object": "list", "data": [` + strings.Join(data, ", ") + `]}`
}

// TestModelList: what the server's list of models means on 2026-11-23.
func TestModelList(t *testing.T) {
	many := listJSON("gpt-6", "gpt-image-3", "o9")
	for _, c := range []struct {
		name, model string
		official    bool
		list        http.HandlerFunc
		err, warn   string
	}{
		{"listed", "gpt-image-2", true, give(200, listJSON("gpt-6", "gpt-image-2")), "", ""},
		{"unknown", "gpt-image-2", true, give(200, many), `has no model "gpt-image-2"; it has gpt-image-3`, ""},
		{"unknown elsewhere", "mine", false, give(200, many), `has no model "mine"; it has gpt-image-3`, ""},
		{"unknown among none for images", "mine", false, give(200, listJSON("f", "e", "d", "c", "b", "a")),
			"it has a, b, c, d, e, …", ""},
		{"shut down", "gpt-image-2", true, give(200, listJSON(`gpt-image-2 "2026-11-22"`)),
			"model shut down 2026-11-22: gpt-image-2", ""},
		{"shut down elsewhere", "mine", false, give(200, listJSON(`mine "2026-01-31"`)),
			"model shut down 2026-01-31: mine", ""},
		{"last day", "gpt-image-2", true, give(200, listJSON(`gpt-image-2 "2026-11-23"`)), "",
			"gpt-image-2 will be shut down on 2026-11-23"},
		{"in 60 days", "gpt-image-2", true, give(200, listJSON(`gpt-image-2 "2027-01-22"`)), "",
			"gpt-image-2 will be shut down on 2027-01-22"},
		{"in 61 days", "gpt-image-2", true, give(200, listJSON(`gpt-image-2 "2027-01-23"`)), "", ""},
		{"announced, and not in the list", "gpt-image-1.5", true, give(200, listJSON("gpt-image-1.5")), "",
			"gpt-image-1.5 will be shut down on 2026-12-01"},
		{"postponed", "gpt-image-1.5", true, give(200, listJSON(`gpt-image-1.5 "2027-06-01"`)), "", ""},
		{"announced, elsewhere", "gpt-image-1.5", false, give(200, listJSON("gpt-image-1.5")), "", ""},
		{"date of another kind", "gpt-image-2", true, give(200, listJSON("gpt-image-2 1577836800")), "", ""},
		{"date of another form", "gpt-image-2", true, give(200, listJSON(`gpt-image-2 "soon"`)), "", ""},
		{"no list", "mine", false, give(404, problemJSON("not_found", "no")), "", ""},
		{"not allowed", "mine", false, give(405, ""), "", ""},
		{"forbidden", "gpt-image-2", true, give(403, problemJSON("", "missing scope")), "", ""},
		{"no JSON", "mine", false, give(200, "<html>"), "", ""},
		{"empty", "mine", false, give(200, `{"data": []}`), "", ""},
		{"other JSON", "mine", false, give(200, `["mine"]`), "", ""},
		{"first page", "mine", false, give(200, `{"data": [{"id": "a"}], "has_more": true}`), "", ""},
		{"endless", "mine", false, func(w http.ResponseWriter, _ *http.Request) {
			block := make([]byte, 1<<20)
			for range maxList>>20 + 1 {
				_, _ = w.Write(block)
			}
		}, "", ""},
		{"trouble", "mine", false, give(500, "oops"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, give(200, imageJSON(pngFile(t), "")))
			f.models = c.list
			var warnings []string
			g := f.generator(t, func(o *Options) {
				if c.official {
					f.official(t)(o)
				}
				o.Model, o.Quality = c.model, ""
				o.Warn = func(text string) { warnings = append(warnings, text) }
			})
			at(t, g, "2026-11-23")
			for range 2 {
				r, err := g.Generate(t.Context(), "a red house", nil)
				if c.err == "" && (err != nil || r.Outcome != OK) {
					t.Fatal(r, err)
				}
				if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || r.Requests != 0 ||
					strings.Contains(err.Error(), "\n")) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				must.Equal(t, errors.Is(err, ErrShutDown), strings.Contains(c.err, "shut down"), "error")
			}
			want := 2
			if c.err != "" {
				want = 0
			}
			if asked, _ := f.counts(); asked != want || f.listed != 1 {
				t.Errorf("%d requests for images, %d for the list", asked, f.listed)
			}
			if text := strings.Join(warnings, "; "); !strings.HasPrefix(text, c.warn) ||
				(text == "") != (c.warn == "") || len(warnings) > 1 {
				t.Errorf("warnings %q, want %q", warnings, c.warn)
			}
			if c.err == "" && math.Abs(g.spent-0.08) > 1e-9 {
				t.Errorf("spent %v: the list is free", g.spent)
			}
		})
	}
}

// TestListOnce: goroutines that begin together send one request for the list, with the key, and wait for its answer.
func TestListOnce(t *testing.T) {
	f := newFake(t, give(200, imageJSON(pngFile(t), "")))
	f.models = func(w http.ResponseWriter, r *http.Request) {
		if asked, _ := f.counts(); asked != 0 {
			t.Error("an image is requested before the list has arrived")
		}
		must.Equal(t, r.Method, http.MethodGet)
		must.Equal(t, r.Header.Get("Authorization"), "Bearer "+testKey)
		give(200, listJSON("house-painter"))(w, r)
	}
	g := f.generator(t, nil)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			must.Equal(t, must.Get(g.Generate(t.Context(), "a red house", nil))(t).Outcome, OK)
		})
	}
	wait.Wait()
	if asked, _ := f.counts(); asked != 8 || f.listed != 1 {
		t.Errorf("%d requests for images, %d for the list", asked, f.listed)
	}
}

// TestHistorical: a model that OpenAI shut down is refused there, and used where another server has it.
func TestHistorical(t *testing.T) {
	f := newFake(t, give(200, imageJSON(pngFile(t), "")))
	f.models = give(200, listJSON("dall-e-3"))
	dalle := func(o *Options) { o.Model, o.Quality, o.Price = "dall-e-3", "standard", 0 }
	g := f.generator(t, func(o *Options) { f.official(t)(o); dalle(o); o.Key = "" })
	at(t, g, "2026-05-13")
	_, err := g.Generate(t.Context(), "a red house", nil)
	if !errors.Is(err, ErrShutDown) || !strings.Contains(err.Error(), "2026-05-12") ||
		!strings.Contains(err.Error(), "antipode import") || !strings.Contains(err.Error(), Models[0].Name) {
		t.Errorf("error %v", err)
	}
	if asked, _ := f.counts(); asked != 0 || f.listed != 0 {
		t.Errorf("%d requests for images, %d for the list", asked, f.listed)
	}
	g = f.generator(t, func(o *Options) { f.official(t)(o); dalle(o) })
	at(t, g, "2026-05-01")
	must.Equal(t, must.Get(g.Generate(t.Context(), "a red house", nil))(t).Outcome, OK)
	g = f.generator(t, dalle)
	at(t, g, "2026-11-23")
	must.Equal(t, must.Get(g.Generate(t.Context(), "a red house", nil))(t).Outcome, OK, "elsewhere")
}

// TestNoKey: OpenAI's own API needs a key, which is reported before anything is sent.
func TestNoKey(t *testing.T) {
	f := newFake(t, give(200, imageJSON(pngFile(t), "")))
	g := f.generator(t, func(o *Options) { f.official(t)(o); o.Model, o.Quality, o.Key = "gpt-image-2", "", "" })
	if _, err := g.Generate(t.Context(), "a red house", nil); err == nil || !strings.Contains(err.Error(),
		"set OPENAI_API_KEY") || f.listed != 0 {
		t.Errorf("error %v after %d requests for the list", err, f.listed)
	}
}
