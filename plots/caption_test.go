package plots_test

import (
	"bytes"
	"encoding/binary"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/cell"
	"antipode/internal/must"
	"antipode/plots"
)

// TestCaption compares captions for LaTeX: special characters are escaped, isolated text is not marked.
func TestCaption(t *testing.T) {
	tab := made(texts("region", "a\u2068b\u2069", "c_d"), small(0.5, 1))
	for want, f := range map[string]plots.Figure{
		`50 \% \& \textbackslash{}x. First. No intervals in the table.`: plots.Bars{Table: tab, Y: "v",
			Title: `50 % & \x`, Note: "First.", Theme: plots.Theme{Bare: true}},
		`v by region. No intervals in the table. No data: a.`: plots.Bars{Table: made(texts("region", "a", "b"),
			small(math.NaN(), 1)), Y: "v"},
		`v by region. No intervals in the table. Basis of the values: judge alone (1 of 2); labels (1 of 2).`: plots.Bars{
			Table: made(texts("region", "a", "b"), small(0.5, 1), texts("basis", "judge alone", "labels")), Y: "v"},
		`T. 2 rows not shown: sampled-tarrish-kite-000, sampled-tarrish-kite-001. 22 of 24 images, the first of the ` +
			`table; 2 more not shown.`: plots.Grid{Table: photos(), Rows: "id", Limit: 22, Title: "T"},
		`T\_1. by hand`: plots.Table{Table: tab, Title: "T_1", Notes: []string{"by hand"}},
	} {
		got, err := plots.Caption(f)
		must.True(t, got == want && err == nil, "%q (%v), want %q", got, err, want)
	}
	for _, f := range []plots.Figure{plots.Bars{Table: tab, Y: "w"}, plots.Browse{Table: tab}} {
		must.Fail(plots.Caption(f))(t)
	}
}

// TestBare finds neither title nor caption in what is drawn.
func TestBare(t *testing.T) {
	bare := plots.Theme{Bare: true}
	for name, f := range map[string]plots.Figure{
		"bars": plots.Bars{Table: scores(), Y: "coverage", X: "region", Series: "vector", Panels: "template",
			Title: "A title", Theme: bare},
		"grid": plots.Grid{Table: photos(), Title: "A title", Theme: bare},
	} {
		for _, text := range labels(drawSVG(t, f)) {
			if strings.Contains(text, "title") || strings.Contains(text, "Whiskers") || strings.Contains(text, "n = ") {
				t.Errorf("%s: %q", name, text)
			}
		}
		page := must.Get(plots.Text(f, "html"))(t)
		must.True(t, !strings.Contains(page, ">A title") && !strings.Contains(page, "<figcaption"),
			"%s: the page has a title or a caption", name)
	}
}

// TestResolution finds the resolution in a PNG.
func TestResolution(t *testing.T) {
	for dpi, want := range map[int][2]int{300: {11811, 975}, 50: {1969, 163}} {
		f := plots.Grid{Table: photos(), Limit: 24, Theme: plots.Theme{DPI: dpi, Width: 312}}
		data := must.Get(plots.Render(f, "png"))(t)
		at := bytes.Index(data, []byte("pHYs"))
		must.True(t, at == 37 && int(binary.BigEndian.Uint32(data[at+4:])) == want[0] && data[at+12] == 1,
			"pHYs at %d", at)
		must.Equal(t, must.Get(png.Decode(bytes.NewReader(data)))(t).Bounds().Dx(), want[1], "dots wide")
	}
}

// TestExport shows figures as `antipode export` has a notebook show them: the files of each are numbered and named by
// its title in plain letters, and the captions are escaped; a page of images, and a table that is printed, too.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(cell.ExportVariable, dir)
	t.Setenv(cell.ExportWidthVariable, "3.25")
	tab := made(texts("region", "a", "b_c"), small(0.5, 1))
	for _, f := range []plots.Figure{
		plots.Bars{Table: tab, Y: "v", Title: "../é/{50 %} of a\nTITLE"},
		plots.Table{Table: tab, Title: `\input{x}`, Notes: []string{"100 %"}},
		plots.Grid{Table: photos(), Title: "चित्र"},
		plots.Browse{Table: photos(), Title: "All", Path: filepath.Join(t.TempDir(), "all.html")},
	} {
		must.Do(t, plots.ShowE(t.Context(), f))
	}
	must.Do(t, tab.ShowE(t.Context()))
	must.Fail(plots.ShowE(t.Context(), plots.Bars{Table: tab, Y: "w"}))(t)
	got := map[string]string{}
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		got[e.Name()] = string(must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t))
	}
	const bars = "001-50-of-a-title"
	for name, want := range map[string]string{
		bars + ".pdf": "%PDF-", bars + ".svg": `width="312"`, bars + ".png": "\x89PNG", bars + ".tex": `\caption{../é/\{50 \%\}`,
		"002-input-x.csv": "region,v\na,0.5\n", "002-input-x.tex": `\caption{\textbackslash{}input\{x\}. 100 \%}`,
		"003.pdf": "%PDF-", "003.svg": "<image", "003.png": "\x89PNG", "003.tex": `\caption{चित्र.`,
		"004-all.html": "data:image/", "005.csv": "region,v\na,0.5\nb_c,1\n",
	} {
		must.Has(t, got[name], want)
	}
	must.True(t, len(got) == 12 && !strings.Contains(got[bars+".svg"], "No intervals in the table.</text>"),
		"%d files, or a figure with its caption", len(got))
}
