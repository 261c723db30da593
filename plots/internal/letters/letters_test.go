package letters

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"antipode/internal/must"
)

// TestAdvances: the table has the widths of the fonts' characters. UPDATE_ADVANCES=1 writes it.
func TestAdvances(t *testing.T) {
	var want bytes.Buffer
	for _, of := range []struct {
		name string
		ttf  []byte
	}{{"regular", liberationsansregular.TTF}, {"bold", liberationsansbold.TTF}} {
		f := must.Get(sfnt.Parse(of.ttf))(t)
		var buf sfnt.Buffer
		last := rune(-2)
		for r := range rune(0x20000) {
			glyph, err := f.GlyphIndex(&buf, r)
			if err != nil || glyph == 0 {
				continue
			}
			if r != last+1 {
				fmt.Fprintf(&want, "\n%s %X", of.name, r)
			}
			last = r
			fmt.Fprintf(&want, " %d", must.Get(f.GlyphAdvance(&buf, glyph, fixed.I(1000), font.HintingNone))(t))
		}
	}
	if table := bytes.TrimSpace(want.Bytes()); os.Getenv("UPDATE_ADVANCES") != "" {
		must.Do(t, os.WriteFile("advances.txt", append(table, '\n'), 0o644))
	} else if string(table)+"\n" != advances {
		t.Error("advances.txt is not that of the fonts: UPDATE_ADVANCES=1 go test writes it")
	}
}

func TestRightToLeft(t *testing.T) {
	for text, want := range map[string]bool{"12 אב c": true, "a אב": false, "\u2068אב\u2069 c": false, "12": false,
		"": false, "(ع": true} {
		must.Equal(t, RightToLeft(text), want, text, "begins at the right", !want)
	}
}

func TestCSS(t *testing.T) {
	for text, want := range map[string]string{
		"plain שלום": "", "हिन्दी தமிழ்": "'Noto Sans Devanagari','Noto Sans Tamil'", "اردو": "'Noto Sans Arabic'",
		"中文":  "'Noto Sans SC','Noto Sans CJK SC'",
		"日本の": "'Noto Sans JP','Noto Sans CJK JP'", "한국 直": "'Noto Sans KR','Noto Sans CJK KR'",
		"ᱥ ꯃ": "'Noto Sans Ol Chiki','Noto Sans Meetei Mayek'",
	} {
		must.Equal(t, CSS(text), want, text)
	}
}
