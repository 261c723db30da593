package typeset

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"gonum.org/v1/plot/vg"

	"antipode/datasets/manifest"
	"antipode/internal/must"
	"antipode/plots/internal/letters"
)

// bare is a library with the built-in font alone.
func bare() *Library { return &Library{} }

// pulled is a library with the pulled fonts and none of the system, or the test is skipped; REQUIRE=fonts makes that
// a failure.
func pulled(t *testing.T) *Library {
	t.Helper()
	dir, err := manifest.Find(manifest.Fonts, manifest.FindOptions{})
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), "fonts") {
			t.Fatalf("REQUIRE=fonts: %v", err)
		}
		t.Skip("missing: the pulled fonts (antipode data pull fonts)")
	}
	return &Library{dir: dir}
}

// sample is what HarfBuzz makes of a text in one font.
type sample struct {
	Family, SHA256, Script, Language, Text string
	Glyphs                                 [][5]int // id, cluster, advance, offset x and y in font units
}

func compare(t *testing.T, s sample, f *face) {
	t.Helper()
	script := must.Get(language.ParseScript(s.Script))(t)
	r := run{face: f, script: script, to: len([]rune(s.Text))}
	if s.Script == "Arab" || s.Script == "Hebr" {
		r.level = 1
	}
	east := map[string]string{"zh-cn": "SC", "ja": "JP", "ko": "KR"}[s.Language]
	r.shape(&shaping.HarfbuzzShaper{}, []rune(s.Text), east, 12, false)
	var got [][5]int
	for _, g := range r.glyphs {
		got = append(got, [5]int{int(g.GlyphID), g.TextIndex(), int(g.Advance) / 64, int(g.XOffset) / 64,
			int(g.YOffset) / 64})
	}
	must.True(t, slices.Equal(got, s.Glyphs), "%s, %q:\n got %v\nwant %v", s.Family, s.Text, got, s.Glyphs)
}

// TestBuiltInShapesAsHarfBuzz compares glyphs, clusters, advances and offsets in Liberation Sans with HarfBuzz's.
func TestBuiltInShapesAsHarfBuzz(t *testing.T) {
	var rows []sample
	golden(t, "harfbuzz.json", &rows)
	n, l := 0, bare()
	for _, s := range rows {
		if s.Family == "Liberation" {
			n++
			compare(t, s, l.own(false))
		}
	}
	must.True(t, n >= 5, "only %d samples", n)
}

// TestNotoShapesAsHarfBuzz does so for each pulled family, on conjuncts, reordered vowels, joining letters and marks.
func TestNotoShapesAsHarfBuzz(t *testing.T) {
	l := pulled(t)
	var rows []sample
	golden(t, "harfbuzz.json", &rows)
	seen := map[string]bool{"Liberation": true}
	for _, s := range rows {
		if s.Family == "Liberation" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(l.dir, file(s.Family)))
		if err != nil {
			t.Errorf("%v; run `antipode data pull fonts`", err)
			continue
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != s.SHA256 {
			t.Errorf("%s is another font than the golden's", s.Family)
			continue
		}
		seen[s.Family] = true
		compare(t, s, l.noto(s.Family))
	}
	for _, family := range letters.Families {
		must.True(t, seen[family], "no sample for %s", family)
	}
}

// texts has a line for each script that PNG figures must set.
var texts = map[string]string{
	"Devanagari": "हिन्दी क्षेत्र", "Bengali": "বাংলা", "Gurmukhi": "ਪੰਜਾਬੀ", "Gujarati": "ગુજરાતી", "Oriya": "ଓଡ଼ିଆ",
	"Tamil": "தமிழ்", "Telugu": "తెలుగు",
	"Kannada": "ಕನ್ನಡ", "Malayalam": "മലയാളം", "Ol Chiki": "ᱥᱟᱱᱛᱟᱲᱤ", "Meetei Mayek": "ꯃꯩꯇꯩꯂꯣꯟ", "Arabic": "اردو ٹیکسٹ",
	"Hebrew": "עברית", "Han": "简体中文",
	"Hiragana": "ひらがな", "Katakana": "カタカナ", "Hangul": "한국어", "Thai": "ภาษาไทย",
}

// TestEveryScriptIsSet checks that nothing is missing with the pulled fonts, that each line has a width and outlines,
// and that the manifest has every family's file.
func TestEveryScriptIsSet(t *testing.T) {
	m := must.Get(manifest.Get(manifest.Fonts))(t)
	for _, family := range letters.Families {
		must.True(t, m.File(file(family)) != nil, "the manifest has no %s", file(family))
	}
	l := pulled(t)
	for script, text := range texts {
		for _, bold := range []bool{false, true} {
			line := l.Set("x "+text+", 12 (y)", 20, bold)
			n, heavy := 0, 0
			line.Draw(func(p vg.Path, embolden float64) {
				n++
				if embolden > 0 {
					heavy++
				}
			})
			if len(line.Missing) > 0 || line.Width < 40 || n < 3 || (heavy > 0) != bold {
				t.Errorf("%s, bold %v: missing %v, width %.0f, %d runs of which %d emboldened", script, bold,
					line.Missing, line.Width, n, heavy)
			}
		}
	}
}

// TestMissingIsReported checks that without fonts every character of a script is counted under its name, with the
// command that fixes it, and that none of them is drawn.
func TestMissingIsReported(t *testing.T) {
	l := bare()
	for script, text := range texts {
		if script == "Hebrew" {
			continue // the built-in font has it
		}
		want := len([]rune(strings.ReplaceAll(text, " ", "")))
		line := l.Set(text+" abc", 20, false)
		got := line.Missing[Lack{script, true}]
		must.True(t, got == want && len(line.Missing) == 1, "%s: %v, want %d characters", script, line.Missing, want)
		if abc := l.Set(" abc", 20, false).Width; line.Width > abc*1.5 {
			t.Errorf("%s: a line without the script is %.1f wide, want at most %.1f", script, line.Width, abc*1.5)
		}
	}
	m := Missing{}
	m.Add(l.Set("中文，。", 20, false).Missing)   // points go with their script
	m.Add(l.Set("हिन्दी।", 20, true).Missing) // so does the danda
	m.Add(l.Set("ខ្មែរ 🜚 12", 20, false).Missing)
	want := "Characters left out because no font has them: Devanagari (7), Han (4); `antipode data pull " +
		"fonts` downloads one. Khmer (5), symbol (1); install one on this system. The SVG and HTML forms have them."
	if got := m.String(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	must.Equal(t, (Missing{}).String(), "", "nothing missing")
}

// TestSystemIsSearchedLast checks that a line which the built-in font has does not search the system, and that one it
// lacks does, keeping what was found in the store.
func TestSystemIsSearchedLast(t *testing.T) {
	home := t.TempDir()
	t.Setenv("ANTIPODE_HOME", home)
	l := &Library{system: true}
	if l.Set("\u2068Tokyo\u2069 שלום Ελλάδα 12 %", 12, true); l.scanned != nil {
		t.Error("the system was searched for nothing")
	}
	line := l.Set("سوق", 12, false)
	if l.scanned == nil {
		t.Skip("missing: fonts of the system")
	}
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Join(home, "fontindex")))(t)), 1, "files in the index")
	if n := line.Missing[Lack{"Arabic", true}]; n == 3 && line.Width == 0 {
		t.Skip("missing: a font of the system for Arabic")
	} else if n > 0 || line.Width < 10 {
		t.Errorf("%d characters missing, %.1f wide", n, line.Width)
	}
}

// TestDamagedFontIsNotUsed puts other bytes in a font's place.
func TestDamagedFontIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, file("Tamil")), []byte("not a font"), 0o644))
	l := &Library{dir: dir}
	must.Equal(t, l.Set("தமிழ்", 20, false).Missing[Lack{"Tamil", true}], 5, "missing")
}

// A font that is pulled while the backend runs is in the next figure.
func TestMissingFontIsSearchedAgain(t *testing.T) {
	dir := t.TempDir()
	must.True(t, In(dir).noto("Tamil") == nil, "a font in an empty folder")
	_, known := In(dir).pulled["Tamil"]
	must.True(t, !known, "the next figure does not search the font")
}

// TestWidth checks properties: width grows with the size, equals the pen's way, and does not depend on what was set
// before.
func TestWidth(t *testing.T) {
	l := bare()
	a, b := l.Set("Tokyo שלום 12", 10, false), l.Set("Tokyo שלום 12", 25, false)
	must.True(t, math.Abs(2.5*a.Width-b.Width) <= 1e-9 && a.Width > 0,
		"widths %g and %g at sizes 10 and 25", a.Width, b.Width)
	must.Equal(t, l.Set("Tokyo שלום 12", 10, false).Width, a.Width, "set again", "was")
	must.Equal(t, l.Set("a\tb\n c", 10, false).Width, l.Set("a b  c", 10, false).Width, "white space", "wide")
	var right float64
	b.Draw(func(p vg.Path, _ float64) {
		for _, c := range p {
			right = max(right, float64(c.Pos.X))
		}
	})
	must.True(t, right <= b.Width+1 && right >= 0.9*b.Width, "the outlines end at %g of %g", right, b.Width)
}

// TestHostileText sets lines that try to break a layout, in many goroutines at once, with what fonts there are.
func TestHostileText(t *testing.T) {
	dir, _ := manifest.Find(manifest.Fonts, manifest.FindOptions{})
	l := &Library{dir: dir}
	var wait sync.WaitGroup
	for _, text := range hostile() {
		wait.Go(func() {
			line := l.Set(text, 12, len(text)%2 == 0)
			must.True(t, !math.IsNaN(line.Width) && !math.IsInf(line.Width, 0) && line.Width >= 0,
				"%.30q is %g wide", text, line.Width)
			line.Draw(func(p vg.Path, _ float64) {
				for _, c := range p {
					must.True(t, !math.IsNaN(float64(c.Pos.X)) && !math.IsNaN(float64(c.Pos.Y)),
						"%.30q: an outline at %v", text, c.Pos)
				}
			})
		})
	}
	wait.Wait()
}
