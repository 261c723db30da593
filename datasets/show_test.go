package datasets

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// shown is a table of n rows with a column of each kind; row 2 has no values and row 3 an image that cannot be read.
func shown(t *testing.T, n int) *Frame {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 200, 100))))
	good := filepath.Join(t.TempDir(), "good.png")
	must.Do(t, os.WriteFile(good, b.Bytes(), 0o600))
	bits := mask.New(200, 100)
	for i := range bits.Pix {
		bits.Pix[i] = i%200 < 46
	}
	f := textFrame("id", "prompt", "outcome", "reason")
	var images []table.Image
	var masks []table.Mask
	var seeds, scores []float64
	var vectors [][]float32
	for i := range n {
		f.Add([]string{fmt.Sprintf("i%d", i+1), `<script>alert("x")</script> & 水`, "ok", ""})
		images, masks = append(images, table.Image{Path: good}), append(masks, mask.Encode(bits))
		seeds, scores, vectors = append(seeds, 1e9+float64(i)), append(scores, 0.5+float64(i)/3),
			append(vectors, make([]float32, 768))
	}
	images[1], masks[1], seeds[1], scores[1], vectors[1] = table.Image{}, table.Mask{}, math.NaN(), math.NaN(), nil
	images[2] = table.Image{Path: filepath.Join(t.TempDir(), "gone.png")}
	f.Columns[2].Texts[1], f.Columns[3].Texts[1] = "refused", strings.Repeat("because ", 60)
	return f.With(table.ImageColumn("image", images), table.MaskColumn("mask", masks),
		table.NumberColumn("seed", seeds),
		table.NumberColumn("score", scores), table.VectorColumn("full", vectors))
}

func textFrame(names ...string) *Frame {
	specs := make([]table.ColumnSpec, len(names))
	for i, name := range names {
		specs[i] = table.ColumnSpec{Name: name, Kind: table.KindText}
	}
	return table.NewFrame(specs)
}

func TestShownHTML(t *testing.T) {
	page := tableHTML(shown(t, 192), 10)
	for want, n := range map[string]int{
		`<tr style="border-bottom:1px solid rgba`:              10,
		`padding:3px 10px;min-width:64px"`:                     20,
		`<img width="64" height="32" `:                         17, // 8 images and 9 masks
		`alt="image 200×100" src="data:image/jpeg;base64,`:     8,
		`alt="mask 200×100, 23 %" src="data:image/png;base64,`: 9,
		">23 %</div>":                      9,
		"<bdi>1000000000</bdi>":            1,
		"<bdi>1.5</bdi>":                   1,
		"<bdi>768 float32</bdi>":           9,
		">none</span>":                     5,
		"image: no such file or directory": 1,
		"<bdi>refused</bdi>":               1,
		"…</bdi></span>":                   1,
		"&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; &amp; 水": 10,
		"<script": 0,
		"… 182 more rows · 192 rows × 9 columns": 1,
	} {
		must.Equal(t, strings.Count(page, want), n, want)
	}
	must.Equal(t, regexp.MustCompile(`[";](color|background)[^;"]*:[^;"]*`).FindString(page), "",
		"a color of its own, which a dark page hides")
	if len(page) > 60_000 {
		t.Errorf("%d bytes", len(page))
	}
}

// Thumbnails have a common limit; what is beyond it is described.
func TestShownHTMLIsBounded(t *testing.T) {
	room := 100
	f := shown(t, 3)
	must.Equal(t, cellHTML(f.Column("image"), 0, &room), "<bdi>image 200×100</bdi>", "an image without room")
	huge := table.Mask{Size: [2]int{60000, 60000}, Counts: "0"}
	if got := maskPNG(huge); got != nil {
		t.Errorf("a mask of 3.6 gigapixels is drawn")
	}
}

func TestShownText(t *testing.T) {
	f := shown(t, 12)
	text := Format(f, 2) + size(f)
	lines := strings.Split(text, "\n")
	if len(lines) != 5 || lines[3] != "… 10 more rows" || lines[4] != "12 rows × 9 columns" {
		t.Fatalf("%d lines:\n%s", len(lines), text)
	}
	for _, want := range []string{"image 200×100  mask 200×100, 23 %  1000000000    0.5  768 float32",
		"refused  because because because"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	must.Equal(t, size(f.Pick([]int{0})), "1 row × 9 columns")
	for v, want := range map[float64]string{4294967295: "4294967295", -3: "-3", 0.123456789: "0.123457",
		1234567.89: "1234567.9", 1e300: "1e+300"} {
		must.Equal(t, numberText(v), want, v)
	}
}

// slow is an executor that reports work for some minutes and returns a frame.
type slow struct{ frame *Frame }

func (s slow) Run(_ context.Context, _ client.Request, progress func(table.Progress)) (*client.Result, error) {
	for done := range 2 {
		progress(table.Progress{Stage: "segment archipelago-clipseg", Done: done, Total: 189, Rate: 1.2})
	}
	return &client.Result{Frame: s.frame, Rows: s.frame.Len()}, nil
}

// TestEstimate: Show prints one estimate before more than a minute of work; Run, an explicit request for it, does not.
func TestEstimate(t *testing.T) {
	before := client.Registered()
	client.Register(slow{shown(t, 3)})
	t.Cleanup(func() { client.Register(before) })
	table := New("slow", nil, nil)
	for name, work := range map[string]func(){"show": table.Show, "print": table.Print, "run": table.Run} {
		said := captured(t, &os.Stderr, func() { captured(t, &os.Stdout, work) })
		want := "segment archipelago-clipseg: 189 items, about 3 min\n"
		if name == "run" {
			want = ""
		}
		must.Equal(t, said, want, name)
	}
	var text string
	captured(t, &os.Stderr, func() { text = captured(t, &os.Stdout, table.Show) })
	if !strings.HasSuffix(text, "\n3 rows × 9 columns\n") {
		t.Errorf("shown:\n%s", text)
	}
}

// captured is what work writes to a standard stream.
func captured(t *testing.T, stream **os.File, work func()) string {
	t.Helper()
	r, w := must.Get2(os.Pipe())(t)
	before := *stream
	*stream = w
	text := make(chan string)
	go func() {
		all, _ := io.ReadAll(r)
		text <- string(all)
	}()
	work()
	*stream = before
	w.Close()
	select {
	case all := <-text:
		return all
	case <-time.After(5 * time.Second):
		t.Fatal("the stream is not closed")
		return ""
	}
}

// TestShowMasked: a prompt with a masked form is displayed in that form, also after verbs that choose columns; its
// value is the prompt.
func TestShowMasked(t *testing.T) {
	rows := FromRows([]map[string]any{{"id": "a", "prompt": "a loud person", "prompt_shown": "a masked 1 person"},
		{"id": "b", "prompt": "a tall person", "prompt_shown": ""}})
	for name, tab := range map[string]Table{"all": rows, "Select": rows.Select("id", "prompt"),
		"Count": rows.Count("prompt"), "Rename": rows.Rename("prompt", "text").Select("text")} {
		must.Do(t, tab.Err())
		f := must.Get(tab.Rows(t.Context()))(t)
		must.EqualSlices(t, f.Specs(), tab.Columns(), name, "columns", "declared")
		for what, text := range map[string]string{"text": Format(f, 0), "HTML": tableHTML(f.Shown(), 10)} {
			if strings.Contains(text, "loud") || !strings.Contains(text, "a masked 1 person") ||
				!strings.Contains(text, "a tall person") || strings.Contains(text, "_shown") {
				t.Errorf("%s as %s: %s", name, what, text)
			}
		}
		if name == "all" && f.Texts("prompt")[0] != "a loud person" {
			t.Errorf("the prompt is %q", f.Texts("prompt")[0])
		}
	}
}

// TestFormatEscapes: a table printed to a terminal holds no control characters of its values and column names.
func TestFormatEscapes(t *testing.T) {
	f := &Frame{Columns: []table.Column{table.TextColumn("id\x1b[2J", []string{"\x1b]0;title\x07", "\u202egpj.exe"})}}
	want := "id\\x1b[2J\n\\x1b]0;title\\x07\n\\u202egpj.exe\n"
	must.Equal(t, Format(f, 0), want)
}

// Tables without images show 30 rows, those with images 10.
func TestShownRows(t *testing.T) {
	var rows []map[string]any
	for i := range 31 {
		rows = append(rows, map[string]any{"id": fmt.Sprint(i)})
	}
	f := FromRows(rows).frame
	for want, f := range map[string]*Frame{
		"… 1 more row": f,
		"… 21 more rows": f.With(Column{ColumnSpec: table.ColumnSpec{Name: "image", Kind: table.KindImage},
			Images: make([]table.Image, 31)}),
	} {
		out := captured(t, &os.Stdout, FromFrame(f).Show)
		if !strings.Contains(out, want+"\n") {
			t.Errorf("want %s: %s", want, out)
		}
	}
}
