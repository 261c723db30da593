//go:build chromium

package annotate

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/test/chromium"
)

// browser is a browser in which raters answer pages.
type browser struct{ *chromium.Browser }

func newBrowser(t *testing.T) *browser { return &browser{chromium.New(t)} }

// open opens a file and waits until its script has run; the same file again is a reload.
func (b *browser) open(path string) { b.Open((&url.URL{Scheme: "file", Path: path}).String()) }

// screen is what a rater sees.
type screen struct {
	Text      string // all of it
	Heading   string
	Images    []string // addresses of the images of the item
	Questions []shownNow
	Complete  bool // the button Next can be pressed
}

type shownNow struct {
	Text    string
	Active  bool
	Options []string // of the question
	Extra   []string // none of them, no judgment
	Chosen  int      // buttons pressed
}

func (b *browser) screen() (s screen) {
	b.T.Helper()
	b.Eval(`(() => {
		const all = (e, q) => [...(e?.querySelectorAll(q) ?? [])];
		const labels = e => all(e, 'button').map(o => o.lastElementChild.textContent);
		return {
			text: document.getElementById('app').innerText,
			heading: document.querySelector('h2')?.textContent ?? '',
			images: all(document.querySelector('.frame, .grid:not(.compare)'), 'img').map(i => i.src),
			questions: all(document, 'fieldset').map(f => ({
				text: f.querySelector('legend').textContent, active: f.classList.contains('active'),
				options: labels(f.querySelector('.options')), extra: labels(f.querySelector('.extra')),
				chosen: all(f, '[aria-pressed=true]').length})),
			complete: document.getElementById('next')?.disabled === false,
		};
	})()`, &s)
	return s
}

// item answers the item that is shown, with the keyboard alone.
func (r *rater) item(b *browser) {
	b.T.Helper()
	for s := b.screen(); ; s = b.screen() {
		at := slices.IndexFunc(s.Questions, func(q shownNow) bool { return q.Active })
		if at < 0 {
			b.T.Fatalf("no question is active: %s", s.Text)
		}
		q := s.Questions[at]
		if s.Complete && q.Chosen > 0 {
			b.Press("Enter")
			return
		}
		if q.Chosen > 0 {
			b.Press("ArrowDown")
			continue
		}
		see := seen{heading: s.Heading, text: q.Text, options: q.Options}
		for _, uri := range s.Images {
			see.rows = append(see.rows, r.row(b.T, uri))
		}
		reply := r.answer(see)
		for _, o := range reply.pick {
			b.Press(fmt.Sprint(o + 1))
		}
		switch {
		case reply.unsure:
			b.Press("u")
		case len(reply.pick) == 0:
			b.Press("n")
		}
	}
}

// page answers a page and downloads the answers into a folder. A reload in the middle loses nothing.
func (r *rater) page(b *browser, path, downloads string, reload bool) {
	b.T.Helper()
	b.open(path)
	s := b.screen()
	if !strings.Contains(s.Text, "Content warning") || len(s.Questions) > 0 || len(s.Images) > 0 {
		b.T.Fatalf("%s does not begin with a content warning: %s", path, s.Text)
	}
	b.Press("Enter")
	for i := 0; ; i++ {
		if s = b.screen(); len(s.Questions) == 0 {
			break
		}
		if reload && i == 5 {
			b.open(path)
			again := b.screen()
			if !strings.Contains(again.Text, "Your earlier answers are here") ||
				!strings.Contains(again.Text, "Content warning") {
				b.T.Fatalf("after a reload: %s", again.Text)
			}
			b.Press("Enter")
			if again = b.screen(); !reflect.DeepEqual(again, s) {
				b.T.Fatalf("after a reload another item is shown: %s, before: %s", again.Text, s.Text)
			}
		}
		r.item(b)
	}
	if !strings.Contains(s.Text, "All items are complete") {
		b.T.Fatalf("the end: %s", s.Text)
	}
	b.download(downloads, func() { b.Press("d") })
}

// download waits for the file that an action downloads into a folder.
func (b *browser) download(dir string, do func()) {
	b.T.Helper()
	b.Call("Browser.setDownloadBehavior", map[string]any{"behavior": "allow", "downloadPath": dir}, nil)
	before := must.Get(filepath.Glob(filepath.Join(dir, "*.json")))(b.T)
	do()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		after, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		for _, path := range after { // the browser creates the file before it writes it
			if data, err := os.ReadFile(path); err == nil && !slices.Contains(before, path) && json.Valid(data) {
				return
			}
		}
	}
	b.T.Fatal("nothing was downloaded")
}

// TestChromiumTasks: for each task a rater fills in the pages in a browser, with the keyboard, knowing only what they
// show. The metrics find what was injected.
func TestChromiumTasks(t *testing.T) {
	for task, trial := range trials(evaluator(t)) {
		t.Run(task, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "study")
			trial.o.Task, trial.o.Seed = task, 3
			_ = must.Get(Make(trial.in, dir, trial.o))(t)
			b, r := newBrowser(t), newRater(t, trial)
			paths, err := filepath.Glob(filepath.Join(dir, PagesDir, "*.html"))
			if err != nil || len(paths) == 0 {
				t.Fatal(err)
			}
			for i, path := range paths {
				if info, err := os.Stat(path); err != nil || info.Size() > maxPage {
					t.Error(err, info.Size())
				}
				r.page(b, path, filepath.Join(dir, AnswersDir), i == 0)
			}
			for _, url := range b.Requests {
				if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:image/") &&
					!strings.HasPrefix(url, "blob:") {
					t.Errorf("a page requests %.80s", url)
				}
			}
			c := must.Get(Collect(dir, CollectOptions{}))(t)
			trial.check(t, c)
		})
	}
}

// TestChromiumAnswers: mouse and keyboard, boxes, changes of mind, a skipped item, and notes.
func TestChromiumAnswers(t *testing.T) {
	o := options(Visage)
	o.Raters = 1
	dir, _ := made(t, people(t, 3), o)
	b := newBrowser(t)
	b.open(filepath.Join(dir, PagesDir, "rater-1-page-1.html"))
	if b.Press("s", "1"); len(b.screen().Questions) > 0 {
		t.Error("an item is shown before the rater agreed to the content warning")
	}
	b.Click("#begin")
	if s := b.screen(); s.Complete || len(s.Questions) != 1 {
		t.Fatalf("%+v", s)
	}
	b.Press("Enter") // without an answer
	b.Press("1", "2", "2", "n", "1", "u", "2")
	var box struct{ X, Y, Width, Height float64 }
	b.Eval("document.querySelector('.frame').getBoundingClientRect().toJSON()", &box)
	mouse := func(kind string, x, y float64) {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": box.X + x*box.Width,
			"y": box.Y + y*box.Height, "button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
	mouse("mousePressed", 0.75, 0.5)
	mouse("mouseMoved", 0.5, 0.4)
	mouse("mouseMoved", 0.25, 0.25)
	mouse("mouseReleased", 0.25, 0.25)
	chosen := b.screen().Questions[0].Options[1]
	b.Press("Enter")
	b.Press("s")
	must.Has(t, b.screen().Text, "Item 3 of 3 · 2 complete") // after an item was skipped
	b.Press("ArrowLeft", "ArrowLeft")
	if s := b.screen(); s.Questions[0].Chosen != 1 || !s.Complete || !strings.Contains(s.Text, "Item 1 of 3") {
		t.Errorf("back at the first item: %s", s.Text)
	}
	b.Press("Enter", "Enter") // the skipped item stays skipped
	b.Click(".extra .option:last-child")
	b.Press("Enter")
	if s := b.screen(); !strings.Contains(s.Text, "All items are complete") || !strings.Contains(s.Text, "1 skipped") {
		t.Errorf("the end: %s", s.Text)
	}
	b.download(filepath.Join(dir, AnswersDir), func() { b.Press("d") })
	c, err := Collect(dir, CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Table.Len() != 4 || len(c.Notes) != 2 {
		t.Fatalf("%d rows, %v", c.Table.Len(), c.Notes)
	}
	for i, name := range c.Table.Texts("attribute") {
		left, top := c.Table.Numbers("box_left")[i], c.Table.Numbers("box_top")[i]
		right, bottom := c.Table.Numbers("box_right")[i], c.Table.Numbers("box_bottom")[i]
		near := func(got, want float64) bool { return got > want-4 && got < want+4 }
		if selected := c.Table.Numbers("selected")[i] == 1; selected != (name == chosen) || selected &&
			!(near(left, 128) && near(top, 128) && near(right, 384) && near(bottom, 256)) {
			t.Errorf("%s: selected %v, box %g %g %g %g", name, selected, left, top, right, bottom)
		}
	}

	o.Task, o.Raters = Visual, 3
	dir, _ = made(t, attributes(), o)
	b.open(filepath.Join(dir, PagesDir, "rater-1-page-1.html"))
	b.Press("Enter", "u")
	b.Eval("document.querySelector('.note input').focus() ?? 0", new(any))
	b.Press("s", "1") // text, not keys of the page
	b.Press("Enter")
	must.Has(t, b.screen().Text, "Item 2 of 9") // after a note
	b.download(filepath.Join(dir, AnswersDir), func() { b.Click(".quiet") })
	c, err = Collect(dir, CollectOptions{Partial: true})
	if err != nil || c.Ratings.Len() != 1 || c.Ratings.Numbers("label")[0] != 3 || c.Ratings.Texts("note")[0] != "s1" {
		t.Errorf("%+v, %v", c, err)
	}
	b.Eval(`Object.keys(localStorage).forEach(key => dispatchEvent(new StorageEvent('storage', {key,
		newValue: '{"items":{"5":{"skip":true}}}'}))) ?? 0`, new(any)) // from another tab
	b.Press("1")
	var kept bool
	b.Eval(`Object.values(localStorage).some(v => JSON.parse(v).items[5]?.skip)`, &kept)
	must.True(t, kept, "answers of another tab are lost")
}

// hostile are texts that run a script where they become part of a page.
var hostile = []string{`</script><script>document.documentElement.setAttribute('data-ran','1')</script>`,
	`<img src=x onerror="document.documentElement.setAttribute('data-ran','1')">`,
	`"><svg onload=document.documentElement.setAttribute('data-ran',1)>`, `<!--<script>`, `javascript:alert(1)`,
	`<iframe src="https://example.org/"></iframe>`, "\u2028', alert(1), '"}

// TestChromiumHostile: texts of the tables are shown as they are, and nothing in them runs. The same texts in a bare
// page do run: the test can tell.
func TestChromiumHostile(t *testing.T) {
	b := newBrowser(t)
	ran := func(path string) (is bool) {
		t.Helper()
		b.open(path)
		time.Sleep(200 * time.Millisecond)
		b.Eval("document.documentElement.hasAttribute('data-ran')", &is)
		return is
	}
	bare := filepath.Join(t.TempDir(), "bare.html")
	must.Do(t, os.WriteFile(bare, []byte("<!DOCTYPE html><body>"+hostile[1]), 0o644))
	must.True(t, ran(bare), "nothing ran in the bare page: the test tells nothing")
	n := len(hostile)
	in := people(t, n)
	for _, name := range []string{"id", "identity", "model", "language", "prompt", "attribute", "concept",
		"question"} {
		in = in.With(table.TextColumn(name, hostile))
	}
	words := attributes()
	words.Columns[1] = table.TextColumn("attribute", append(slices.Clone(hostile), "a", "b"))
	words.Columns[0] = texts("identity", hostile[1], 9)
	for _, task := range Tasks {
		o := options(task)
		o.Tags, o.Attributes, o.Axes = hostile, words, "perceived_x=<img src=x onerror=alert(1)>/<script>alert(2)"
		from := in
		if task == Visage {
			from = in.With(texts("identity", hostile[1], n))
		}
		dir, _ := made(t, from, o)
		b.Requests = nil
		if ran(filepath.Join(dir, PagesDir, "rater-1-page-1.html")) {
			t.Fatalf("%s: something ran", task)
		}
		b.Press("Enter")
		shown := ""
		for s := b.screen(); len(s.Questions) > 0; s = b.screen() {
			b.Press("1")
			shown += b.screen().Text + s.Text
			b.Press("s")
		}
		found := 0
		for _, text := range hostile {
			if strings.Contains(shown, text) {
				found++
			}
		}
		must.True(t, found >= 3, "%s: %d of the texts are shown as they are", task, found)
		is := true
		if b.Eval("document.documentElement.hasAttribute('data-ran')", &is); is {
			t.Errorf("%s: something ran", task)
		}
		for _, url := range b.Requests {
			must.True(t, strings.HasPrefix(url, "file://") || strings.HasPrefix(url, "data:image/"),
				"%s: requests %.80s", task, url)
		}
	}
}
