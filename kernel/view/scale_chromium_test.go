//go:build chromium

package view

import (
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots/browse"
	"antipode/test/chromium"
)

// many is a table of n rows that share 200 images of 512 × 512 pixels.
func many(t *testing.T, n int, shift float64) *table.Frame {
	dir := t.TempDir()
	files := make([]table.Image, 200)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		img := image.NewRGBA(image.Rect(0, 0, 512, 512))
		for y := range 512 {
			for x := range 512 {
				img.Set(x, y, color.RGBA{uint8(x + i), uint8(y + 3*i), uint8(7 * i), 255})
			}
		}
		path := filepath.Join(dir, fmt.Sprint(i, ".png"))
		file := must.Get(os.Create(path))(t)
		must.Do(t, png.Encode(file, img))
		must.Do(t, file.Close())
		files[i] = table.Image{SHA256: fmt.Sprint(i, shift), Path: path}
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", nil), table.ImageColumn("image", nil),
		table.TextColumn("prompt", nil), table.TextColumn("region", nil), table.NumberColumn("score", nil),
		table.NumberColumn("weight", nil), table.VectorColumn("full", nil)}}
	for i := range n {
		v := make([]float32, 32)
		for k := range v {
			v[k] = float32(rng.NormFloat64() + shift*float64(k%2))
		}
		for k, cell := range []table.Value{{Text: fmt.Sprint("row-", i)}, {Image: files[i%200]},
			{Text: fmt.Sprint("a boat of kind ", i%977)}, {Text: fmt.Sprint("region ", i%12)},
			{Number: math.Sin(float64(i)) + shift}, {Number: float64(i * 7 % 1000)}, {Vector: v}} {
			f.Columns[k].Add(cell)
		}
	}
	return f
}

// resident is the memory of this process in MB.
func resident() int {
	data, _ := os.ReadFile("/proc/self/statm")
	var all, pages int
	fmt.Sscan(string(data), &all, &pages)
	return pages * os.Getpagesize() / 1e6
}

// TestScale measures the pages of tables of 300, 5,000 and 50,000 rows: the grid, pairs side by side, the balls of
// reference images, the scatter plot with a lasso, and marks of a figure. Times are logged, what is shown is checked.
func TestScale(t *testing.T) {
	sizes := []int{300, 5000, 50000}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for _, n := range sizes {
		rows := many(t, n, 0)
		measure := func(name string, g *Gallery, do func(b *chromium.Browser, time func(what, action, ready string))) {
			runtime.GC()
			before := resident()
			ctx, stop := context.WithCancel(t.Context())
			address, ended := make(chan string, 1), make(chan error, 1)
			go func() { ended <- g.Serve(ctx, ServeOptions{}, func(a string) { address <- a }) }()
			b := chromium.New(t)
			b.Open(<-address)
			b.Wait("document.querySelectorAll('.tile img').length > 5 && " +
				"[...document.querySelectorAll('.tile img')].slice(0, 6).every(i => i.complete)")
			var ms float64
			b.Eval(`Math.max(...performance.getEntriesByType('resource').filter(e => e.name.includes('/thumb/')).`+
				`map(e => e.responseEnd).sort((a, b) => a - b).slice(0, 6))`, &ms)
			line := []string{fmt.Sprintf("first 6 thumbnails %.0f ms", ms)}
			do(b, func(what, action, ready string) {
				b.Eval(fmt.Sprintf("window.took = null; (async () => { const t = performance.now(); %s; "+
					"for (;;) { await new Promise(requestAnimationFrame); if (%s) break; } "+
					"window.took = performance.now() - t; })(); 0", action, ready), new(any))
				b.Wait("window.took !== null")
				b.Eval("window.took", &ms)
				line = append(line, fmt.Sprintf("%s %.0f ms", what, ms))
			})
			var metrics struct {
				Metrics []struct {
					Name  string
					Value float64
				}
			}
			b.Call("Performance.enable", nil, nil)
			b.Call("HeapProfiler.collectGarbage", nil, nil)
			b.Call("Performance.getMetrics", nil, &metrics)
			for _, m := range metrics.Metrics {
				if m.Name == "JSHeapUsedSize" {
					line = append(line, fmt.Sprintf("page %.0f MB", m.Value/1e6))
				}
			}
			line = append(line, fmt.Sprintf("server %d MB (%d before)", resident(), before))
			stop()
			must.Do(t, <-ended)
			t.Logf("%d rows, %s: %s", n, name, strings.Join(line, ", "))
		}
		count := "document.getElementById('count').textContent"
		set := func(id, value string) string {
			return fmt.Sprintf("(s => { s.value = '%s'; s.onchange(); })(document.getElementById('%s'))", value, id)
		}
		measure("grid", must.Get(New(rows, Options{}))(t), func(b *chromium.Browser, time func(_, _, _ string)) {
			time("filter", "[...document.querySelectorAll('.choice input')][3].click()", count+".includes(' of ')")
			time("search", "const s = document.getElementById('search'); s.value = 'kind 12'; s.oninput()",
				"location.hash.includes('kind')")
			b.Click("#clear")
			time("sort by a number", set("sort", "score"), "true")
			time("sort by a text", set("sort", "prompt"), "true")
			time("group", set("group", "region"), "document.querySelector('.heading')")
			b.Eval("window.frames_ = 0; window.end_ = null; (async () => { const g = document.getElementById('grid'), "+
				"t = performance.now(); while (performance.now() - t < 2000) { g.scrollTop += 60; "+
				"await new Promise(requestAnimationFrame); frames_++; } end_ = frames_ / 2; })(); 0", new(any))
			b.Wait("window.end_ !== null")
			var rate float64
			b.Eval("window.end_", &rate)
			t.Logf("%d rows, scroll at %.0f frames a second", n, rate)
			must.Equal(t, b.Serious(), "", "axe-core")
			time("scatter", "document.getElementById('plot').click()", "document.getElementById('canvas').width > 400")
			var box struct{ X, Y, Width, Height float64 }
			b.Eval("document.getElementById('canvas').getBoundingClientRect().toJSON()", &box)
			mouse := func(kind string, x, y float64) {
				b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": box.X + x*box.Width,
					"y": box.Y + y*box.Height, "button": "left", "buttons": 1, "clickCount": 1}, nil)
			}
			mouse("mousePressed", 0.3, 0.2)
			for _, p := range [][2]float64{{0.5, 0.2}, {0.5, 0.5}, {0.5, 0.8}, {0.3, 0.8}, {0.3, 0.5}} {
				mouse("mouseMoved", p[0], p[1])
			}
			mouse("mouseReleased", 0.3, 0.25)
			b.Wait(count + ".includes(' of ')")
			time("lasso", "document.getElementById('unlasso').click(); history.back()", count+".includes(' of ')")
			if n == sizes[0] {
				screens(b, "grid")
			}
		})
		measure("pairs", must.Get(New(rows, Options{Compare: many(t, n, 0.5), On: []string{"id"}}))(t),
			func(b *chromium.Browser, time func(_, _, _ string)) {
				time("sort by distance", set("sort", "distance"), "true")
				b.Eval("document.getElementById('grid').focus() ?? 0", new(any))
				b.Press("ArrowRight", "Enter")
				b.Wait("document.querySelectorAll('#stage img').length === 2")
				if n == sizes[0] {
					screens(b, "pairs")
				}
			})
		real := many(t, min(n, 5000), 0.1)
		spheres := &table.Frame{Columns: []table.Column{table.TextColumn("source", nil), table.TextColumn("id", nil),
			table.NumberColumn("radius", nil), table.NumberColumn("n_inside", nil)}}
		for source, f := range map[string]*table.Frame{"real": real, "generated": rows} {
			for i := range f.Len() {
				spheres.Columns[0].Texts = append(spheres.Columns[0].Texts, source)
				spheres.Columns[1].Texts = append(spheres.Columns[1].Texts, f.Texts("id")[i])
				spheres.Columns[2].Numbers = append(spheres.Columns[2].Numbers, 6)
				spheres.Columns[3].Numbers = append(spheres.Columns[3].Numbers, float64(i%5))
			}
		}
		measure("balls", must.Get(New(rows, Options{Real: real, Spheres: spheres, Vector: "full"}))(t),
			func(b *chromium.Browser, time func(_, _, _ string)) {
				time("sort by n_balls", set("sort", "n_balls"), "true")
				time("enlarge", "document.querySelector('.tile').click()", "document.getElementById('balls')")
				if n == sizes[0] {
					screens(b, "balls")
				}
			})
		figure := &browse.Figure{Text: "scores", Head: []string{"region", "score"}}
		for i := range 12 {
			m := browse.Mark{}
			m.Select("region", []string{fmt.Sprint("region ", i)})
			figure.Marks = append(figure.Marks, m)
			figure.Cells = append(figure.Cells, []string{fmt.Sprint("region ", i), "0.5"})
		}
		linked := must.Get(New(rows, Options{}))(t)
		linked.Figure = figure
		measure("linked figure", linked, func(b *chromium.Browser, time func(_, _, _ string)) {
			time("mark", "document.querySelector('#figure button').click()", count+".includes(' of ')")
			if n == sizes[0] {
				screens(b, "linked")
			}
		})
	}
}

// screens takes screenshots in light, dark and phone width where ANTIPODE_SCREENS names a folder, and checks the page
// with axe-core in each.
func screens(b *chromium.Browser, name string) {
	for _, look := range []string{"light", "dark", "phone"} {
		width, scheme := 1280, "light"
		switch look {
		case "dark":
			scheme = "dark"
		case "phone":
			width = 390
		}
		b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
			{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 844,
			"deviceScaleFactor": 1, "mobile": look == "phone"}, nil)
		b.Eval("window.drawn_ = false; requestAnimationFrame(() => requestAnimationFrame(() => { drawn_ = true; })); 0",
			new(any))
		b.Wait("drawn_")
		if found := b.Serious(); found != "" {
			b.T.Errorf("axe-core, %s, %s: %s", name, look, found)
		}
		if dir := os.Getenv("ANTIPODE_SCREENS"); dir != "" {
			var shot struct{ Data string }
			b.Call("Page.captureScreenshot", nil, &shot)
			data := must.Get(base64.StdEncoding.DecodeString(shot.Data))(b.T)
			must.Do(b.T, os.WriteFile(filepath.Join(dir, name+"-"+look+".png"), data, 0o600))
		}
	}
	b.Call("Emulation.clearDeviceMetricsOverride", nil, nil)
}
