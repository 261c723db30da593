package plots_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/internal/must"
	"antipode/plots"
	"antipode/plots/internal/letters"
	"antipode/plots/internal/shape"
	"antipode/plots/internal/typeset"
	"antipode/plots/paint"
)

// TestRightToLeftAnchors checks that a label which begins at the right ends where others end: its anchor is turned
// round.
func TestRightToLeftAnchors(t *testing.T) {
	svg := must.Get(plots.Render(plots.Bars{
		Table:      named("English", "שלום 12", "a שלום"),
		Y:          "v",
		Horizontal: true,
	}, "svg"))(t)
	for name, want := range map[string]string{"English": ` text-anchor="end">`, "שלום 12": ` direction="rtl">`,
		"a שלום": ` text-anchor="end">`} {
		must.Has(t, string(svg), `fill="#222222"`+want+name+"</text>")
	}
}

func named(names ...string) datasets.Table {
	f := frame("region:text", "v:number")
	for i, name := range names {
		f.Add([]string{name}, float64(i+1))
	}
	return datasets.FromFrame(f)
}

// TestPNGSaysWhatItLacks draws a character that no font has (it is not assigned): the image grows by a line in the
// color of warnings, and is otherwise the one without it.
func TestPNGSaysWhatItLacks(t *testing.T) {
	draw := func(names ...string) image.Image {
		data := must.Get(plots.Render(plots.Bars{Table: named(names...), Y: "v", Theme: plots.Theme{DPI: 96}},
			"png"))(t)
		return must.Get(png.Decode(bytes.NewReader(data)))(t)
	}
	whole, lacks := draw("a", "b"), draw("a", "b\u0378")
	if a, b := whole.Bounds(), lacks.Bounds(); b.Dx() != a.Dx() || b.Dy() <= a.Dy() {
		t.Fatalf("%v without, %v with the character", a, b)
	}
	red := 0
	for y := lacks.Bounds().Max.Y - 1; y >= 0; y-- {
		for x := range lacks.Bounds().Dx() {
			r, g, b, _ := lacks.At(x, y).RGBA()
			if y < whole.Bounds().Dy() && lacks.At(x, y) != whole.At(x, y) {
				t.Fatalf("the images differ at %d, %d", x, y)
			}
			if r > 0xC000 && g < 0x4000 && b < 0x4000 {
				red++
			}
		}
	}
	must.True(t, red >= 50, "%d dots in the color of warnings", red)
}

// TestReservedWidth compares the width that layouts reserve, which is the same on every machine, with the width of the
// shaped text: where it is not enough, text is made narrower.
func TestReservedWidth(t *testing.T) {
	if _, err := manifest.Find(manifest.Fonts, manifest.FindOptions{}); err != nil {
		if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "fonts") {
			t.Fatalf("REQUIRE=fonts: %v", err)
		}
		t.Skip("missing: the pulled fonts (antipode data pull fonts)")
	}
	for _, text := range []string{"महिला शिक्षक बाज़ार क्षेत्र विद्यालय", "মহিলা শিক্ষক বাজার ক্ষুদ্র",
		"ਔਰਤ ਅਧਿਆਪਕ ਬਾਜ਼ਾਰ", "સ્ત્રી શિક્ષક બજાર", "ମହିଳା ଶିକ୍ଷକ ବଜାର",
		"பெண் ஆசிரியர் சந்தை தமிழ்", "మహిళ ఉపాధ్యాయుడు మార్కెట్", "ಮಹಿಳೆ ಶಿಕ್ಷಕ ಮಾರುಕಟ್ಟೆ", "സ്ത്രീ അധ്യാപകൻ ചന്ത",
		"ᱥᱟᱱᱛᱟᱲᱤ ᱢᱟᱹᱭᱡᱤᱭᱩ", "ꯃꯩꯇꯩꯂꯣꯟ ꯅꯨꯄꯤ", "المرأة معلم سوق",
		"عورت استاد بازار اردو", "אישה מורה שוק", "女人老师市场简体", "日本語テキストひらがな", "한국어 여자 선생님", "ภาษาไทยผู้หญิงครู"} {
		line, width := typeset.In("").Set(text, 10, false), 1.125*letters.Exact(text, 10, false)
		must.True(t, len(line.Missing) == 0 && line.Width <= width && line.Width >= 0.4*width,
			"%s: %.1f wide, reserved %.1f, missing %v", text, line.Width, width, line.Missing)
	}
}

// TestHostilePNG paints every figure from hostile names.
func TestHostilePNG(t *testing.T) {
	for name, f := range hostileFigures() {
		coarse := reflect.New(reflect.TypeOf(f)).Elem()
		coarse.Set(reflect.ValueOf(f))
		coarse.FieldByName("Theme").Set(reflect.ValueOf(plots.Theme{DPI: 48}))
		if _, err := plots.Render(coarse.Interface().(plots.Figure), "png"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPaintedElsewhere: what the backend paints of a cell's figure is what this process paints.
func TestPaintedElsewhere(t *testing.T) {
	here := shape.Painter
	defer func() { shape.Painter = here }()
	asked := 0
	there := func(r shape.Request) (reply shape.Reply) {
		asked++
		w := httptest.NewRecorder()
		body := bytes.NewReader(must.Get(json.Marshal(r))(t))
		paint.Serve(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/paint", body))
		must.Do(t, json.NewDecoder(w.Body).Decode(&reply))
		return reply
	}
	figures := hostileFigures()
	for name, format := range map[string]string{"bars plain": "png", "scatter": "pdf", "heat wide": "pdf",
		"grid": "pdf"} {
		shape.Painter = here
		want := must.Get(plots.Render(figures[name], format))(t)
		shape.Painter = there
		got := must.Get(plots.Render(figures[name], format))(t)
		must.True(t, bytes.Equal(got, want), "%s: another %s", name, format)
	}
	must.True(t, asked != 0, "nothing was painted elsewhere")
	reply := there(shape.Request{Format: shape.PNG, DPI: 96,
		Scene: shape.Scene{Shapes: []shape.Shape{{Raster: &shape.Raster{Data: []byte("no image")}}}}})
	must.Has(t, reply.Error, "cannot be decoded") // an image that is none
}
