//go:build chromium

package commands

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/internal/must"
	"antipode/kernel/backend/plugin"
	"antipode/test/chromium"
)

// viewed runs `antipode view` and opens its address.
func viewed(t *testing.T, b *chromium.Browser, args ...string) (closed func()) {
	t.Helper()
	r, w, err := os.Pipe()
	must.Do(t, err)
	stdout := os.Stdout
	os.Stdout = w
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- dispatch(ctx, append([]string{"view", "--no-browser"}, args...)) }()
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if _, rest, ok := strings.Cut(lines.Text(), ": http"); ok {
			address, _, _ := strings.Cut("http"+rest, " ")
			b.Open(address)
			break
		}
	}
	return func() {
		stop()
		must.Do(t, <-ended)
		os.Stdout = stdout
		w.Close()
		r.Close()
	}
}

// TestTasks does the tasks of docs/view.md, "Five tasks", as written there: the commands, and in the page the clicks
// and keys.
func TestTasks(t *testing.T) {
	t.Setenv(plugin.Env, "none")
	run := inProcess(t)
	t.Chdir(t.TempDir())
	for i, name := range []string{"old", "new"} { // folders of folders of images
		world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 7, Injected: i == 1, PerCell: 1})
		rows := must.Get(world.Sampled().Rows(t.Context()))(t)
		for row, img := range rows.Images("image") {
			dir := name + "/" + rows.Texts("region")[row]
			must.Do(t, os.MkdirAll(dir, 0o755))
			data := must.Get(os.ReadFile(img.Path))(t)
			must.Do(t, os.WriteFile(fmt.Sprintf("%s/%s.png", dir, rows.Texts("object")[row]), data, 0o644))
		}
	}
	command := func(line string) string {
		t.Helper()
		printed, err := run(strings.Fields(line)...)
		if err != nil && !strings.Contains(err.Error(), "the tables differ") {
			t.Fatalf("%s: %v", line, err)
		}
		return printed
	}
	b := chromium.New(t)
	choose := func(id, value string) {
		t.Helper()
		b.Eval(fmt.Sprintf("(s => { s.value = %q; s.onchange(); return s.value === %[1]q; })"+
			"(document.getElementById(%q))", value, id), new(bool))
	}
	first := "document.querySelector('.tile .caption').textContent"
	is := func(want, expression string) {
		t.Helper()
		b.Wait(fmt.Sprintf("String(%s).includes(%q)", expression, want))
	}

	// Two folders, by region.
	command("embed --model archipelago-vit --in old --out old.parquet")
	command("embed --model archipelago-vit --in new --out new.parquet")
	closed := viewed(t, b, "old.parquet", "--compare", "new.parquet", "--by", "folder")
	b.Wait("document.querySelectorAll('.tile img').length > 2")
	is("Brackwyn,8,", "[...document.querySelectorAll('#figure tr')[1].children].map(e => e.textContent)")
	choose("group", "folder")
	is("folder: Brackwyn · 8", "document.querySelector('.heading').textContent")
	choose("sort", "distance")
	b.Click("#down")
	is("Brackwyn/", first)
	closed()

	// The worst of a group.
	closed = viewed(t, b, "new.parquet", "--real", "old.parquet", "--by", "folder")
	b.Wait("document.querySelectorAll('.tile img').length > 2")
	b.Eval(`[...document.querySelectorAll('.choice')].find(e => e.textContent.startsWith('Ondulay')).querySelector('input')`+
		`.click() ?? 0`, new(any))
	choose("sort", "n_balls")
	is("8 of 48 rows", "document.getElementById('count').textContent")
	b.Eval("document.getElementById('grid').focus() ?? 0", new(any))
	b.Press("ArrowRight", "Enter")
	is(" of 8 reference images by full", "document.getElementById('balls')?.textContent")
	b.Press("Escape")
	closed()

	// What changed between two runs.
	must.Has(t, command("diff old.parquet new.parquet"), "48 rows in both, by id")

	// Tags of 30 images.
	closed = viewed(t, b, "new", "--tags", "good,wrong", "--rater", "me")
	b.Wait("document.querySelectorAll('.tile img').length > 2")
	b.Eval("document.getElementById('grid').focus() ?? 0", new(any))
	for i := range 30 {
		b.Press("ArrowRight")
		if i%3 == 0 {
			b.Click("#tagging button:nth-of-type(2)") // wrong
		} else {
			b.Press("1")
		}
		is(fmt.Sprintf(", %d tagged", i+1), "document.getElementById('count').textContent")
	}
	closed()
	shares := command("score --metric tag-shares --in new --tags new.tags-me.csv")
	must.Has(t, shares, "20           30", "10           30")
}
