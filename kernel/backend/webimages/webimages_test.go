package webimages

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/kernel/backend/store"
	_ "antipode/test/memdir"
	_ "antipode/test/waiting"
)

// pngOf returns a PNG of side × side pixels whose content depends on the level.
func pngOf(t *testing.T, side int, level uint8) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	img.SetGray(0, 0, color.Gray{Y: level})
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	return b.Bytes()
}

// bomb returns a small PNG whose header claims side × side pixels.
func bomb(t *testing.T, side uint32) []byte {
	data := pngOf(t, 8, 0)
	binary.BigEndian.PutUint32(data[16:], side)
	binary.BigEndian.PutUint32(data[20:], side)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// server answers by path and counts the requests.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	counts map[string]int
	active int
	most   int // requests at a time
	agents map[string]bool
}

func serve(t *testing.T, answers map[string]http.HandlerFunc) *server {
	t.Helper()
	s := &server{counts: map[string]int{}, agents: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.counts[r.URL.Path]++
		s.active++
		s.most = max(s.most, s.active)
		s.agents[r.UserAgent()] = true
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			s.active--
			s.mu.Unlock()
		}()
		if f := answers[r.URL.Path]; f != nil {
			f(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) count() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

func data(b []byte, contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(b)
	}
}

// times answers with the first function n times, then with the second.
func times(n int, first, then http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		n--
		f := then
		if n >= 0 {
			f = first
		}
		mu.Unlock()
		f(w, r)
	}
}

func status(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		http.Error(w, "no", code)
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

func local(dir string) Options {
	return Options{Dir: dir, pause: time.Millisecond,
		Limits: Limits{Rate: 1000, Private: true, Timeout: 5 * time.Second}}
}

// mustFetch fetches and checks that each image that is named exists.
func mustFetch(t *testing.T, urls []string, o Options) []Result {
	t.Helper()
	results := must.Get(Fetch(t.Context(), urls, o))(t)
	if len(results) != len(urls) {
		t.Fatalf("%d results of %d URLs", len(results), len(urls))
	}
	for i, r := range results {
		must.Equal(t, r.Reason == "", r.File != "", urls[i], r)
		must.Equal(t, r.File != "", r.SHA256 != "", urls[i], r)
		if r.File != "" {
			must.Equal(t, must.Get(store.HashFile(r.File))(t), r.SHA256, urls[i], r.File, "has the SHA-256")
		}
	}
	return results
}

// TestOutcomes: whatever a server does, every URL gets its result, with a reason where there is no image.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	good := pngOf(t, 8, 1)
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed.Close()
	s := serve(t, map[string]http.HandlerFunc{
		"/good.png":   data(good, "image/png"),
		"/stream":     data(good, "application/octet-stream"),
		"/text.png":   data(good, "text/plain"),
		"/page":       data([]byte("<!doctype html><html></html>"), "text/html; charset=utf-8"),
		"/page.png":   data([]byte("<!doctype html><html></html>"), "image/png"),
		"/drawing":    data([]byte("<svg xmlns='http://www.w3.org/2000/svg'></svg>"), "image/svg+xml"),
		"/empty":      data(nil, "image/png"),
		"/half.png":   data(good[:len(good)/2], "image/png"),
		"/bomb.png":   data(bomb(t, 50_000), "image/png"),
		"/gone":       status(http.StatusGone, ""),
		"/broken":     status(http.StatusInternalServerError, ""),
		"/weak":       times(2, status(http.StatusBadGateway, ""), data(good, "image/png")),
		"/busy":       times(1, status(http.StatusTooManyRequests, "1"), data(good, "image/png")),
		"/moved":      redirect("/good.png"),
		"/loop":       redirect("/loop"),
		"/to-file":    redirect("file:///etc/passwd"),
		"/to-nowhere": redirect("http://"),
		"/cut.png": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			w.Write(good[:10])
		},
		"/huge": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000000")
			w.Header().Set("Content-Type", "image/png")
			w.(http.Flusher).Flush()
		},
		"/endless": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "image/png")
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
	})
	slow := serve(t, map[string]http.HandlerFunc{"/slow.png": func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			w.Write([]byte{0})
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}})
	want := map[string]string{ // the reason, "" = an image
		s.URL + "/good.png":   "",
		s.URL + "/stream":     "",
		s.URL + "/text.png":   "text/plain instead of an image",
		s.URL + "/page":       "text/html instead of an image",
		s.URL + "/page.png":   "an HTML page",
		s.URL + "/drawing":    "an SVG drawing",
		s.URL + "/empty":      "the file is empty",
		s.URL + "/half.png":   "not a readable PNG",
		s.URL + "/bomb.png":   "too large: 50000×50000 pixels",
		s.URL + "/gone":       "410 Gone",
		s.URL + "/broken":     "500 Internal Server Error",
		s.URL + "/weak":       "",
		s.URL + "/busy":       "",
		s.URL + "/moved":      "",
		s.URL + "/loop":       "more than 10 redirects",
		s.URL + "/to-file":    "redirected: the URL starts with \"file:\"",
		s.URL + "/to-nowhere": "redirected: the URL names no host",
		s.URL + "/cut.png":    "the answer is cut off: the connection was closed",
		s.URL + "/huge":       "larger than 1000000 bytes",
		s.URL + "/endless":    "larger than 1000000 bytes",
		s.URL + "/none.png":   "404 Not Found",

		slow.URL + "/slow.png":                        "not complete within 1s",
		"http://" + closed.Addr().String() + "/a.gif": "no connection: connection refused",
		"":                       "no URL",
		"file:///etc/passwd":     "only http and https",
		"ftp://host.example/a":   "only http and https",
		"images/a.png":           "only http and https",
		"http:///a.png":          "names no host",
		"http://host.example:x/": "not a valid URL",
		"http://[::1":            "not a valid URL",
	}
	urls := slices.Sorted(maps.Keys(want))
	o := local(t.TempDir())
	o.MaxBytes, o.Timeout = 1_000_000, time.Second
	for i, r := range mustFetch(t, urls, o) {
		if reason := want[urls[i]]; (reason == "") != (r.Reason == "") || !strings.Contains(r.Reason, reason) {
			t.Errorf("%s: %q, not %q", urls[i], r.Reason, reason)
		}
		must.True(t, !strings.ContainsAny(r.Reason, "\n\r") && !r.Found, "%s: %+v", urls[i], r)
	}
	count := s.count()
	for path, n := range map[string]int{"/good.png": 2, "/gone": 1, "/none.png": 1, "/broken": 3, "/weak": 3,
		"/busy": 2, "/loop": 11, "/page": 1, "/bomb.png": 1, "/cut.png": 3} {
		must.Equal(t, count[path], n, path, "was requested", "times")
	}
	must.True(t, s.most <= perHost, "%d requests at a time to one host", s.most)
	must.True(t, len(s.agents) == 1 && s.agents["antipode"], "user agents %v", s.agents)
}

// TestPrivate: without Private, no request reaches a local server, given by address or name or behind a redirect from a
// public host (which is a proxy's here).
func TestPrivate(t *testing.T) {
	s := serve(t, map[string]http.HandlerFunc{
		"/a.png": func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") },
	})
	port := s.Listener.Addr().(*net.TCPAddr).Port
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loopback":
			redirect(s.URL+"/a.png")(w, r)
		case "/metadata":
			redirect("http://169.254.169.254/latest")(w, r)
		default:
			data(pngOf(t, 4, 9), "image/png")(w, r)
		}
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	o := local(t.TempDir())
	o.Private = false
	urls := []string{s.URL + "/a.png", fmt.Sprintf("http://localhost:%d/a.png", port), "http://10.1.2.3/a.png",
		"http://192.168.0.1/a.png", "http://[fe80::1]/a.png", "http://images.example/loopback",
		"http://images.example/metadata"}
	for _, r := range mustFetch(t, urls, o) {
		must.Has(t, r.Reason, "private")
	}
	must.Equal(t, mustFetch(t, []string{"http://images.example/fine"}, o)[0].Reason, "", "a public host")
}

// TestWaits: a host that requests a long wait gets no further request, and its other URLs have a reason; one that does
// not answer is left after some attempts. Other hosts are not affected.
func TestWaits(t *testing.T) {
	t.Parallel()
	busy := serve(t, map[string]http.HandlerFunc{"/0": status(http.StatusServiceUnavailable, "86400")})
	silent := serve(t, nil)
	silent.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	good := serve(t, map[string]http.HandlerFunc{"/0": data(pngOf(t, 4, 1), "image/png")})
	var urls []string
	for i := range 20 {
		urls = append(urls, fmt.Sprintf("%s/%d", silent.URL, i))
	}
	urls = append(urls, good.URL+"/0", busy.URL+"/0")
	o := local(t.TempDir())
	results := mustFetch(t, urls, o)
	not := 0
	for _, r := range results[:20] {
		must.True(t, r.Reason != "", "%+v", r)
		if strings.Contains(r.Reason, "did not answer 5 times in a row") {
			not++
		}
	}
	if not < 10 {
		t.Errorf("%d of 20 URLs of a silent host were not requested: %+v", not, results[:20])
	}
	must.Equal(t, results[20].Reason, "")
	must.Equal(t, results[21].Reason, "503 Service Unavailable")
	must.Equal(t, busy.count()["/0"], 1, "requests to a host that asked to wait a day")
	urls = nil
	for i := range 5 {
		urls = append(urls, fmt.Sprintf("%s/%d", busy.URL, i))
	}
	o.Retry, o.Rate = true, 5
	for i, r := range mustFetch(t, urls, o) {
		asked := r.Reason == "503 Service Unavailable" || strings.Contains(r.Reason, "asked to wait 24h0m0s")
		must.True(t, i <= 1 || asked, "%s: %+v", urls[i], r)
	}
	n := busy.count()
	must.True(t, n["/3"]+n["/4"] == 0, "requests after a long Retry-After: %v", n)
}

// TestRate: requests to one host keep their distance.
func TestRate(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	var urls []string
	for i := range 6 {
		urls = append(urls, fmt.Sprintf("%s/%d", s.URL, i))
	}
	o := local(t.TempDir())
	o.Rate = 20
	start := time.Now()
	mustFetch(t, urls, o)
	took := time.Since(start)
	must.True(t, took >= 5*time.Second/20, "6 requests within %v at 20 a second", took)
}

// TestResume: an interrupted run continues without a second request for what is finished, and both runs together give
// what one run gives. A changed file is fetched again; failed URLs only with Retry.
func TestResume(t *testing.T) {
	t.Parallel()
	answers := map[string]http.HandlerFunc{}
	var paths []string
	for i := range 12 {
		path := fmt.Sprintf("/%d.png", i)
		paths = append(paths, path)
		if i%4 != 3 {
			answers[path] = data(pngOf(t, 8, uint8(i/2)), "image/png") // pairs have the same content
		}
	}
	s := serve(t, answers)
	var urls []string
	for _, p := range paths {
		urls = append(urls, s.URL+p)
	}
	urls = append(urls, urls[0], " "+urls[1]+" ") // requested once
	once := mustFetch(t, urls, local(t.TempDir()))
	for path, n := range s.count() {
		must.Equal(t, n, 1, path, "was requested", "times")
	}

	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := local(dir)
	o.Progress = func(done, _, _ int) {
		if done == 5 {
			cancel()
		}
	}
	must.Fail(Fetch(ctx, urls, o))(t) // an interrupted run
	torn := must.Get(os.OpenFile(filepath.Join(dir, Journal), os.O_APPEND|os.O_WRONLY, 0))(t)
	fmt.Fprint(torn, `{"url":"http://torn`)
	torn.Close()
	finished := map[string]bool{}
	j := must.Get(openJournal(dir))(t)
	for at := range j.entries {
		finished[strings.TrimPrefix(at, s.URL)] = true
	}
	must.Fail(openJournal(dir))(t, "another run")
	j.Close()
	if len(finished) < 5 || len(finished) == len(paths) {
		t.Fatalf("%d of %d URLs are finished", len(finished), len(paths))
	}
	before := s.count()
	o = local(dir)
	again := mustFetch(t, urls, o)
	after := s.count()
	for i, r := range again {
		path := strings.TrimPrefix(strings.TrimSpace(urls[i]), s.URL)
		wanted := before[path]
		if !finished[path] {
			wanted++
		}
		if r.Found != finished[path] || after[path] != wanted {
			t.Errorf("%s: found %v, finished %v, %d requests before, %d after", path, r.Found, finished[path],
				before[path], after[path])
		}
		if r.SHA256 != once[i].SHA256 || r.Reason != once[i].Reason ||
			filepath.Base(r.File) != filepath.Base(once[i].File) {
			t.Errorf("%s: %+v in two runs, %+v in one", path, r, once[i])
		}
	}

	must.Do(t, os.WriteFile(again[2].File, []byte("changed"), 0o644))
	before = s.count()
	o.Retry = true
	mustFetch(t, urls, o)
	var requested []string
	for path, n := range s.count() {
		if n > before[path] {
			requested = append(requested, path)
		}
	}
	slices.Sort(requested)
	// 2 and 3 would have the same content, but 3 is missing
	must.EqualSlices(t, requested, []string{"/11.png", "/2.png", "/3.png", "/7.png"}, "requested again")
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for text, want := range map[string]time.Duration{"0": 0, " 120 ": 2 * time.Minute,
		"Mon, 06 May 2024 07:08:19 GMT": 10 * time.Second, "Mon, 06 May 2024 07:00:00 GMT": 0} {
		got, given := retryAfter(text, now)
		must.True(t, given && got == want, "%q: %v, %v", text, got, given)
	}
	for _, text := range []string{"", "soon", "-1", "1.5"} {
		got, given := retryAfter(text, now)
		must.True(t, !given, "%q: %v", text, got)
	}
}

func TestOptions(t *testing.T) {
	for _, l := range []Limits{{Rate: -1}, {MaxBytes: -1}, {Workers: -2}, {Timeout: -1}} {
		must.Fail(Fetch(t.Context(), nil, Options{Dir: t.TempDir(), Limits: l}))(t)
	}
	dir := t.TempDir()
	line := []byte(`{"url":"a","file":"../b"}` + "\n")
	must.Do(t, os.WriteFile(filepath.Join(dir, Journal), line, 0o644))
	must.Fail(Fetch(t.Context(), nil, Options{Dir: dir}))(t, "line 1") // a path that leaves the folder
}
