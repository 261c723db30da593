package view

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots/browse"
	_ "antipode/test/memdir"
)

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>`

// images is a table of four rows: two images, a refused one and a file that is no image.
func images(t *testing.T) (*table.Frame, string) {
	dir := t.TempDir()
	write := func(name string, shade uint8) table.Image {
		img := image.NewRGBA(image.Rect(0, 0, 300, 200))
		for i := range img.Pix {
			img.Pix[i] = shade
		}
		img.Set(0, 0, color.RGBA{shade, 0, 0, 255})
		path := filepath.Join(dir, name)
		must.Do(t, png.Encode(must.Get(os.Create(path))(t), img))
		return table.Image{SHA256: name, Path: path}
	}
	bad := filepath.Join(dir, "bad.png")
	must.Do(t, os.WriteFile(bad, []byte("<svg onload=alert(1)>"), 0o600))
	half := mask.New(300, 200)
	for i := range half.Pix {
		half.Pix[i] = i%300 < 150
	}
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"a", hostile, "c", "d"}),
		table.ImageColumn("image", []table.Image{write("a.png", 90), write("b #?.png", 200), {},
			{SHA256: "x", Path: bad}}),
		table.MaskColumn("mask", []table.Mask{mask.Encode(half), {}, {}, {}}),
		table.TextColumn("prompt", []string{"a secret", hostile, "", ""}),
		table.TextColumn("prompt_shown", []string{"a ******", hostile, "", ""}),
		table.NumberColumn("score", []float64{1, 2, 3, 4}),
		table.VectorColumn("full", [][]float32{{1, 0, 0}, {0.9, 0.1, 0}, {0, 1, 0}, nil}),
		table.TextColumn("outcome", []string{"ok", "ok", "refused", "ok"}),
		table.TextColumn("reason", []string{"", "", "unsafe <b>prompt</b>", ""}),
	}}, dir
}

// TestServer asks the server as the page does, and as pages of others, and users without the token, would.
func TestServer(t *testing.T) {
	frame, dir := images(t)
	g := must.Get(New(frame, Options{Title: hostile}))(t)
	saved := filepath.Join(dir, "t.csv")
	tags := must.Get(OpenTags(saved, "r"))(t)
	s := must.Get(g.server(ServeOptions{Tags: []string{"good"}, Saved: tags, Dir: dir}, 0))(t)
	web := httptest.NewServer(s)
	defer web.Close()
	base := must.Get(url.Parse(web.URL))(t)
	s.hosts = []string{base.Host}
	client := &http.Client{Jar: must.Get(cookiejar.New(nil))(t)}
	ask := func(c *http.Client, method, path, body string, change func(*http.Request)) (int, string, http.Header) {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body)))(t)
		if change != nil {
			change(r)
		}
		answer := must.Get(c.Do(r))(t)
		defer answer.Body.Close()
		return answer.StatusCode, string(must.Get(io.ReadAll(answer.Body))(t)), answer.Header
	}
	for _, path := range []string{"/", "/data.json", "/page.js", "/thumb/0/0", "/image/0/0",
		"/?token=" + strings.Repeat("0", 32)} {
		code, text, _ := ask(&http.Client{}, "GET", path, "", nil)
		must.Equal(t, code, 403, "without the token", path)
		must.Has(t, text, "antipode view")
	}
	if code, _, head := ask(client, "GET", "/?token="+s.token, "", nil); code != 200 ||
		!strings.Contains(head.Get("Content-Security-Policy"), "script-src 'self';") {
		t.Fatalf("with the token: %d, %v", code, head)
	}
	for name, change := range map[string]func(*http.Request){
		"host":   func(r *http.Request) { r.Host = "evil.example" },
		"origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"null":   func(r *http.Request) { r.Header.Set("Origin", "null") },
	} {
		code, _, _ := ask(client, "POST", "/tags", `{"rows":[0],"tag":"good","on":true}`, change)
		must.True(t, code == 403, "another %s: %d", name, code)
	}
	if code, text, _ := ask(client, "GET", "/", "", nil); code != 200 || strings.Contains(text, "<script>alert") {
		t.Errorf("page: %d %s", code, text)
	}
	var page browse.Page
	_, text, _ := ask(client, "GET", "/data.json", "", nil)
	must.Do(t, json.Unmarshal([]byte(text), &page))
	must.True(t, !strings.Contains(text, "secret") && !strings.Contains(text, "<b>") && !strings.Contains(text, dir),
		"the page gets what it must not show, or what is not escaped: %s", text)
	if want := []string{"", "", "refused: unsafe <b>prompt</b>", ""}; !slices.Equal(page.Missing, want) || !page.Masks {
		t.Errorf("missing %q", page.Missing)
	}
	names := []string{}
	for _, c := range page.Columns {
		names = append(names, c.Name)
	}
	must.Equal(t, strings.Join(names, " "), "id prompt score outcome reason full, component 1 full, component 2",
		"columns", names)
	for path, want := range map[string]int{"/thumb/0/0?side=64": 200, "/thumb/0/0?side=64&part=outline": 200,
		"/thumb/1/0?part=object": 404, "/thumb/2/0": 404, "/thumb/3/0": 404, "/thumb/4/0": 404, "/thumb/-1/0": 404,
		"/thumb/0/1": 404, "/image/0/0": 200, "/image/3/0": 404, "/image/../../etc/passwd": 404,
		"/near/9?vector=full":  200,
		"/near/0?vector=other": 200, "/etc/passwd": 404} {
		code, body, head := ask(client, "GET", path, "", nil)
		kind := head.Get("Content-Type")
		must.True(t, code == want && !strings.Contains(kind, "svg") && !strings.Contains(kind, "html"),
			"%s: %d %s %.60s", path, code, kind, body)
	}
	parts := map[string]bool{}
	for _, part := range []string{"whole", "outline", "box", "background"} {
		_, text, _ := ask(client, "GET", "/thumb/0/0?side=64&part="+part, "", nil)
		parts[text] = true
	}
	must.Equal(t, len(parts), 4, "different parts of an image")
	_, text, _ = ask(client, "GET", "/near/0?vector=full", "", nil)
	must.True(t, strings.HasPrefix(text, `[{"row":1,"distance":0.006`), "nearest %s", text)
	for body, want := range map[string]int{`{"rows":[0,1],"tag":"good","on":true}`: 200,
		`{"rows":[0],"tag":"other","on":true}`: 400,
		`{"rows":[7],"tag":"good","on":true}`:  400, `{"rows":[null],"tag":"good","on":true}`: 400, `{`: 400} {
		code, text, _ := ask(client, "POST", "/tags", body, nil)
		must.True(t, code == want, "tags %s: %d %s", body, code, text)
	}
	if code, text, _ := ask(client, "POST", "/tags", `{"rows":[0],"tag":"good","on":false}`, nil); code != 200 {
		t.Errorf("removing a tag: %d %s", code, text)
	}
	rows := must.Get(csv.NewReader(must.Get(os.Open(saved))(t)).ReadAll())(t)
	if len(rows) != 2 || !slices.Equal(rows[0], tagColumns) || rows[1][1] != hostile || rows[1][2] != "good" ||
		rows[1][3] != "r" {
		t.Errorf("tags %q", rows)
	}
	again := must.Get(OpenTags(saved, "r"))(t).list()
	must.True(t, len(again) == 1 && again[0].ID == hostile, "tags read again %v", again)
	_, err := OpenTags(filepath.Join(dir, "bad.png"), "r")
	must.Err(t, err, "not a table of tags")
	code, text, _ := ask(client, "POST", "/copies", `{"rows":[1,2]}`, nil)
	copied := must.Get(os.ReadFile(filepath.Join(dir, "selection-1", "images.csv")))(t)
	if code != 200 || !strings.HasPrefix(text, "1 images copied") || !strings.Contains(string(copied), "2.png,") {
		t.Errorf("copies: %d %s\n%s", code, text, copied)
	}
}

// TestProxy asks the server through a proxy on another host that adds a path, as jupyter-server-proxy does, and through
// one that leaves the path as it is: the cookie is of that path alone.
func TestProxy(t *testing.T) {
	frame, dir := images(t)
	g := must.Get(New(frame, Options{}))(t)
	for _, strip := range []bool{true, false} {
		s := must.Get(g.server(ServeOptions{Tags: []string{"good"}, Dir: dir,
			Saved: must.Get(OpenTags(filepath.Join(dir, "t.csv"), "r"))(t)}, 0))(t)
		web := httptest.NewServer(s)
		defer web.Close()
		to := must.Get(url.Parse(web.URL))(t)
		const prefix = "/user/me/proxy/8890"
		forward := http.Handler(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		}})
		if strip {
			forward = http.StripPrefix(prefix, forward)
		}
		mux := http.NewServeMux()
		mux.Handle(prefix+"/", forward)
		proxy := httptest.NewServer(mux)
		defer proxy.Close()
		s.o.Proxy = must.Get(url.Parse(proxy.URL + prefix + "/"))(t)
		jar := must.Get(cookiejar.New(nil))(t)
		client := &http.Client{Jar: jar}
		for _, c := range []struct {
			method, path, origin string
			want                 int
		}{{"GET", "/data.json", "", 403}, {"GET", "/?token=" + s.token, "", 200}, {"GET", "/data.json", "", 200},
			{"GET", "/thumb/0/0", "", 200}, {"POST", "/tags", proxy.URL, 200}, {"POST", "/tags", web.URL, 403},
			{"POST", "/tags", "http://evil.example", 403}} {
			r := must.Get(http.NewRequestWithContext(t.Context(), c.method, proxy.URL+prefix+c.path,
				strings.NewReader(`{"rows":[0],"tag":"good","on":true}`)))(t)
			r.Header.Set("Origin", c.origin)
			if c.origin == "" {
				r.Header.Del("Origin")
			}
			answer := must.Get(client.Do(r))(t)
			answer.Body.Close()
			must.True(t, answer.StatusCode == c.want && strings.HasPrefix(answer.Request.URL.Path, prefix+"/"),
				"%s %s: %d at %s", c.method, c.path, answer.StatusCode, answer.Request.URL)
		}
		must.Equal(t, len(jar.Cookies(must.Get(url.Parse(proxy.URL+"/user/other/"))(t))), 0,
			"the cookie is sent to others")
	}
}

// TestExport writes a page: nothing of the table is markup, images are embedded, originals below the folder are linked.
func TestExport(t *testing.T) {
	frame, dir := images(t)
	g := must.Get(New(frame, Options{Title: hostile}))(t)
	path := filepath.Join(dir, "page.html")
	must.Get(g.Export(path, 64))(t)
	text := string(must.Get(os.ReadFile(path))(t))
	if strings.Count(text, "<script") != 2 || strings.Contains(text, "<img src=x") || strings.Contains(text, dir) {
		t.Errorf("%d scripts in the page, or markup of the table", strings.Count(text, "<script"))
	}
	_, rest, _ := strings.Cut(text, `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	var page browse.Page
	must.Do(t, json.Unmarshal([]byte(data), &page))
	if !strings.HasPrefix(page.Thumbs[0][0], "data:image/png;base64,") || page.Thumbs[0][3] != "" ||
		page.Missing[3] == "" ||
		page.Links[0] != "a.png" || page.Links[1] != "b%20%23%3F.png" || page.Links[2] != "" {
		t.Errorf("thumbs %.40q, missing %q, links %q", page.Thumbs, page.Missing, page.Links)
	}
}

// TestCompare joins two tables.
func TestCompare(t *testing.T) {
	a, _ := images(t)
	b := &table.Frame{Columns: slices.Clone(a.Columns)}
	b = b.Pick([]int{0, 1, 3})
	b.Column("id").Texts[2] = "new"
	b.Column("image").Images[1].SHA256 = "other"
	b.Column("score").Numbers[0] = 5
	b.Column("full").Vectors[1] = []float32{0, 0, 1}
	g := must.Get(New(a, Options{Compare: b}))(t)
	f := g.Rows
	for name, want := range map[string]string{
		changed:          "[same changed only in the first only in the first only in the second]",
		"score" + second: "[5 2   4]", "score": "[1 2 3 4 4]", distance: "[0 1   ]"} {
		got := make([]string, f.Len())
		for i := range got {
			got[i] = f.Column(name).Cell(i)
		}
		must.Equal(t, fmt.Sprint(got), want, name, got)
	}
	g = must.Get(New(a, Options{Compare: b, By: []string{"outcome"}}))(t)
	if got := fmt.Sprint(g.Figure.Head, g.Figure.Cells, g.Figure.Marks[0].Lists); got != "[outcome in both changed "+
		"mean distance mean score mean score_b] [[ok 2 1 0.5 1.5 3.5]] map[outcome:[ok]]" {
		t.Errorf("before and after: %s", got)
	}
	must.True(t, !f.Has("outcome"+second) && len(g.Images) == 2, "columns %v, images %v", f.Specs(), g.Images)
	b.Column("prompt").Texts[1] = "another secret"
	sketch := table.ImageColumn("sketch", a.Images("image"))
	own := &table.Frame{Columns: append([]table.Column{sketch, table.NumberColumn(distance, []float64{7, 8, 9, 6})},
		a.Columns...)}
	g = must.Get(New(own, Options{Compare: b}))(t)
	text := string(must.Get(g.HTML("", 0))(t))
	must.True(t, !strings.Contains(text, "secret") && g.Images[1] == "image_b" && g.Rows.Numbers(distance)[0] == 7,
		"columns %v, images %v", g.Rows.Specs(), g.Images)
	for want, o := range map[string]Options{
		`no column "nothing"`: {Compare: b, On: []string{"nothing"}},
		"--by: ":              {Compare: b, By: []string{"nothing"}}, "--vector other": {Compare: b, Vector: "other"},
		"rows 1 and 2 of the second table have the same outcome": {Compare: b, On: []string{"outcome"}},
		"no column of images in common":                          {Compare: &table.Frame{Columns: a.Columns[:1]}}} {
		must.Fail(New(a, o))(t, want)
	}
	must.Fail(New(&table.Frame{Columns: a.Columns[:1]}, Options{}))(t) // a table without images:
}

// TestTagsOfTwo: what two processes tag in one file is in it.
func TestTagsOfTwo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tags.csv")
	var raters sync.WaitGroup
	for _, name := range []string{"x", "y"} {
		tags := must.Get(OpenTags(path, "r"))(t)
		raters.Go(func() {
			for i := range 50 {
				if err := tags.set([]string{fmt.Sprint(name, i)}, "good", true, time.Now()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	raters.Wait()
	must.Equal(t, len(must.Get(OpenTags(path, "r"))(t).list()), 100)
}
