package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
	"antipode/kernel/backend/store"
)

func bucket(t *testing.T, s *remotetest.Server) *remote.Bucket {
	t.Helper()
	b := must.Get(remote.Open(t.Context(), s.Parse(t, "")))(t)
	t.Cleanup(func() { b.Close() })
	return b
}

func put(t *testing.T, s *remotetest.Server, key, content string) {
	t.Helper()
	must.Do(t, bucket(t, s).Put(t.Context(), key, []byte(content)))
}

// requestsOf counts the requests of f by method and the beginning of their key.
func requestsOf(s *remotetest.Server, method, prefix string, f func()) int64 {
	var n atomic.Int64
	s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
		if r.Method == method && strings.HasPrefix(r.URL.Path, "/lab/"+prefix) {
			n.Add(1)
		}
		return remotetest.None
	})
	defer s.Faults(nil)
	f()
	return n.Load()
}

// TestTablesOfObjects reads a table and its images under a URL, computes items, writes the result under a URL, and
// reads it in another store: the same rows as those of files.
func TestTablesOfObjects(t *testing.T) {
	s := remotetest.New(t)
	dir, local := images(t, 10)
	for i := range 10 {
		name := fmt.Sprintf("img/%d.png", i)
		data := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		put(t, s, "set/"+name, string(data))
	}
	rows := must.Get(os.ReadFile(local))(t)
	put(t, s, "set/t.csv", string(rows))
	e := newEngine(t)
	want := digestOf(t, allRows(t, newEngine(t), counts(datasets.CSV(local))))
	in := datasets.CSV(s.Object("set/t.csv"))
	must.Equal(t, digestOf(t, allRows(t, e, counts(in))), want, "the rows differ from those of files")
	for _, ext := range []string{".parquet", ".csv"} {
		out := s.Object("set/out" + ext)
		res, err := run1(t, e, counts(in), client.Request{Save: out, AllColumns: true, Counts: true})
		if err != nil || res.Rows != 10 || res.Found != 10 {
			t.Fatalf("%+v, %v", res, err)
		}
		other := newEngine(t) // another machine
		f := allRows(t, other, datasets.Images(out))
		must.Equal(t, digestOf(t, f), want, ext, "the rows differ after saving")
	}
	// what a later command needs of a Parquet file are its digests: images are read for missing items only
	for step, want := range []int64{10, 0} {
		again := counts(datasets.Parquet(s.Object("set/out.parquet")).Select("id", "image"))
		if n := requestsOf(s, http.MethodGet, "set/img/", func() {
			fresh := e
			if step == 0 {
				fresh = newEngine(t)
			}
			if _, err := run1(t, fresh, again, client.Request{Counts: true}); err != nil {
				t.Error(err)
			}
		}); n != want {
			t.Errorf("step %d: %d images are read, want %d", step, n, want)
		}
	}
}

func digestOf(t *testing.T, f *table.Frame) string {
	t.Helper()
	return must.Get(store.FrameDigest(f))(t)
}

// TestImagesBecomeObjects writes a table whose images are in the store: they are objects below the table's prefix, are
// written before it and once, and are read in another store.
func TestImagesBecomeObjects(t *testing.T) {
	s, e := remotetest.New(t), newEngine(t)
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, PerCell: 1, Size: 32, Injected: true})
	made := world.Reference().Head(5).Select("id", "image", "mask", "region")
	want := digestOf(t, allRows(t, e, made))
	out := s.Object("runs/a.b/out.parquet")
	save := func() {
		_ = must.Get(run1(t, e, made, client.Request{Save: out, AllColumns: true, Counts: true}))(t)
	}
	must.Equal(t, requestsOf(s, http.MethodPut, "runs/a.b/out.images/", save), 5, "images are written")
	must.Equal(t, requestsOf(s, http.MethodPut, "runs/a.b/out.images/", save), 0, "images are written again")
	other := newEngine(t)
	saved := datasets.Parquet(out)
	must.Equal(t, digestOf(t, allRows(t, other, saved)), want, "the rows differ")
	// next to a local table, objects are named by their URLs, which --root allows
	local := filepath.Join(t.TempDir(), "local.csv")
	_ = must.Get(run1(t, other, saved, client.Request{Save: local, AllColumns: true, Counts: true}))(t)
	must.Fail(run1(t, newEngine(t), datasets.CSV(local), client.Request{}))(t, "--root")
	rooted := datasets.CSV(local, datasets.FileOptions{Root: s.Object("runs")})
	must.Equal(t, digestOf(t, allRows(t, newEngine(t), rooted)), want, "the rows of the local table differ")
	copied := s.Object("copy.parquet") // its images stay where they are
	if n := requestsOf(s, http.MethodPut, "copy.images/", func() {
		_ = must.Get(run1(t, other, saved, client.Request{Save: copied, AllColumns: true, Counts: true}))(t)
	}); n != 0 {
		t.Errorf("%d images are copied within their bucket", n)
	}
	must.Equal(t, digestOf(t, allRows(t, newEngine(t), datasets.Parquet(copied))), want,
		"the rows of the copied table differ")
}

// TestPathsOfObjects refuses the paths of a table that leave its prefix, other URLs, and other content.
func TestPathsOfObjects(t *testing.T) {
	s := remotetest.New(t)
	put(t, s, "set/a.png", "content")
	put(t, s, "secret/b.png", "secret")
	t.Chdir(t.TempDir())
	must.Write(t, "a.png", "a local file")
	for path, want := range map[string]string{
		"../secret/b.png":                        "leaves the table's folder",
		"x/../../secret/b.png":                   "leaves the table's folder",
		"s3://lab/secret/b.png":                  "leaves the table's folder",
		"s3://other/set/a.png":                   "leaves the table's folder",
		"/etc/passwd":                            "leaves the table's folder",
		"file:///etc/passwd":                     "a URL, not the path of a file",
		"http://127.0.0.1/a.png":                 "a URL, not the path of a file",
		"https://127.0.0.1/a.png":                "a URL, not the path of a file",
		"none.png":                               "the file none.png is missing",
		"a.png?endpoint=http://127.0.0.1:1/evil": "is missing",
	} {
		put(t, s, "set/t.csv", "id,image\n1,"+path+"\n")
		_, err := run1(t, newEngine(t), datasets.CSV(s.Object("set/t.csv")), client.Request{})
		must.Err(t, err, want)
	}
	put(t, s, "set/t.csv", "id\n1\n")
	_, err := run1(t, newEngine(t), datasets.CSV(s.Object("set/t.csv")).Select("none"), client.Request{})
	if err == nil || strings.Contains(err.Error(), "endpoint") {
		t.Error(err)
	}
	e := newEngine(t)
	put(t, s, "set/t.csv", "id,image\n1,a.png\n2,s3://lab/set/a.png\n3,./a.png\n")
	out := s.Object("set/out.parquet")
	_ = must.Get(run1(t, e, datasets.CSV(s.Object("set/t.csv")), client.Request{Save: out, Counts: true}))(t)
	put(t, s, "set/a.png", "changed") // after the table
	_, err = run1(t, newEngine(t), counts(datasets.Parquet(out)), client.Request{})
	must.Err(t, err, "is not the file the table was made with")
}

// TestOutages fails a run whose storage does not answer or denies access, also where bad rows are left out, and leaves
// the earlier table in place; what was computed is found afterwards.
func TestOutages(t *testing.T) {
	s := remotetest.New(t)
	_, local := images(t, 8)
	in, out := s.Object("set/in.parquet"), s.Object("set/out.parquet")
	e := newEngine(t)
	_ = must.Get(run1(t, e, datasets.CSV(local), client.Request{Save: in, Counts: true}))(t)
	put(t, s, "set/out.parquet", "the earlier table")
	for _, c := range []struct {
		fault    remotetest.Fault
		method   string
		key      string
		want     error
		computed int64
	}{
		{remotetest.Denied, http.MethodGet, "/lab/set/in.images/", remote.ErrDenied, 0},
		{remotetest.Unavailable, http.MethodPut, "/lab/set/out.parquet", remote.ErrUnreachable, 8},
		{remotetest.Broken, http.MethodPut, "/lab/set/out.parquet", remote.ErrUnreachable, 0},
		{remotetest.None, "", "", nil, 0},
	} {
		s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
			if r.Method == c.method && strings.HasPrefix(r.URL.Path, c.key) {
				return c.fault
			}
			return remotetest.None
		})
		computed.Store(0)
		_, err := run1(t, e, counts(datasets.Parquet(in)),
			client.Request{Save: out, SkipBad: true, Counts: true})
		s.Faults(nil)
		if !errors.Is(err, c.want) || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c.key, err)
		}
		must.Equal(t, computed.Load(), c.computed, c.key, "items are computed")
		must.Equal(t, bytes.Equal(must.Get(bucket(t, s).Get(t.Context(), "set/out.parquet"))(t),
			[]byte("the earlier table")), (c.want != nil), c.key, "bytes")
	}
}

// TestSecretsStayInTheEnvironment searches everything that a run writes, returns and prints for the credentials.
func TestSecretsStayInTheEnvironment(t *testing.T) {
	s, e := remotetest.New(t), newEngine(t)
	var log bytes.Buffer
	logWriter, log = &log, bytes.Buffer{}
	t.Cleanup(func() { logWriter = os.Stderr })
	_, local := images(t, 3)
	out := s.Object("set/out.csv")
	said := ""
	for _, fault := range []remotetest.Fault{remotetest.None, remotetest.Denied, remotetest.Unavailable} {
		p := must.Get(counts(datasets.CSV(local)).Plan())(t)
		s.Faults(func(int64, *http.Request) remotetest.Fault { return fault })
		res, err := e.Run(t.Context(), client.Request{Plan: p, Save: out, AllColumns: true},
			func(p table.Progress) { said += fmt.Sprintf("%+v", p) })
		s.Faults(nil)
		said += fmt.Sprintf("%+v %v %s", res, err, p.Args)
	}
	data := must.Get(bucket(t, s).Get(t.Context(), "set/out.csv"))(t)
	said += string(data) + log.String()
	files := 0
	if err := filepath.WalkDir(e.Store.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		said += path + string(data)
		files++
		return err
	}); err != nil || files < 3 {
		t.Fatalf("%d files, %v", files, err)
	}
	if !strings.Contains(said, "s3://lab/set/out.csv") { // of the record
		t.Error("the search finds nothing")
	}
	for _, secret := range []string{remotetest.Secret, os.Getenv("AWS_ACCESS_KEY_ID")} {
		if at := strings.Index(said, secret); at >= 0 {
			t.Errorf("the output contains %q: …%s", secret, said[max(0, at-200):at])
		}
	}
	u := objecturl.URL{Scheme: "s3", Bucket: "lab", Key: "x.parquet"}
	for _, path := range []string{"s3://KEY:topsecret@lab/x.parquet", u.String() + "?sig=topsecret"} {
		if _, err := datasets.Parquet(path).Plan(); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
