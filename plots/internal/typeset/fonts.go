package typeset

import (
	"bytes"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"
	"github.com/go-text/typesetting/language"

	"antipode/datasets/client"
	"antipode/datasets/manifest"
	"antipode/plots/internal/letters"
)

// face is a font that was read.
type face struct {
	*font.Face
	bold bool
}

func (f *face) has(r rune) bool {
	_, ok := f.NominalGlyph(r)
	return ok
}

// library caches fonts. A font that was not found is not searched again in this process.
type library struct {
	dir    func() string // of the pulled fonts; "" = none
	system bool          // whether to search the system

	mu      sync.Mutex
	builtIn map[bool]*face
	pulled  map[string]*face // by family; nil = missing
	scanned *fontscan.FontMap
	scan    sync.Once
	found   map[*font.Font]*face // those of the system
}

// shared is the library of this process.
var shared = &library{system: true, dir: func() string { return manifest.Here(manifest.Fonts, "") }}

func parse(data []byte) *face {
	f, err := font.ParseTTF(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return &face{Face: f}
}

// own returns Liberation Sans. The caller holds mu.
func (l *library) own(bold bool) *face {
	if l.builtIn == nil {
		l.builtIn = map[bool]*face{false: parse(liberationsansregular.TTF), true: parse(liberationsansbold.TTF)}
		l.builtIn[true].bold = true
	}
	return l.builtIn[bold]
}

// noto returns a pulled family, or nil where the pinned file is missing. The caller holds mu.
func (l *library) noto(family string) *face {
	f, known := l.pulled[family]
	if known || family == "" {
		return f
	}
	if m, err := manifest.Get(manifest.Fonts); err == nil {
		if dir := l.dir(); dir != "" {
			if data, _, err := m.Read(os.DirFS(dir), file(family)); err == nil {
				f = parse(data)
			}
		}
	}
	if l.pulled == nil {
		l.pulled = map[string]*face{}
	}
	l.pulled[family] = f
	return f
}

// fromSystem returns a font of the system that has a character, or nil. The caller holds mu.
func (l *library) fromSystem(script language.Script, r rune, bold bool) *face {
	if !l.system {
		return nil
	}
	l.scan.Do(func() {
		fonts := fontscan.NewFontMap(log.New(io.Discard, "", 0))
		home, err := client.Home()
		if err != nil {
			return
		}
		index := filepath.Join(home, "fontindex") // cached result of the search
		if os.MkdirAll(index, 0o700) != nil || fonts.UseSystemFonts(index) != nil {
			return
		}
		l.scanned, l.found = fonts, map[*font.Font]*face{}
	})
	if l.scanned == nil {
		return nil
	}
	aspect := font.Aspect{Weight: font.WeightNormal}
	if bold {
		aspect.Weight = font.WeightBold
	}
	l.scanned.SetQuery(fontscan.Query{Families: []string{"Noto Sans", fontscan.SansSerif}, Aspect: aspect})
	l.scanned.SetScript(script)
	f := l.scanned.ResolveFace(r)
	if f == nil {
		return nil
	}
	if l.found[f.Font] == nil {
		_, is := l.scanned.FontMetadata(f.Font)
		l.found[f.Font] = &face{Face: f, bold: is.Weight >= font.WeightSemibold}
	}
	if found := l.found[f.Font]; found.has(r) {
		return found
	}
	return nil
}

// choose returns the font for a character of a run in a script, or nil. The caller holds mu.
func (l *library) choose(script language.Script, east string, r rune, bold bool) *face {
	if f := l.noto(letters.Family(script, east, r)); f != nil && f.has(r) {
		return f
	}
	if f := l.own(bold); f.has(r) {
		return f
	}
	return l.fromSystem(script, r, bold)
}

// file returns the file name of a family in [manifest.Fonts].
func file(family string) string {
	return "NotoSans" + strings.ReplaceAll(family, " ", "") + "-Regular.ttf"
}
