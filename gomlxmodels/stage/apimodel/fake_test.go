package apimodel

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
	"sync"
	"testing"
	"time"

	"antipode/internal/must"
)

const testKey = "sk-test-0123456789abcdefghij"

// fake is an image API that answers each request by the next of its handlers, and the last one's for all that follow.
// Its list of models is missing until a test sets models.
type fake struct {
	*httptest.Server
	models  http.HandlerFunc
	listed  int // requests for the list of models
	mu      sync.Mutex
	asked   []map[string]any // the bodies of requests for images
	headers []http.Header
	fetched int // requests for files
	waits   []time.Duration
}

func newFake(t *testing.T, handlers ...http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			f.list(w, r)
			return
		}
		f.mu.Lock()
		var at int
		if r.Method == http.MethodPost && r.URL.Path == "/v1/images/generations" {
			var body map[string]any
			must.Do(t, json.NewDecoder(r.Body).Decode(&body))
			at = len(f.asked)
			f.asked, f.headers = append(f.asked, body), append(f.headers, r.Header.Clone())
		} else {
			f.fetched++
			at = len(f.asked) + f.fetched - 1
			must.Equal(t, r.Header.Get("Authorization"), "", "the key travels with the request for a file")
		}
		f.mu.Unlock()
		handlers[min(at, len(handlers)-1)](w, r)
	}))
	t.Cleanup(f.Server.Close)
	return f
}

// list answers a request for the list of models.
func (f *fake) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.listed++
	models := f.models
	f.mu.Unlock()
	if models == nil {
		models = http.NotFound
	}
	models(w, r)
}

// counts are the requests for images and for files so far.
func (f *fake) counts() (asked, fetched int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked), f.fetched
}

// generator makes one for the fake, whose waits are noted and not waited for.
func (f *fake) generator(t *testing.T, change func(*Options)) *Client {
	t.Helper()
	o := Options{BaseURL: f.URL + "/v1", Key: testKey, Model: "house-painter", Size: "1024x1024", Quality: "standard",
		Price: 0.040, Timeout: time.Minute}
	if change != nil {
		change(&o)
	}
	g := must.Get(New(o))(t)
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var mu sync.Mutex
	g.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return clock
	}
	g.sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(d)
		f.waits = append(f.waits, d)
		return ctx.Err()
	}
	return g
}

// pngFile is a small image's file.
func pngFile(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 5, 3))
	for i := range 15 {
		img.Set(i%5, i/5, color.RGBA{uint8(17 * i), 90, 200, 255})
	}
	var buf bytes.Buffer
	must.Do(t, png.Encode(&buf, img))
	return buf.Bytes()
}

// give answers with a status with a JSON body.
func give(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// problemJSON is an error as the API writes it.
func problemJSON(code, message string) string {
	return fmt.Sprintf(`{"error": {"code": %q, "message": %q, "param": null, "type": "invalid_request_error"}}`, code,
		message)
}

func imageJSON(file []byte, more string) string {
	return fmt.Sprintf(`{"created": 1, "data": [{"b64_json": %q, "revised_prompt": "a red house, at dusk"}]%s}`,
		base64.StdEncoding.EncodeToString(file), more)
}
