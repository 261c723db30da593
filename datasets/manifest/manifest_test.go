package manifest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"antipode/datasets/manifest"
	"antipode/datasets/manifest/pull"
	"antipode/internal/fetch"
	"antipode/internal/must"
)

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

const (
	plain  = "identity,attribute\nमहाराष्ट्र,कविता\nবাংলা,গান\nمصر,نيل\n"
	rawA   = "worker\nSECRET-B\nSECRET-A\n"
	rawB   = "worker\nSECRET-A\n"
	tidyA  = "worker\nw1\nw2\n"
	tidyB  = "worker\nw2\n"
	noHash = "free\nSECRET-A\n"
)

// fixture is a made-up data set: a plain file, a set of two normalized together, one known by git blob only, one
// optional.
func fixture(t *testing.T) manifest.Manifest {
	m := manifest.Manifest{
		Name: "fixture-" + t.Name(), Title: "made up",
		Normalize: func(_ string, files map[string][]byte) (map[string][]byte, error) {
			labels := map[string]string{}
			out := map[string][]byte{}
			for _, name := range []string{"set/a.csv", "set/b.csv", "blob.csv"} {
				data, ok := files[name]
				if !ok {
					continue
				}
				lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
				for i := 1; i < len(lines); i++ {
					if labels[lines[i]] == "" {
						labels[lines[i]] = fmt.Sprintf("w%d", len(labels)+1)
					}
					lines[i] = labels[lines[i]]
				}
				out[name] = []byte(strings.Join(lines, "\n") + "\n")
			}
			return out, nil
		},
		Files: []manifest.File{
			{Path: "plain.csv", URL: "https://example.org/repo/plain.csv", SHA256: hashOf(plain)},
			{Path: "set/a.csv", Upstream: "A sheet.csv", URL: "https://example.org/repo/A%20sheet.csv",
				SHA256: hashOf(rawA), Normal: hashOf(tidyA), Set: "s"},
			{Path: "set/b.csv", URL: "https://example.org/repo/b.csv", SHA256: hashOf(rawB), Normal: hashOf(tidyB),
				Set: "s"},
			{Path: "blob.csv", URL: "https://example.org/repo/blob.csv", GitBlob: manifest.GitBlob([]byte(noHash)),
				Set: "blob"},
			{Path: "old.csv", URL: "https://example.org/repo/old.csv", SHA256: hashOf("old"), Optional: "withdrawn"},
		},
	}
	manifest.Register(m)
	t.Cleanup(func() { manifest.Unregister(m.Name) })
	return m
}

// upstream serves the fixture's files; answers overrides some of them.
func upstream(t *testing.T, answers map[string]http.HandlerFunc) (string, func() int) {
	bodies := map[string]string{"/repo/plain.csv": plain, "/repo/A sheet.csv": rawA, "/repo/b.csv": rawB,
		"/repo/blob.csv": noHash, "/repo/old.csv": "old"}
	requests := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.URL.Path
		if f := answers[r.URL.Path]; f != nil {
			f(w, r)
			return
		}
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() int { return len(requests) }
}

func mustContain(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	for path, text := range want {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if text == "" {
			must.Is(err)(t, fs.ErrNotExist)
			continue
		}
		must.True(t, err == nil && string(data) == text, "%s: %q, %v", path, data, err)
	}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		must.True(t, !bytes.Contains(data, []byte("SECRET")), "%s holds an identifier", path)
		must.True(t, !strings.HasPrefix(d.Name(), ".pull-"), "a temporary file is left: %s", path)
		return err
	}))
}

func TestPull(t *testing.T) {
	m := fixture(t)
	base, requests := upstream(t, nil)
	dir := t.TempDir()
	states := map[string]string{}
	o := pull.Options{Dest: dir, BaseURL: base, Progress: func(s pull.Step) { states[s.File] = s.State }}
	must.Do(t, pull.DataSet(context.Background(), m.Name, o))
	mustContain(t, dir, map[string]string{"plain.csv": plain, "set/a.csv": tidyA, "set/b.csv": tidyB,
		"blob.csv": "free\nw1\n", "old.csv": ""})
	must.True(t, states["old.csv"] == "skipped" && states["set/b.csv"] == "stored" && requests() == 4,
		"states %v, %d requests", states, requests())

	must.Do(t, pull.DataSet(context.Background(), m.Name, o)) // all files exist
	must.True(t, requests() == 4 && states["blob.csv"] == "present" && states["set/a.csv"] == "present",
		"second pull: %d requests, states %v", requests(), states)

	// a set is fetched whole: its labels belong together
	must.Do(t, os.Remove(filepath.Join(dir, "set", "b.csv")))
	must.Do(t, os.WriteFile(filepath.Join(dir, "plain.csv"), []byte("damaged"), 0o644))
	o.All = true
	must.Do(t, pull.DataSet(context.Background(), m.Name, o))
	mustContain(t, dir, map[string]string{"plain.csv": plain, "set/a.csv": tidyA, "set/b.csv": tidyB,
		"old.csv": "old"})
	must.Equal(t, requests(), 8, "requests in all")
}

func TestPullRefuses(t *testing.T) {
	cases := []struct {
		name    string
		answer  http.HandlerFunc
		timeout time.Duration
		want    []string
	}{
		{"wrong hash", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "worker\nSECRET-X\n") }, 0,
			[]string{"set/a.csv", hashOf("worker\nSECRET-X\n"), hashOf(rawA), hashOf(tidyA)}},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, rawA[:5])
		}, 0, []string{"set/a.csv", "unexpected EOF", "try again"}},
		{"missing", http.NotFound, 0, []string{"set/a.csv", "404"}},
		{"hangs", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, rawA[:5])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, 100 * time.Millisecond, []string{"set/a.csv", "100ms", "try again"}},
		{"too large", func(w http.ResponseWriter, r *http.Request) {
			for chunk := make([]byte, 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, 0, []string{"set/a.csv", "64 MiB"}},
	}
	m := fixture(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			base, _ := upstream(t, map[string]http.HandlerFunc{"/repo/A sheet.csv": c.answer})
			dir := t.TempDir()
			must.Fail(pull.DataSet(context.Background(), m.Name, pull.Options{Dest: dir, BaseURL: base,
				Timeout: c.timeout}))(t, append(c.want, "data pull "+m.Name)...)
			// earlier files remain
			mustContain(t, dir, map[string]string{"plain.csv": plain, "set/a.csv": "", "set/b.csv": ""})
			base, requests := upstream(t, nil)
			must.Do(t, pull.DataSet(context.Background(), m.Name, pull.Options{Dest: dir, BaseURL: base}))
			// The set's two files; the file behind it only where the fault was not of the set alone.
			want := 3
			if c.name == "wrong hash" || c.name == "missing" {
				want = 2
			}
			must.Equal(t, requests(), want, "going on took", "requests")
		})
	}
}

// TestPullNamesAllThatIsWrong checks that files which cannot be had are counted and do not keep the others away.
func TestPullNamesAllThatIsWrong(t *testing.T) {
	m := fixture(t)
	base, _ := upstream(t, map[string]http.HandlerFunc{"/repo/plain.csv": http.NotFound,
		"/repo/b.csv": http.NotFound})
	dir := t.TempDir()
	must.Fail(pull.DataSet(context.Background(), m.Name, pull.Options{Dest: dir, BaseURL: base}))(t,
		"2 files could not be downloaded, the first: plain.csv: the server answered 404")
	mustContain(t, dir, map[string]string{"plain.csv": "", "set/a.csv": "", "blob.csv": "free\nw1\n"})
}

func TestPullFollowsRedirects(t *testing.T) {
	m := fixture(t)
	base, _ := upstream(t, map[string]http.HandlerFunc{
		"/repo/plain.csv": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere",
				http.StatusFound)
		},
		"/elsewhere": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, plain) },
	})
	dir := t.TempDir()
	must.Do(t, pull.DataSet(context.Background(), m.Name, pull.Options{Dest: dir, BaseURL: base}))
	mustContain(t, dir, map[string]string{"plain.csv": plain})
}

// TestPullThroughTheCommandsClient: the client that `antipode data pull` uses leaves a server that falls silent, long
// before the time for a file is over.
func TestPullThroughTheCommandsClient(t *testing.T) {
	m := fixture(t)
	web := must.Get(fetch.New(fetch.Limits{Connect: time.Second, Stall: 200 * time.Millisecond}))(t)
	defer web.Close()
	base, _ := upstream(t, map[string]http.HandlerFunc{"/repo/blob.csv": func(w http.ResponseWriter,
		r *http.Request) {
		fmt.Fprint(w, noHash[:3])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}})
	dir := t.TempDir()
	must.Fail(pull.DataSet(t.Context(), m.Name, pull.Options{Dest: dir, BaseURL: base, Client: web.HTTP()}))(t,
		"blob.csv: no byte for 200ms; what was downloaded before is kept")
	mustContain(t, dir, map[string]string{"plain.csv": plain, "set/a.csv": tidyA, "set/b.csv": tidyB, "blob.csv": ""})
}

func TestPullStopsWhenCancelled(t *testing.T) {
	m := fixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	base, _ := upstream(t, map[string]http.HandlerFunc{"/repo/plain.csv": func(_ http.ResponseWriter,
		r *http.Request) {
		cancel()
		<-r.Context().Done()
	}})
	err := pull.DataSet(ctx, m.Name, pull.Options{Dest: t.TempDir(), BaseURL: base})
	must.Is(err)(t, context.Canceled)
}

func TestPullOfUnknownName(t *testing.T) {
	m := fixture(t)
	must.Fail(pull.DataSet(context.Background(), "nothing", pull.Options{}))(t, m.Name)
}

func TestReadAcceptsBothForms(t *testing.T) {
	m := fixture(t)
	for name, c := range map[string]struct {
		dir  fstest.MapFS
		form manifest.Form
	}{
		"normalized":             {fstest.MapFS{"set/a.csv": {Data: []byte(tidyA)}}, manifest.Normalized},
		"upstream":               {fstest.MapFS{"set/a.csv": {Data: []byte(rawA)}}, manifest.AsUpstream},
		"upstream, its own name": {fstest.MapFS{"A sheet.csv": {Data: []byte(rawA)}}, manifest.AsUpstream},
	} {
		data, used, err := m.Read(c.dir, "set/a.csv")
		must.True(t, err == nil && used.Form == c.form && string(data) == tidyA,
			"%s: %q, %v, %v", name, data, used, err)
	}
	_, _, err := m.Read(fstest.MapFS{"set/a.csv": {Data: []byte("other")}}, "set/a.csv")
	var wrong *manifest.HashError
	if !errors.As(err, &wrong) || wrong.Got != hashOf("other") || !strings.Contains(err.Error(), hashOf(rawA)) ||
		!strings.Contains(err.Error(), hashOf(tidyA)) {
		t.Errorf("%v does not show all hashes", err)
	}
	must.Is(m.Read(fstest.MapFS{}, "set/a.csv"))(t, fs.ErrNotExist)
}

func TestFind(t *testing.T) {
	m := fixture(t)
	root := t.TempDir()
	place := func(dir string) string {
		dir = filepath.Join(root, dir, m.Name)
		must.Do(t, os.MkdirAll(dir, 0o755))
		must.Do(t, os.WriteFile(filepath.Join(dir, "plain.csv"), []byte(plain), 0o644))
		return dir
	}
	t.Setenv("ANTIPODE_DATA", "")
	t.Setenv("ANTIPODE_MODULE", "")
	where := manifest.FindOptions{Home: filepath.Join(root, "home"), From: filepath.Join(root, "module", "notebooks")}
	_, err := manifest.Find(m.Name, where)
	must.Is(err)(t, manifest.ErrNotFound, "antipode data pull "+m.Name)
	inStore := place("home/data")
	if dir, err := manifest.Find(m.Name, where); dir != inStore || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
	shared := place("shared/data")
	if dir, err := manifest.Find(m.Name, where); dir != shared || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
	t.Setenv("ANTIPODE_DATA", filepath.Join(root, "mine"))
	if dir, err := manifest.Find(m.Name, where); dir != shared || err != nil { // $ANTIPODE_DATA does not hold it
		t.Errorf("%s, %v", dir, err)
	}
	mine := place("mine")
	if dir, err := manifest.Find(m.Name, where); dir != mine || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
	t.Chdir(root)
	t.Setenv("ANTIPODE_DATA", "mine") // the folder found is good from elsewhere, too
	if dir, err := manifest.Find(m.Name, where); dir != mine || err != nil {
		t.Errorf("%s, %v", dir, err)
	}
}

func TestReadSheet(t *testing.T) {
	s, err := manifest.ReadSheet("t.csv", []byte("\xef\xbb\xbfb,a\n1,महाराष्ट्र\n,\"x\ny\"\n2.5,مصر\n"), "a", "b")
	if err != nil || s.Len() != 3 || s.Rows[0][s.Column("a")] != "महाराष्ट्र" || s.Line(2) != 5 {
		t.Fatalf("%+v, %v", s, err)
	}
	if x, err := s.Number(2, s.Column("b")); x != 2.5 || err != nil {
		t.Errorf("%g, %v", x, err)
	}
	must.Fail(s.Number(2, s.Column("a")))(t, "t.csv, line 5, column a")
	for text, want := range map[string]string{"": "empty", "a,c\n": `no column "b"`, "a,b\n1\n": "line 2",
		"a,b,a\n":       `two columns are called "a"`,
		"a,b\n1,\xff\n": "line 2, column b: the text is not UTF-8"} {
		_, err := manifest.ReadSheet("t.csv", []byte(text), "a", "b")
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "t.csv") {
			t.Errorf("%q: %v does not contain %q", text, err, want)
		}
	}
}
