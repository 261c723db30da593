package plugin

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/internal/fetch"
	"antipode/internal/must"
)

func TestWheel(t *testing.T) {
	w := newWorld(t)
	printedBefore := ""
	w.onPage = func(rw http.ResponseWriter, r *http.Request) {
		printedBefore = w.printed()
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(rw, `<a href="%s/files/%s">x</a>`, w.server.URL, w.wheel.File)
	}
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACPU, filepath.Join(w.home, "plugins", "some-pjrt-cpu-1.2", "pjrt_c_api_cpu_plugin.so"))
	must.Has(t, printedBefore, w.wheel.Name, w.wheel.Version, megabytes(w.wheel.Size), w.wheel.SHA256,
		w.wheel.PluginSHA256, "Apache-2.0", Env+"=none")
	must.True(t, c.Version == "some-pjrt-cpu 1.2" && c.License == "Apache-2.0" && c.SHA256 == w.wheel.PluginSHA256,
		"%+v", c)
	w.tidy("some-pjrt-cpu-1.2")

	// The next start prints nothing and sends no request.
	w.lines, w.hits = nil, nil
	c, err = w.another().provide(context.Background())
	w.want(c, err, device.XLACPU, c.Path)
	must.Equal(t, w.printed(), "", w.hits)
	must.Equal(t, len(w.hits), 0, w.hits)

	// A changed plugin is not loaded: without network pure Go is used, with it the plugin is installed again.
	w.put(c.Path, fakePlugin("something else"))
	p := w.another()
	p.Offline = true
	got, err := p.provide(context.Background())
	w.want(got, err, device.Go, "")
	got, err = w.another().provide(context.Background())
	w.want(got, err, device.XLACPU, c.Path)
	must.Do(t, got.Check())
}

func TestIndexForms(t *testing.T) {
	for name, form := range map[string]struct{ kind, page string }{
		"json": {"application/vnd.pypi.simple.v1+json",
			`{"meta":{"api-version":"1.1"},"files":[{"filename":"FILE","url":"../../files/FILE","hashes":{"sha256":"SUM"}}]}`},
		"upper hex": {"application/json; charset=utf-8", `{"files":[{"url":"ROOT/files/FILE#sha256=UPPER"}]}`},
		"root path": {"application/vnd.pypi.simple.v1+html",
			`<A HREF='/files/FILE#sha256=SUM' data-requires-python="&gt;=3.10">FILE</A>`},
		"base":    {"text/html", `<head><base href="ROOT/files/"></head><a href="FILE">FILE</a>`},
		"query":   {"text/html", `<a href="/files/FILE?token=a&amp;b=c#sha256=SUM">FILE</a>`},
		"no type": {"", `<a class=x href=/files/FILE>FILE`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.onPage = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", form.kind)
				fmt.Fprint(rw, strings.NewReplacer("FILE", w.wheel.File, "SUM", w.wheel.SHA256, "UPPER",
					strings.ToUpper(w.wheel.SHA256), "ROOT", w.server.URL).Replace(form.page))
			}
			c, err := w.provide(context.Background())
			w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
		})
	}
}

func TestIndexMisbehaves(t *testing.T) {
	refuse := func(rw http.ResponseWriter, _ *http.Request) { http.Error(rw, "no", http.StatusForbidden) }
	for name, c := range map[string]struct {
		set    func(w *world)
		prints string
	}{
		"page refused": {func(w *world) { w.onPage = refuse }, "403 Forbidden"},
		"file refused": {func(w *world) { w.onFile = refuse }, "403 Forbidden"},
		"page hangs":   {func(w *world) { w.onPage = hang }, "no byte for"},
		"file hangs":   {func(w *world) { w.onFile = hang }, "no byte for"},
		"other file":   {func(w *world) { w.wheels = []wheel{renamed(w.wheel)} }, "does not list"},
		"wrong announced": {func(w *world) { w.onPage = page(`<a href="/files/%s#sha256=abcd">x</a>`, w) },
			"offers another"},
		"is not JSON":       {func(w *world) { w.onPage = jsonPage("{") }, "is not JSON"},
		"wrong bytes":       {func(w *world) { w.data = bytes.Repeat([]byte("x"), len(w.data)) }, "it must be "},
		"too long":          {func(w *world) { w.data = append(w.data, w.data...) }, "more than the"},
		"too short":         {func(w *world) { w.data = w.data[:1000] }, "sent 1000 of"},
		"cut in the middle": {func(w *world) { w.onFile = w.cut(0) }, "after "},
		"redirects for ever": {func(w *world) {
			w.onFile = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, r.URL.Path,
					http.StatusFound)
			}
		}, "redirects"},
		"another plugin in it": {func(w *world) { w.repin(func(p *wheel) { p.PluginSHA256 = sum(nil) }) },
			"not the pinned one"},
		"a longer plugin": {func(w *world) { w.repin(func(p *wheel) { p.PluginSize-- }) }, "not the pinned one"},
		"no plugin in it": {func(w *world) { w.repin(func(p *wheel) { p.Plugin = "pjrt_c_api_cpu_x_plugin.so" }) },
			"does not contain"},
		"no zip": {func(w *world) {
			w.data = []byte("no zip at all")
			w.repin(func(p *wheel) { p.Size, p.SHA256 = int64(len(w.data)), sum(w.data) })
			w.onPage = page(`<a href="/files/%s">x</a>`, w)
		}, "is not a wheel"},
		"no index": {func(w *world) { w.index = func() []string { return nil } }, "PIP_NO_INDEX"},
		"odd address": {func(w *world) { w.index = func() []string { return []string{"file:///tmp"} } },
			"is not an http address"},
		"nobody there": {func(w *world) { w.server.Close() }, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.set(w)
			start := time.Now()
			got, err := w.provide(context.Background())
			w.want(got, err, device.Go, "")
			must.True(t, strings.Contains(w.printed(), c.prints), "%q was not printed:\n%s", c.prints, w.printed())
			took := time.Since(start)
			must.True(t, took <= 5*time.Second, "it took %v", took)
			w.tidy("." + w.wheel.File + ".part") // the partial download is stored for the next attempt
			must.Equal(t, w.another().current().Kind, device.Go, "an incomplete file is used as a plugin")
			for _, line := range w.lines {
				must.True(t, !strings.Contains(line, "\n"), "more than a line: %q", line)
			}
		})
	}
}

func hang(rw http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(3 * time.Second):
	}
}

func renamed(w wheel) wheel {
	w.File = "some_pjrt_cpu-1.3-py3-none-any.whl"
	return w
}

func page(format string, w *world) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintf(rw, format, w.wheel.File) }
}

func jsonPage(text string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		fmt.Fprint(rw, text)
	}
}

func (w *world) repin(change func(*wheel)) {
	change(&w.wheel)
	w.wheels = []wheel{w.wheel}
}

// cut serves truncated files until a partial download exists; times = 0 means always, from any offset.
func (w *world) cut(times int) http.HandlerFunc {
	served := 0
	return func(rw http.ResponseWriter, r *http.Request) {
		served++
		if times > 0 && served > times {
			w.serveFile(rw, r)
			return
		}
		rw.Header().Set("Content-Length", strconv.Itoa(len(w.data)))
		_, _ = rw.Write(w.data[:len(w.data)/2])
		panic(http.ErrAbortHandler)
	}
}

func TestDownloadIsTakenUp(t *testing.T) {
	w := newWorld(t)
	w.onFile = w.cut(1)
	c, err := w.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	if want := fmt.Sprintf("file bytes=%d-", len(w.data)/2); len(w.hits) != 3 || w.hits[2] != want {
		t.Errorf("requests %v, want the last to be %q", w.hits, want)
	}
	w.tidy("some-pjrt-cpu-1.2")

	// A corrupt partial file is detected by its hash and downloaded again from the start.
	w = newWorld(t)
	w.put(filepath.Join(w.folder(), "."+w.wheel.File+".part"), bytes.Repeat([]byte("?"), 777))
	c, err = w.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	must.True(t, len(w.hits) == 3 && w.hits[1] == "file bytes=777-" && w.hits[2] == "file", "requests %v", w.hits)

	// Files of a killed process are removed.
	w = newWorld(t)
	w.put(filepath.Join(w.folder(), ".unpacking-123"), w.data)
	w.put(filepath.Join(w.folder(), ".go-xla-123", "x.tar.gz"), w.data)
	c, err = w.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	w.tidy("some-pjrt-cpu-1.2")

	// A server without range requests sends the whole file again.
	w = newWorld(t)
	w.put(filepath.Join(w.folder(), "."+w.wheel.File+".part"), w.data[:777])
	w.onFile = func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write(w.data) }
	c, err = w.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
}

func TestInterrupt(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.onFile = func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Length", strconv.Itoa(len(w.data)))
		_, _ = rw.Write(w.data[:len(w.data)-1000])
		_ = http.NewResponseController(rw).Flush()
		time.AfterFunc(50*time.Millisecond, cancel)
		hang(rw, r)
	}
	start := time.Now()
	if _, err := w.provide(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	took := time.Since(start)
	must.True(t, took <= 2*time.Second, "the interrupt took %v", took)
	must.Equal(t, w.another().current().Kind, device.Go, "an incomplete file is used as a plugin")
	w.onFile, w.hits = nil, nil
	c, err := w.another().provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	must.Equal(t, w.hits[len(w.hits)-1], fmt.Sprintf("file bytes=%d-", len(w.data)-1000), "requests")
}

func TestIndexWithPassword(t *testing.T) {
	w := newWorld(t)
	private := func(rw http.ResponseWriter, r *http.Request) bool {
		if user, pass, _ := r.BasicAuth(); user != "reader" || pass != "geheim" {
			http.Error(rw, "who are you", http.StatusUnauthorized)
			return false
		}
		return true
	}
	w.onPage = func(rw http.ResponseWriter, r *http.Request) {
		if private(rw, r) {
			page(`<a href="/files/%s">x</a>`, w)(rw, r)
		}
	}
	w.onFile = func(rw http.ResponseWriter, r *http.Request) {
		if private(rw, r) {
			w.serveFile(rw, r)
		}
	}
	at := must.Get(url.Parse(w.server.URL))(t)
	at.User = url.UserPassword("reader", "wrong-geheim")
	w.index = func() []string { return []string{at.String() + "/simple/"} }
	c, err := w.provide(context.Background())
	w.want(c, err, device.Go, "")
	if strings.Contains(w.printed(), "geheim") || strings.Contains(w.printed(), "reader") ||
		!strings.Contains(w.printed(), "401") {
		t.Errorf("printed:\n%s", w.printed())
	}
	at.User = url.UserPassword("reader", "geheim")
	p := w.another()
	p.index = func() []string { return []string{at.String() + "/simple/"} }
	c, err = p.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
}

func TestProxyAndCertificates(t *testing.T) {
	w := newWorld(t)
	secure := httptest.NewUnstartedServer(w.server.Config.Handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	w.index = func() []string { return []string{secure.URL + "/simple"} }
	c, err := w.provide(context.Background())
	w.want(c, err, device.Go, "")
	must.True(t, strings.Contains(w.printed(), "certificate"), "an unknown authority was not refused:\n%s", w.printed())
	bundle := w.put(filepath.Join(t.TempDir(), "bundle.pem"),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}))
	t.Setenv("REQUESTS_CA_BUNDLE", bundle)
	p := w.another()
	p.index = w.index
	c, err = p.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	t.Setenv("REQUESTS_CA_BUNDLE", bundle+".gone")
	must.Fail(fetch.New(quick.Limits))(t, "REQUESTS_CA_BUNDLE")

	// An index that only a proxy reaches.
	w = newWorld(t)
	proxied := 0
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "index.invalid" {
			http.Error(rw, "not for me", http.StatusBadGateway)
			return
		}
		proxied++
		r.URL.Host, r.RequestURI = "", ""
		w.server.Config.Handler.ServeHTTP(rw, r)
	}))
	defer proxy.Close()
	t.Setenv("http_proxy", proxy.URL)
	w.index = func() []string { return []string{"http://index.invalid/simple/"} }
	c, err = w.provide(context.Background())
	w.want(c, err, device.XLACPU, w.wheel.path(w.folder()))
	must.Equal(t, proxied, 2, "the proxy saw", "requests")
}

func TestPins(t *testing.T) {
	for _, w := range pinned {
		if len(w.SHA256) != 64 || len(w.PluginSHA256) != 64 || w.Size <= 0 || w.PluginSize < w.Size ||
			w.License == "" ||
			!strings.HasPrefix(w.File, strings.ReplaceAll(w.Name, "-", "_")+"-"+w.Version+"-") ||
			device.KindOf(w.Plugin) != device.XLACPU {
			t.Errorf("%+v", w)
		}
	}
}
