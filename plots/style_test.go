package plots_test

import (
	"context"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

// TestColors sees the series colors as people without long, middle or short cones do (Viénot 1999 for the first
// two, Brettel-like projection for the third, linear RGB) and checks that any two of the first six differ by at least
// 10 in CIE Lab, all eight by 8.
func TestColors(t *testing.T) {
	eyes := map[string][3][3]float64{
		"all cones":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"no long cones":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"no middle cones": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
		"no short cones":  {{1.01277, 0.13548, -0.14826}, {-0.01243, 0.86812, 0.14431}, {0.07589, 0.805, 0.11911}},
		"no color at all": {{0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}, {0.2126, 0.7152, 0.0722}},
	}
	series := plots.DefaultTheme().Series
	for name, m := range eyes {
		for i := range series {
			for j := range i {
				want := 8.0
				if i < 6 {
					want = 10
				}
				if name == "no color at all" {
					continue // eight grays cannot all differ: shapes and the order of the legend do
				}
				if d := distance(series[i], series[j], m); d < want {
					t.Errorf("%s: colors %d and %d differ by %.1f", name, i, j, d)
				}
			}
		}
	}
}

func distance(a, b color.NRGBA, eye [3][3]float64) float64 {
	p, q := lab(a, eye), lab(b, eye)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}

func lab(c color.NRGBA, eye [3][3]float64) [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	rgb := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	var seen [3]float64
	for i := range seen {
		for j := range rgb {
			seen[i] += eye[i][j] * rgb[j]
		}
		seen[i] = min(max(seen[i], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*seen[0] + 0.3576*seen[1] + 0.1805*seen[2]) / 0.95047)
	y := f(0.2126*seen[0] + 0.7152*seen[1] + 0.0722*seen[2])
	z := f((0.0193*seen[0] + 0.1192*seen[1] + 0.9505*seen[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// printed is a small table with what each form must escape.
func printed() plots.Table {
	return plots.Table{Table: made(
		table.TextColumn("name", []string{"a_b & 50 %", "<b>|*x*", `[c]\d`, "中 हि"}),
		table.NumberColumn("v", []float64{0.53172, -0.00001, math.NaN(), 0.7}),
		table.NumberColumn("v_low", []float64{0.4812, -0.05, math.NaN(), math.NaN()}),
		table.NumberColumn("v_high", []float64{0.5808, 0.05, math.NaN(), math.NaN()}),
		table.NumberColumn("n", []float64{170, 24480, 3, 1}),
		table.NumberColumn("d", []float64{23.14, 22.2, 26.1049, 2}),
		table.VectorColumn("vec", make([][]float32, 4)),
	)}
}

func TestTableForms(t *testing.T) {
	for format, want := range map[string]string{
		"txt": `name                         v      n     d
a_b & 50 %   0.53 [0.48, 0.58]    170  23.1
<b>|*x*     0.00 [-0.05, 0.05]  24480  22.2
[c]\d                  no data      3  26.1
中 हि                     0.70      1   2.0
`,
		"md": `| name | v | n | d |
| --- | ---: | ---: | ---: |
| a\_b &amp; 50 % | 0.53 \[0.48, 0.58\] | 170 | 23.1 |
| &lt;b&gt;\|\*x\* | 0.00 \[-0.05, 0.05\] | 24480 | 22.2 |
| \[c\]\\d | no data | 3 | 26.1 |
| 中 हि | 0.70 | 1 | 2.0 |
`,
		"tex": `% needs \usepackage{booktabs}
\begin{tabular}{lrrr}
\toprule
name & v & n & d \\
\midrule
a\_b \& 50 \% & 0.53 [0.48, 0.58] & 170 & 23.1 \\
\textless{}b\textgreater{}|*x* & 0.00 [-0.05, 0.05] & 24480 & 22.2 \\
{}[c]\textbackslash{}d & no data & 3 & 26.1 \\
中 हि & 0.70 & 1 & 2.0 \\
\bottomrule
\end{tabular}
`,
		"csv": `name,v,v_low,v_high,n,d
a_b & 50 %,0.53172,0.4812,0.5808,170,23.14
<b>|*x*,-1e-05,-0.05,0.05,24480,22.2
[c]\d,,,,3,26.1049
中 हि,0.7,,,1,2
`,
	} {
		got, err := plots.Text(printed(), format)
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, got, want)
		}
	}
	v := printed()
	v.Title = "<script>"
	page, err := plots.Text(v, "html")
	if err != nil || !strings.Contains(page, "&lt;b&gt;|*x*") || !strings.Contains(page, "0.53 [0.48, 0.58]") {
		t.Errorf("html: %v\n%s", err, page)
	}
	inert(t, "table", page)
	v.Limit = 1
	short, err := plots.Text(v, "txt")
	if err != nil || !strings.Contains(short, "3 more rows not shown") {
		t.Errorf("limited: %v\n%s", err, short)
	}
	none := plots.Table{
		Table:   datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("template", nil)}}),
		Columns: []string{"template"},
	}
	if text, err := plots.Text(none, "txt"); err != nil || text != "template\nno rows\n" {
		t.Errorf("no rows: %v\n%q", err, text)
	}
	if page, err := plots.Text(none, "html"); err != nil || !strings.Contains(page, ">no rows<") {
		t.Errorf("no rows: %v\n%s", err, page)
	}
}

func TestTableErrors(t *testing.T) {
	ctx := context.Background()
	if _, err := plots.Text((plots.Table{Table: scores(), Columns: []string{"coverag"}}), "txt"); err == nil ||
		!strings.Contains(err.Error(), `"coverag" (there are: template`) {
		t.Errorf("wrong column: %v", err)
	}
	folder := t.TempDir()
	for _, ext := range []string{"csv", "json", "md", "tex", "txt", "html"} {
		path := filepath.Join(folder, "t."+ext)
		if err := plots.SaveE(ctx, printed(), path); err != nil {
			t.Error(err)
		}
		if data, err := os.ReadFile(path); err != nil || len(data) < 50 {
			t.Errorf("%s: %d bytes, %v", path, len(data), err)
		}
	}
	if err := plots.SaveE(ctx, printed(), "t.docx"); err == nil {
		t.Error("a .docx is accepted")
	}
}

// TestHTMLOnDarkPages finds no color of text in HTML: on a dark page it would be dark on dark.
func TestHTMLOnDarkPages(t *testing.T) {
	img, m := half()
	images := imageTable([]table.Image{store(t, "half.png", encodePNG(t, img)), {}}, []table.Mask{m, {}})
	for name, form := range map[string]plots.Figure{
		"table": plots.Table{Table: printed().Table, Title: "A title", Notes: []string{"A note"}},
		"grid":  plots.Grid{Table: images, Outline: "mask", Captions: []string{"id"}, PerCell: 1},
		"bars":  plots.Bars{Table: averages(), Y: "coverage"},
	} {
		page := must.Get(plots.Text(form, "html"))(t)
		if found := regexp.MustCompile(`[";]color:(?:[^i]|i[^n])[^;"]*`).FindString(page); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
}
