package notebook

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"antipode/internal/cputime"
	"antipode/internal/must"
)

// hostile is a cell per way that a notebook could bring something in that runs or loads.
func hostile() *Notebook {
	html := func(s string) *Output { return &Output{Type: DisplayData, Data: map[string]any{"text/html": s}} }
	svg := `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)" width="9" height="9"><script>alert(2)</script><image href="https://evil.example/x.png"/><rect width="9" height="9"/></svg>`
	return &Notebook{Minor: 5, Cells: []*Cell{
		{Type: Markdown, Source: "# Title <script>alert(1)</script>\n\n<img src=x " +
			"onerror=alert(2)>\n\n[a](javascript:alert(3)) [ok](https://example.org/) " +
			"![r](https://evil.example/r.png)\n\n<iframe src=\"https://evil.example\"></iframe>"},
		{Type: Raw, Source: "</pre><script>alert(4)</script>"},
		{Type: Code, Source: "// </code></pre><script>alert(5)</script>\n%% <script>alert(6)</script>\nx := \"<img " +
			"src=x onerror=alert(7)>\"", Outputs: []*Output{
			{Type: Stream, Name: "stdout",
				Text: "a caption <script>alert(8)</script>\x1b[31m red\x1b[0m\n10%\r50%\r100%\n"},
			{Type: Error, ErrorName: "E<script>", ErrorValue: "<script>alert(9)</script>",
				Traceback: []string{"<script>alert(10)</script>"}},
			html(`<script>alert(11)</script><p onclick="alert(12)">text</p><img src="x" onerror="alert(13)"><img src="https://evil.example/t.png"><img src="//evil.example/u.png">`),
			html(`<style>body{background:url(https://evil.example)}</style><div style="background:url(https://evil.example/b.png);color:red;position:fixed;inset:0">styled</div><link rel="stylesheet" href="https://evil.example/c.css"><meta http-equiv="refresh" content="0;url=https://evil.example"><base href="https://evil.example">`),
			html(`<form action="https://evil.example"><input name=a><button>go</button></form><object data="x.swf"></object><embed src="x"><iframe srcdoc="<script>alert(14)</script>"></iframe><a href="javascript:alert(15)">a</a><a href="data:text/html,<script>alert(16)</script>">b</a>`),
			html(`<div>` + svg + `</div><math><mtext></mtext><script>alert(17)</script></math><template><script>alert(18)</script></template>`),
			html(`<img alt="ok" src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString([]byte(svg)) +
				`"><img src="data:text/html;base64,PHNjcmlwdD4="><img src="data:image/svg+xml,<svg onload=alert(19)>">`),
			{Type: DisplayData, Data: map[string]any{"image/svg+xml": svg, "text/plain": "svg"}},
			{Type: DisplayData, Data: map[string]any{"image/png": `" onerror="alert(20)`}},
			{Type: DisplayData, Data: map[string]any{"application/javascript": "alert(21)",
				"text/plain": "<script>alert(22)</script>"}},
			{Type: ExecuteResult, Data: map[string]any{"text/markdown": "<script>alert(23)</script>\n\n**bold**"}},
		}},
	}}
}

// walk calls f for every element of a page.
func walk(t *testing.T, page []byte, f func(*nethtml.Node)) {
	t.Helper()
	root := must.Get(nethtml.Parse(strings.NewReader(string(page))))(t)
	for n := range root.Descendants() {
		if n.Type == nethtml.ElementNode {
			f(n)
		}
	}
}

func attribute(n *nethtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// Whatever a notebook holds, its page has no element that runs, frames, submits or loads.
func TestHTMLIsInert(t *testing.T) {
	page := HTML(hostile(), Page{})
	images, styled, csp := 0, false, ""
	walk(t, page, func(n *nethtml.Node) {
		switch n.Data {
		case "script", "iframe", "object", "embed", "form", "input", "button", "link", "base", "svg", "math",
			"template", "frame", "video", "audio", "source":
			t.Errorf("the page holds a <%s>", n.Data)
		case "style":
			must.Equal(t, n.Parent.Data, "head", "the page holds a foreign <style>")
		case "meta":
			switch strings.ToLower(attribute(n, "http-equiv")) {
			case "content-security-policy":
				csp = attribute(n, "content")
			case "":
			default:
				t.Errorf("the page holds a <meta http-equiv=%q>", attribute(n, "http-equiv"))
			}
		case "img":
			src := attribute(n, "src")
			must.True(t, src == "" || imageType.MatchString(strings.TrimPrefix(src, "data:")),
				"the page loads %.80q", src)
			if src != "" {
				images++
			}
		}
		for _, a := range n.Attr {
			must.True(t, !strings.HasPrefix(a.Key, "on") && a.Key != "srcdoc" && a.Key != "srcset",
				"<%s> has %s=%.60q", n.Data, a.Key, a.Val)
			if low := strings.ToLower(a.Val); a.Key == "href" &&
				(strings.HasPrefix(low, "javascript:") || strings.HasPrefix(low, "data:")) {
				t.Errorf("a link goes to %.60q", a.Val)
			}
			if a.Key == "style" {
				must.True(t, !strings.Contains(a.Val, "url") && !strings.Contains(a.Val, "position"),
					"inline style %q", a.Val)
				styled = styled || strings.Contains(a.Val, "color")
			}
		}
	})
	if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "img-src data:") ||
		strings.Contains(csp, "script-src") || strings.Contains(csp, "http") {
		t.Errorf("policy is %q", csp)
	}
	if images != 3 { // the drawing inline, as data URI, as output
		t.Errorf("the page shows %d images, want 3", images)
	}
	must.True(t, styled, "harmless inline styles are gone")
	// the page
	must.Has(t, string(page), "a caption &lt;script&gt;alert(8)&lt;/script&gt; red\n100%", "https://example.org/",
		"<strong>bold</strong>", "<title>Title &lt;script&gt;")
}

// Images that Markdown refers to are in the page: attachments and files next to the notebook, and no others.
func TestMarkdownImages(t *testing.T) {
	dir := t.TempDir()
	inside := filepath.Join(dir, "nb")
	must.Do(t, os.Mkdir(inside, 0o755))
	for _, path := range []string{filepath.Join(dir, "secret.png"), filepath.Join(inside, "a b.png")} {
		must.Do(t, os.WriteFile(path, []byte("png"), 0o644))
	}
	must.Do(t, os.Symlink(filepath.Join(dir, "secret.png"), filepath.Join(inside, "link.png")))
	nb := must.Get(Read("testdata/jupyter.ipynb"))(t)
	nb.Cells[0].Source += "\n![x](a%20b.png) ![y](../secret.png) ![z](link.png) ![none](none.png)"
	found := 0
	walk(t, HTML(nb, Page{Dir: inside}), func(n *nethtml.Node) {
		if n.Data != "img" || n.Parent.Data != "p" {
			return
		}
		data := strings.HasPrefix(attribute(n, "src"), "data:image/png;base64,")
		if want := attribute(n, "alt") == "p" || attribute(n, "alt") == "x"; data != want {
			t.Errorf("image %q: embedded is %v", attribute(n, "alt"), data)
		} else if want {
			found++
		}
	})
	must.Equal(t, found, 2, "images are in the page")
}

// Figures and tables keep what makes them readable.
func TestSanitizeKeeps(t *testing.T) {
	for _, s := range []string{
		`<table style="border-collapse: collapse"><thead><tr><th scope="col" style="text-align: right">n</th></tr></thead><tbody><tr><td colspan="2">1</td></tr></tbody></table>`,
		`<details open=""><summary>more</summary><p dir="rtl" lang="ar">نص</p></details>`,
		`<bdi style="font-variant-numeric: tabular-nums">12</bdi>`,
		`<tr style="border-bottom: 1px solid rgba(128,128,128,.4)"><td style="text-align: left; padding: 3px 10px; min-width: 64px"><span style="opacity: .6">none</span></td></tr>`,
		`<figure style="margin: 0; max-width: 640.5px"><img width="96" height="64" alt="a &amp; b" src="data:image/jpeg;base64,/9j/4AAQ" style="display: block"><figcaption>हिन्दी</figcaption></figure>`,
	} {
		got := sanitize(s)
		must.True(t, got == s, "sanitize changed\n%s\nto\n%s", s, got)
	}
}

// A result in several formats appears in the page once, in the best of them.
func TestBundleAppearsOnce(t *testing.T) {
	all := map[string]any{"text/html": "<b>as HTML</b>", "image/svg+xml": "<svg/>", "image/png": "cG5n",
		"text/plain": "as text"}
	for _, c := range [][2]string{
		{"text/html", "<b>as HTML</b>"},
		{"image/svg+xml", `src="data:image/svg+xml;base64,PHN2Zy8+"`},
		{"image/png", `src="data:image/png;base64,cG5n"`},
		{"text/plain", "as text</pre>"},
	} {
		got := outputHTML(&Output{Type: DisplayData, Data: all})
		must.Has(t, got, c[1])
		must.Equal(t, strings.Count(got, `class="out`), 1, c[0], "the best form")
		delete(all, c[0])
	}
}

// TestHugeMarkdown: a cell of 100 kB is rendered within a second, whatever it holds.
func TestHugeMarkdown(t *testing.T) {
	for name, source := range map[string]string{"headings": strings.Repeat("# a\n", 25_000),
		"quotes": strings.Repeat(">", 100_000) + "# a", "lists": strings.Repeat("- ", 50_000) + "a"} {
		var page []byte
		took := cputime.Of(func() { page = HTML(&Notebook{Cells: []*Cell{{Type: Markdown, Source: source}}}, Page{}) })
		must.True(t, took <= time.Second && len(page) >= 50_000, "%s: %d bytes after %v", name, len(page), took)
	}
}
