package commands

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"antipode/internal/must"
)

// imageServer serves /N.png for N from 0, 404 for every third, and counts requests. stop is called with each request.
func imageServer(t *testing.T, stop func(requests int)) (address string, counts func() map[string]int) {
	t.Helper()
	var mu sync.Mutex
	seen, all := map[string]int{}, 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.URL.Path]++
		all++
		stop(all)
		mu.Unlock()
		n := 0
		if _, err := fmt.Sscanf(r.URL.Path, "/%d.png", &n); err != nil || n%3 == 2 {
			http.NotFound(w, r)
			return
		}
		w.Write([]byte(pngOf(t, n+2)))
	}))
	t.Cleanup(s.Close)
	return s.URL, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		out := map[string]int{}
		for path, n := range seen {
			out[path] = n
		}
		return out
	}
}

// urlTable writes a table of n rows, the last with the URL of the first.
func urlTable(t *testing.T, dir, address string, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("id,caption,url\n")
	for i := range n {
		fmt.Fprintf(&b, "r%d,caption %[1]d,%s/%d.png\n", i, address, i%(n-1))
	}
	file := filepath.Join(dir, "in.csv")
	must.Do(t, os.WriteFile(file, []byte(b.String()), 0o644))
	return file
}

// TestDataImages: an interrupted call keeps its finished rows; the next one requests no URL again and writes the table
// that one call writes, byte for byte, as CSV and as Parquet.
func TestDataImages(t *testing.T) {
	run := inProcess(t)
	const n = 9
	stop := func(int) {}
	address, counts := imageServer(t, func(requests int) { stop(requests) })
	whole, parts := t.TempDir(), t.TempDir()
	fetch := func(dir, format string) (string, error) {
		return run("data", "images", "--in", urlTable(t, dir, address, n), "--url", "url", "--rate", "200",
			"--allow-private", "--out", filepath.Join(dir, "out"+format))
	}
	printed := must.Get(fetch(whole, ".csv"))(t)
	must.Has(t, printed, "out.csv: 9 rows", "7 of 9 images, 0 rows from an earlier call", "2: 404 Not Found")
	want := read(t, filepath.Join(whole, "out.csv"))
	lines := strings.Split(want, "\n")
	if lines[0] != "id,caption,url,image,sha256,outcome,reason" ||
		!strings.HasPrefix(lines[1], "r0,caption 0,"+address+"/0.png,out.images/") ||
		!strings.HasSuffix(lines[1], ",ok,") || !strings.HasSuffix(lines[3], "/2.png,,,failed,404 Not Found") {
		t.Fatalf("the table is\n%s", want)
	}
	if read := strings.Split(lines[1], ","); filepath.Base(read[3]) != read[4]+".png" {
		t.Errorf("the image %s of the SHA-256 %s", read[3], read[4])
	}
	if first, last := strings.Split(lines[1], ","), strings.Split(lines[n], ","); first[4] != last[4] {
		t.Errorf("one URL, two images: %s, %s", first[4], last[4])
	}

	before := counts()
	for path, k := range before {
		must.Equal(t, k, 1, path, "was requested", "times")
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopAt := 0
	for _, k := range before {
		stopAt += k
	}
	stop = func(requests int) {
		if requests == stopAt+4 {
			cancel()
		}
	}
	urls := urlTable(t, parts, address, n)
	must.Fail(dispatch(ctx, []string{"data", "images", "--in", urls, "--url", "url", "--rate", "200", "--allow-private",
		"--out", filepath.Join(parts, "out.csv")}))(t) // the interrupted call
	kept := must.Get(os.ReadFile(filepath.Join(parts, "out.images", "fetched.jsonl")))(t)
	finished := bytes.Count(kept, []byte("\n"))
	if finished == 0 || finished >= n-1 {
		t.Fatalf("%d rows are finished after the interrupt", finished)
	}
	stop = func(int) {}
	middle := counts()
	_ = must.Get(fetch(parts, ".csv"))(t)
	got := read(t, filepath.Join(parts, "out.csv"))
	must.True(t, got == want, "in two calls\n%s, in one\n%s", got, want)
	requested := 0
	for path, k := range counts() {
		if requested += k - middle[path]; k > middle[path] && bytes.Contains(kept, []byte(path+`"`)) {
			t.Errorf("%s was finished and requested again", path)
		}
	}
	must.Equal(t, requested, n-1-finished, "requests for", "rows")

	// the same images in another format: no request
	last := counts()
	for _, dir := range []string{whole, parts} {
		_ = must.Get(fetch(dir, ".parquet"))(t)
	}
	if a, b := read(t, filepath.Join(whole, "out.parquet")), read(t, filepath.Join(parts, "out.parquet")); a != b {
		t.Error("the Parquet tables differ")
	}
	for path, k := range counts() {
		must.Equal(t, k, last[path], path, "was requested again")
	}
	// a later stage reads the table; the rows without an image stay
	back := filepath.Join(whole, "few.csv")
	_ = must.Get(run("table", "--in", filepath.Join(whole, "out.parquet"), "--where", "outcome == failed", "--out",
		back))(t)
	text := read(t, back)
	must.True(t, strings.Count(text, "404 Not Found") == 2, "the failed rows are\n%s", text)
}

func read(t *testing.T, file string) string {
	t.Helper()
	data := must.Get(os.ReadFile(file))(t)
	return string(data)
}

// TestDataImagesExpected: a SHA-256 of the table is that of the expected image, and rows that an earlier stage gave up
// are not requested.
func TestDataImagesExpected(t *testing.T) {
	run := inProcess(t)
	address, counts := imageServer(t, func(int) {})
	dir := folderOf(t, map[string]string{"in.csv": "id,url,sha256,outcome,reason\n" +
		"a," + address + "/0.png," + strings.Repeat("0a", 32) + ",ok,\n" +
		"b," + address + "/1.png,,failed,not rated\n" +
		"c," + address + "/3.png,,,\n"})
	out := filepath.Join(dir, "out.csv")
	_ = must.Get(run("data", "images", "--in", filepath.Join(dir, "in.csv"), "--url", "url", "--allow-private", "--out",
		out))(t)
	lines := strings.Split(read(t, out), "\n")
	for i, text := range []string{"failed,another image than expected: its SHA-256 is ", "failed,not rated,",
		",ok,,out.images/"} {
		must.Has(t, lines[i+1], text)
	}
	_ = must.Get(run("data", "images", "--in", filepath.Join(dir, "in.csv"), "--url", "url", "--allow-private", "--out",
		out, "--retry"))(t)
	if n := counts(); n["/1.png"] != 0 || n["/0.png"] != 2 || n["/3.png"] != 1 {
		t.Errorf("requests %v", n)
	}
}

// TestDataImagesErrors: what is wrong with the table or the flags is said before a request.
func TestDataImagesErrors(t *testing.T) {
	run := inProcess(t)
	dir := folderOf(t, map[string]string{
		"two.csv":   "id,url\na,http://127.0.0.1:1/a.png\na,http://127.0.0.1:1/b.png\n",
		"image.csv": "id,image\na,http://127.0.0.1:1/a.png\n",
		"fine.csv":  "id,url\na,http://127.0.0.1:1/a.png\n",
	})
	out := filepath.Join(dir, "out.csv")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--in", filepath.Join(dir, "two.csv"), "--url", "url", "--out", out}, "the id is in row 1 already"},
		{[]string{"--in", filepath.Join(dir, "image.csv"), "--url", "image", "--out", out}, "data images --url COLUMN"},
		{[]string{"--in", filepath.Join(dir, "fine.csv"), "--url", "link", "--out", out}, `"link"`},
		{[]string{"--in", filepath.Join(dir, "fine.csv"), "--out", out}, "--url COLUMN"},
		{[]string{"--in", filepath.Join(dir, "fine.csv"), "--url", "url"}, "--out TABLE is missing"},
		{[]string{"--in", filepath.Join(dir, "fine.csv"), "--url", "url", "--out", out, "--rate", "-1"},
			"must be above 0"},
		{[]string{"--in", filepath.Join(dir, "fine.csv"), "--url", "url", "--out", out, "--rate", "0"},
			"must be above 0"},
	} {
		must.Fail(run(append([]string{"data", "images"}, c.args...)...))(t, c.want)
	}
	// a private address is an outcome; with --skip-bad a repeated id is left out
	printed, err := run("data", "images", "--in", filepath.Join(dir, "two.csv"), "--url", "url", "--skip-bad", "--out",
		out)
	if err != nil || !strings.Contains(printed, "0 of 1 images") || !strings.Contains(printed, "left out") ||
		!strings.Contains(read(t, out), "failed,\"a loopback, private or reserved address") {
		t.Errorf("%q, %v\n%s", printed, err, read(t, out))
	}
}
