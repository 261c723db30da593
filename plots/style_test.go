package plots_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/image/draw"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

// eyes are matrices in linear RGB of what people see; those without a kind of cones as in Machado et al. 2009.
var eyes = []struct {
	name string
	m    [3][3]float64
}{
	{"all cones", [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
	{"protanopia", [3][3]float64{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
		{-0.003882, -0.048116, 1.051998}}},
	{"deuteranopia", [3][3]float64{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881}}},
	{"tritanopia", [3][3]float64{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602},
		{0.004733, 0.691367, 0.303900}}},
	// the projections of Viénot 1999, and one as Brettel's for the third
	{"no long cones", [3][3]float64{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}},
	{"no middle cones", [3][3]float64{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}},
	{"no short cones", [3][3]float64{{1.01277, 0.13548, -0.14826}, {-0.01243, 0.86812, 0.14431},
		{0.07589, 0.805, 0.11911}}},
}

// TestColors checks that any two of the series' colors and white differ by at least 20 in CIE Lab to every eye of
// Machado et al., and by 14 in the other simulations; so do the two ends of heat tables.
func TestColors(t *testing.T) {
	th := plots.DefaultTheme()
	for i, eye := range eyes {
		want := 20.0
		if i > 3 {
			want = 14
		}
		for _, set := range [][]color.NRGBA{append(th.Series, th.Paper), {th.Low, th.High, th.Paper}} {
			for i := range set {
				for j := range i {
					d := distance(set[i], set[j], eye.m)
					must.True(t, d >= want, "%s: colors %d and %d differ by %.1f", eye.name, i, j, d)
				}
			}
		}
	}
}

func distance(a, b color.NRGBA, eye [3][3]float64) float64 {
	p, q := lab(a, eye), lab(b, eye)
	return math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}

// sees returns a color as an eye sees it, in linear RGB.
func sees(c color.NRGBA, eye [3][3]float64) (out [3]float64) {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	rgb := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	for i := range out {
		for j := range rgb {
			out[i] += eye[i][j] * rgb[j]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

func lab(c color.NRGBA, eye [3][3]float64) [3]float64 {
	seen := sees(c, eye)
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

// contactSheets writes the images of a folder as each eye sees them, small, onto one sheet for an eye.
func contactSheets(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil {
		return err
	}
	const columns, wide, high = 7, 400, 420
	for _, eye := range eyes[:4] {
		sheet := image.NewNRGBA(image.Rect(0, 0, columns*wide, (len(paths)+columns-1)/columns*high))
		memory := map[color.NRGBA]color.NRGBA{}
		for i, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			img, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				return err
			}
			zoom := min(wide/float64(img.Bounds().Dx()), high/float64(img.Bounds().Dy()))
			at := image.Pt(i%columns*wide, i/columns*high)
			draw.CatmullRom.Scale(sheet, image.Rectangle{at, at.Add(image.Pt(int(zoom*float64(img.Bounds().Dx())),
				int(zoom*float64(img.Bounds().Dy()))))}, img, img.Bounds(), draw.Src, nil)
		}
		for i := 0; i < len(sheet.Pix); i += 4 {
			c := color.NRGBA{sheet.Pix[i], sheet.Pix[i+1], sheet.Pix[i+2], 255}
			if _, known := memory[c]; !known {
				var out [3]uint8
				for k, v := range sees(c, eye.m) {
					if v *= 12.92; v > 0.04045 {
						v = 1.055*math.Pow(v/12.92, 1/2.4) - 0.055
					}
					out[k] = uint8(v*255 + 0.5)
				}
				memory[c] = color.NRGBA{out[0], out[1], out[2], 255}
			}
			c = memory[c]
			sheet.Pix[i], sheet.Pix[i+1], sheet.Pix[i+2] = c.R, c.G, c.B
		}
		var out bytes.Buffer
		if err := png.Encode(&out, sheet); err != nil {
			return err
		}
		folder := filepath.Join(folder, "contact")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, eye.name+".png"), out.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
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
		must.True(t, err == nil && got == want, "%s: %v\n%s\nwant\n%s", format, err, got, want)
	}
	v := printed()
	v.Title = "<script>"
	page, err := plots.Text(v, "html")
	must.True(t, err == nil && strings.Contains(page, "&lt;b&gt;|*x*") && strings.Contains(page, "0.53 [0.48, 0.58]"),
		"html: %v\n%s", err, page)
	inert(t, "table", page)
	v.Limit = 1
	short, err := plots.Text(v, "txt")
	must.True(t, err == nil && strings.Contains(short, "3 more rows not shown"), "limited: %v\n%s", err, short)
	none := plots.Table{
		Table:   datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("template", nil)}}),
		Columns: []string{"template"},
	}
	text, err := plots.Text(none, "txt")
	must.True(t, err == nil && text == "template\nno rows\n", "no rows: %v\n%q", err, text)
	if page, err := plots.Text(none, "html"); err != nil || !strings.Contains(page, ">no rows<") {
		t.Errorf("no rows: %v\n%s", err, page)
	}
}

func TestTableErrors(t *testing.T) {
	ctx := context.Background()
	must.Fail(plots.Text((plots.Table{Table: scores(), Columns: []string{"coverag"}}), "txt"))(t,
		`"coverag" (there are: template`) // wrong column
	folder := t.TempDir()
	for _, ext := range []string{"csv", "json", "md", "tex", "txt", "html"} {
		path := filepath.Join(folder, "t."+ext)
		if err := plots.SaveE(ctx, printed(), path); err != nil {
			t.Error(err)
		}
		data, err := os.ReadFile(path)
		must.True(t, err == nil && len(data) >= 50, "%s: %d bytes, %v", path, len(data), err)
	}
	must.Fail(plots.SaveE(ctx, printed(), "t.docx"))(t) // a .docx
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
		must.Equal(t, regexp.MustCompile(`[";]color:(?:[^i]|i[^n])[^;"]*`).FindString(page), "", name)
	}
}
