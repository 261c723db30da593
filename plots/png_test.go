package plots_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
	"antipode/plots"
	"antipode/plots/internal/typeset"
)

// TestRightToLeftAnchors checks that a label which begins at the right ends where others end: its anchor is turned round.
func TestRightToLeftAnchors(t *testing.T) {
	svg, err := plots.Bars(named("English", "שלום 12", "a שלום"), "v", plots.Horizontal()).SVG(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"English": ` text-anchor="end">`, "שלום 12": ` direction="rtl">`, "a שלום": ` text-anchor="end">`} {
		if !bytes.Contains(svg, []byte(`fill="#222222"`+want+name+"</text>")) {
			t.Errorf("%s: not %s", name, want)
		}
	}
}

// named is a table with a bar of each name.
func named(names ...string) datasets.Table {
	v := make([]float64, len(names))
	for i := range v {
		v[i] = float64(i + 1)
	}
	return datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("region", names), client.NumberColumn("v", v)}})
}

// TestPNGSaysWhatItLacks draws a character that no font has (it is not assigned): the picture grows by a line in the colour
// of warnings, and is otherwise the one without it.
func TestPNGSaysWhatItLacks(t *testing.T) {
	draw := func(names ...string) image.Image {
		data, err := plots.Bars(named(names...), "v").PNG(context.Background(), 96)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return img
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
				t.Fatalf("the pictures differ at %d, %d", x, y)
			}
			if r > 0xC000 && g < 0x4000 && b < 0x4000 {
				red++
			}
		}
	}
	if red < 50 {
		t.Errorf("%d dots in the colour of warnings", red)
	}
}

// TestRoomIsEnough compares the room that layouts keep, which is the same on every machine, with the width of the shaped
// text: where it is not enough, text is made narrower.
func TestRoomIsEnough(t *testing.T) {
	if _, err := manifest.Find(manifest.Fonts, manifest.Where{}); err != nil {
		if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "fonts") {
			t.Fatalf("REQUIRE=fonts: %v", err)
		}
		t.Skip("missing: the pulled fonts (antipode data pull fonts)")
	}
	for _, text := range []string{"महिला शिक्षक बाज़ार क्षेत्र विद्यालय", "মহিলা শিক্ষক বাজার ক্ষুদ্র", "ਔਰਤ ਅਧਿਆਪਕ ਬਾਜ਼ਾਰ", "સ્ત્રી શિક્ષક બજાર", "ମହିଳା ଶିକ୍ଷକ ବଜାର",
		"பெண் ஆசிரியர் சந்தை தமிழ்", "మహిళ ఉపాధ్యాయుడు మార్కెట్", "ಮಹಿಳೆ ಶಿಕ್ಷಕ ಮಾರುಕಟ್ಟೆ", "സ്ത്രീ അധ്യാപകൻ ചന്ത", "ᱥᱟᱱᱛᱟᱲᱤ ᱢᱟᱹᱭᱡᱤᱭᱩ", "ꯃꯩꯇꯩꯂꯣꯟ ꯅꯨꯄꯤ", "المرأة معلم سوق",
		"عورت استاد بازار اردو", "אישה מורה שוק", "女人老师市场简体", "日本語テキストひらがな", "한국어 여자 선생님", "ภาษาไทยผู้หญิงครู"} {
		line, room := typeset.Set(text, 10, false), 1.125*plots.Exact(text, 10, false)
		if len(line.Missing) > 0 || line.Width > room || line.Width < 0.4*room {
			t.Errorf("%s: %.1f wide in a room of %.1f, missing %v", text, line.Width, room, line.Missing)
		}
	}
}

// TestHostilePNG paints every figure from hostile names.
func TestHostilePNG(t *testing.T) {
	for name, f := range hostileFigures() {
		if _, err := f.PNG(context.Background(), 48); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
