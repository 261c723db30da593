//go:build chromium

package view

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/test/chromium"
)

// TestChromium uses the served page as a person does, with the keyboard, and opens an exported one. Nothing of a
// hostile table runs, and the page asks its own server alone.
func TestChromium(t *testing.T) {
	frame, dir := images(t)
	spheres := &table.Frame{Columns: []table.Column{table.TextColumn("source", []string{"real", "real", "generated"}),
		table.TextColumn("id", []string{"a", hostile, hostile}), table.NumberColumn("radius", []float64{0.5, 0.01, 0}),
		table.NumberColumn("n_inside", []float64{1, 0, 1})}}
	g := must.Get(New(frame, Options{Title: hostile, Real: frame, Spheres: spheres, Vector: "full"}))(t)
	file := filepath.Join(dir, "tags.csv")
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		o := ServeOptions{Tags: []string{"good", hostile}, Saved: must.Get(OpenTags(file, "r"))(t), Dir: dir}
		ended <- g.Serve(ctx, o, func(a string) { address <- a })
	}()
	b := chromium.New(t)
	open := <-address
	b.Open(open)
	b.Wait("document.querySelectorAll('.tile').length === 4")
	is := func(want, expression string) {
		t.Helper()
		var got string
		if b.Eval("String("+expression+")", &got); got != want {
			t.Errorf("%s is %q, want %q", expression, got, want)
		}
	}
	b.Wait("document.querySelectorAll('.tile .missing').length === 2") // refused, and no image
	is(hostile, "document.title")
	is("4 rows", "document.getElementById('count').textContent")
	is("refused: unsafe <b>prompt</b>", "document.querySelectorAll('.tile')[2].querySelector('.missing').textContent")
	is("a ******", "document.querySelectorAll('.tile')[0].querySelectorAll('.caption')[1].textContent")

	for stops, at := 0, ""; at != "grid"; stops++ { // with the keyboard alone
		b.Press("Tab")
		if b.Eval("document.activeElement.id", &at); stops == 60 {
			t.Fatal("the grid is not among the first 60 stops of the key Tab")
		}
	}
	b.Press("ArrowRight", "ArrowRight", "1")
	b.Wait("document.querySelectorAll('.tile')[1].querySelector('.tags').textContent === 'good'")
	must.Has(t, string(must.Get(os.ReadFile(file))(t)), "good,r,")
	b.Press("u")
	b.Wait("document.querySelectorAll('.tile')[1].querySelector('.tags').textContent === ''")
	b.Press("Enter")
	b.Wait("document.querySelector('#stage img')?.naturalWidth === 300")
	is("Image "+hostile, "document.getElementById('detail').getAttribute('aria-label')")
	b.Wait("document.querySelectorAll('#facts .near button').length === 2")
	b.Wait("document.getElementById('balls').textContent.startsWith('In the balls of 1 of 2 reference images by full')")
	b.Wait("document.querySelectorAll('#facts .near .inside img').length === 2 && " + // its own ball, and that of a
		"document.querySelector('#facts .near .inside img').naturalWidth > 0")
	b.Press("ArrowRight")
	b.Wait("document.getElementById('stage').textContent.startsWith('refused')")
	b.Press("Escape")
	b.Wait("!document.getElementById('detail').open")

	is("2 "+hostile, "document.querySelectorAll('#tagging button')[1].textContent")
	b.Click("#plot")
	b.Wait("document.getElementById('canvas').width > 400")
	is("true", `(() => { const c = document.getElementById('canvas'), b = c.getBoundingClientRect(), texts = [];
		for (let x = 0; x < b.width; x += 6) for (let y = 0; y < b.height; y += 6) {
			c.onpointermove({ clientX: b.left + x, clientY: b.top + y });
			if (!document.getElementById('hover').hidden) texts.push(document.getElementById('hover').textContent);
		}
		return texts.some(t => t.includes('</script><script>')) && texts.includes('a'); })()`)
	b.Click("#plot")
	search := func(text string) {
		b.Eval(`(s => { s.value = '`+text+`'; s.oninput(); return 0; })(document.getElementById('search'))`, new(any))
	}
	search("SECRET")
	b.Wait("document.getElementById('count').textContent === '0 of 4 rows'") // what is masked is not found
	// the image that had the focus is not shown, so that no other is tagged
	b.Press("1")
	b.Wait("document.getElementById('message').textContent === 'Select images first.'")
	search("Ｃ")
	b.Wait("document.getElementById('count').textContent.startsWith('2 of 4')") // c, refused, and the hostile texts
	b.Eval("document.documentElement.dataset.left = 1", new(any))
	b.Call("Page.reload", nil, nil)
	b.Wait("document.documentElement && !document.documentElement.dataset.left && " + // the address holds the filter
		"document.getElementById('count')?.textContent.startsWith('2 of 4')")
	b.Click("#clear")
	b.Wait("document.getElementById('count').textContent === '4 rows'")

	page := filepath.Join(dir, "page.html")
	must.Get(g.Export(page, 64))(t)
	stop()
	must.Do(t, <-ended)
	b.Open((&url.URL{Scheme: "file", Path: page}).String())
	b.Wait("document.querySelectorAll('.tile img').length === 2")
	is("2", "document.querySelectorAll('script').length")
	base, _, _ := strings.Cut(open, "/?")
	for _, r := range b.Requests {
		if !strings.HasPrefix(r, base) && !strings.HasPrefix(r, "file://"+page) && !strings.HasPrefix(r, "data:") {
			t.Errorf("a page requested %s", r)
		}
	}
}
