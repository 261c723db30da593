package typeset

import (
	"bytes"
	"io"
	"log"
	"maps"
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

// Library caches fonts: the built-in ones, those that were pulled to a folder, and those of the system.
type Library struct {
	dir    string // of the pulled fonts; "" = none
	system bool   // whether to search the system

	mu      sync.Mutex
	builtIn map[bool]*face
	pulled  map[string]*face // by family; nil = missing when the figure was begun
	scanned *fontscan.FontMap
	scan    sync.Once
	found   map[*font.Font]*face // those of the system
}

var (
	mu        sync.Mutex
	libraries = map[string]*Library{} // by folder
)

// In returns the library with the fonts that were pulled to a folder ([manifest.Fonts]; "" = none), for a figure. What
// was missing in it for an earlier figure is searched again; the system is searched once in a process.
func In(dir string) *Library {
	mu.Lock()
	defer mu.Unlock()
	l := libraries[dir]
	if l == nil {
		l = &Library{dir: dir, system: true}
		libraries[dir] = l
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.pulled, func(_ string, f *face) bool { return f == nil })
	return l
}

func parse(data []byte) *face {
	f, err := font.ParseTTF(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return &face{Face: f}
}

// own returns Liberation Sans. The caller holds mu.
func (l *Library) own(bold bool) *face {
	if l.builtIn == nil {
		l.builtIn = map[bool]*face{false: parse(liberationsansregular.TTF), true: parse(liberationsansbold.TTF)}
		l.builtIn[true].bold = true
	}
	return l.builtIn[bold]
}

// noto returns a pulled family, or nil where the pinned file is missing. The caller holds mu.
func (l *Library) noto(family string) *face {
	f, known := l.pulled[family]
	if known || family == "" {
		return f
	}
	if m, err := manifest.Get(manifest.Fonts); err == nil {
		if l.dir != "" {
			if data, _, err := m.Read(os.DirFS(l.dir), file(family)); err == nil {
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
func (l *Library) fromSystem(script language.Script, r rune, bold bool) *face {
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
func (l *Library) choose(script language.Script, east string, r rune, bold bool) *face {
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
