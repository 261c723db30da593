package typeset

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"

	"antipode/datasets/manifest"
	"antipode/plots/internal/letters"
	"antipode/plots/internal/pdf"
)

// Line is one line of shaped text, of a size.
type Line struct {
	Width   float64 // advance width, in the unit of the size
	Missing Missing // characters left out because no font has them
	runs    []run   // from left to right
	text    []rune  // without what is missing
}

// Missing counts characters that no font has.
type Missing map[Lack]int

// Lack is a script that some characters could not be set in.
type Lack struct {
	Script string // as Unicode names it ("Ol Chiki"); "symbol" for characters of no script
	Pull   bool   // whether [manifest.Fonts] has a font for it that is not downloaded
}

// run is a piece of a line in one font, script and direction. Its glyphs are in font units, from left to right.
type run struct {
	from, to int // in the text
	level    int
	script   language.Script
	face     *face
	glyphs   []shaping.Glyph
	scale    float64 // size over units per em
	embolden float64
}

// Set shapes text as one line: white space is a space, control characters go. size is that of the em square. It is
// safe for concurrent use and accepts any text, valid UTF-8 or not.
func (l *Library) Set(text string, size float64, bold bool) Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := Line{Missing: Missing{}}
	east := letters.Eastern(text)
	whole := clean(text)
	runes, faces, scripts, levels := l.cover(whole, levels(whole), east, bold, line.Missing)
	for i := range runes {
		if n := len(line.runs) - 1; n >= 0 {
			last := &line.runs[n]
			if last.level == levels[i] && last.face == faces[i] && last.script == scripts[i] {
				last.to = i + 1
				continue
			}
		}
		line.runs = append(line.runs, run{from: i, to: i + 1, level: levels[i], script: scripts[i], face: faces[i]})
	}
	line.text = runes
	var shaper shaping.HarfbuzzShaper
	for i := range line.runs {
		r := &line.runs[i]
		if !r.shape(&shaper, runes, east, size, bold) {
			for _, c := range runes[r.from:r.to] {
				line.Missing[Lack{Script: scriptName(c)}]++
			}
		}
		line.Width += r.width()
		for _, g := range r.glyphs {
			if g.GlyphID == 0 { // the font has the characters but not the glyph they form
				line.Missing[Lack{Script: scriptName(runes[g.TextIndex()])}]++
			}
		}
	}
	reorder(line.runs, func(r run) int { return r.level })
	return line
}

// cover returns the text without the characters that no font has, and for each character its font, script and level.
// Characters without a script (digits, punctuation, marks) have the script of the one before them, or at the
// beginning of the one after them. Digits and punctuation come from the built-in font where it has them, as a browser
// takes them from its first font.
func (l *Library) cover(text []rune, levels []int, east string, bold bool, missing Missing) ([]rune, []*face,
	[]language.Script, []int) {
	owners := make([]rune, len(text)) // the nearest character with a script, which it shares
	owner := rune(-1)
	for i, r := range text {
		if s := language.LookupScript(r); s.Strong() && s != language.Unknown {
			if owner < 0 {
				for j := range i {
					owners[j] = r
				}
			}
			owner = r
		}
		owners[i] = max(owner, 0)
	}
	n := 0
	faces, scripts := make([]*face, len(text)), make([]language.Script, len(text))
	var before *face
	for i, r := range text {
		script := language.LookupScript(owners[i])
		unseen := unicode.In(r, unicode.Cf, unicode.Zs, unicode.Variation_Selector) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		var f *face
		switch {
		case before != nil && (unseen || unicode.Is(unicode.M, r) && before.has(r)):
			f = before
		case unseen || language.LookupScript(r) == language.Common && l.own(bold).has(r):
			f = l.own(bold)
		default:
			f = l.choose(script, east, r, bold)
		}
		if f == nil {
			missing[l.lack(r, owners[i], east)]++
			continue
		}
		text[n], faces[n], scripts[n], levels[n], before = r, f, script, levels[i], f
		n++
	}
	return text[:n], faces[:n], scripts[:n], levels[:n]
}

// lack returns the script under which a missing character is counted. Punctuation of a script with a family (a danda, a
// wide comma) counts as that script.
func (l *Library) lack(r, owner rune, east string) Lack {
	if name := scriptName(r); name != "symbol" {
		family := letters.Family(language.LookupScript(r), east, r)
		return Lack{name, family != "" && l.noto(family) == nil}
	}
	if family := letters.Family(language.LookupScript(owner), east, r); family != "" && l.noto(family) == nil {
		return Lack{scriptName(owner), true}
	}
	return Lack{Script: "symbol"}
}

// languages are the languages by which a font chooses the forms of ideographs.
var languages = map[string]language.Language{"JP": language.NewLanguage("ja"), "KR": language.NewLanguage("ko"),
	"SC": language.NewLanguage("zh-cn")}

// shape sets the glyphs of a run; false if a system font is damaged.
func (r *run) shape(shaper *shaping.HarfbuzzShaper, text []rune, east string, size float64, bold bool) (ok bool) {
	upem := int(r.face.Upem())
	r.scale = size / float64(upem)
	if bold && !r.face.bold {
		r.embolden = size / 24
	}
	in := shaping.Input{Text: text, RunStart: r.from, RunEnd: r.to, Face: r.face.Face, Size: fixed.I(upem),
		Script: r.script, Direction: di.DirectionLTR}
	if r.level%2 == 1 {
		in.Direction = di.DirectionRTL
	}
	switch r.script {
	case language.Han, language.Hiragana, language.Katakana, language.Hangul:
		in.Language = languages[east]
	}
	defer func() {
		if recover() != nil {
			r.glyphs, ok = nil, false
		}
	}()
	r.glyphs = shaper.Shape(in).Glyphs
	return true
}

func (r *run) width() float64 {
	w := 0.0
	for _, g := range r.glyphs {
		if g.GlyphID != 0 {
			w += float64(g.Advance) / 64 * r.scale
		}
	}
	return w
}

// Draw passes the outlines of the line to paint, run by run, to be filled by the non-zero rule: the line begins at the
// origin, on the baseline, and y points upward. Where embolden is not 0 the font has no bold form: also stroke the
// outline with that width.
func (l Line) Draw(paint func(outline vg.Path, embolden float64)) {
	x := 0.0
	for _, r := range l.runs {
		var p vg.Path
		for _, g := range r.glyphs {
			if g.GlyphID == 0 {
				continue
			}
			r.outline(&p, g, x)
			x += float64(g.Advance) / 64 * r.scale
		}
		if len(p) > 0 {
			paint(p, r.embolden)
		}
	}
}

// Pieces returns the line as text of a PDF page: a shape for each cluster, the glyphs of one or more characters.
func (l Line) Pieces() []pdf.Text {
	var out []pdf.Text
	for _, r := range l.runs {
		upem := float64(r.face.Upem())
		t := pdf.Text{Font: r.face, Name: r.face.Describe().Family, Size: r.scale * upem, Embolden: r.embolden}
		r.scale = 1000 / upem
		for i := 0; i < len(r.glyphs); {
			at, end := r.glyphs[i].TextIndex(), i
			for end < len(r.glyphs) && r.glyphs[end].TextIndex() == at {
				end++
			}
			t.Shapes = append(t.Shapes, r.cluster(r.glyphs[i:end], l.text))
			i = end
		}
		out = append(out, t)
	}
	return out
}

func (r run) cluster(glyphs []shaping.Glyph, text []rune) pdf.Shape {
	drawn := slices.DeleteFunc(slices.Clone(glyphs), func(g shaping.Glyph) bool { return g.GlyphID == 0 })
	from := glyphs[0].TextIndex()
	s := pdf.Shape{Outline: func() vg.Path {
		var p vg.Path
		x := 0.0
		for _, g := range drawn {
			r.outline(&p, g, x)
			x += float64(g.Advance) / 64 * r.scale
		}
		return p
	}}
	for _, c := range text[from : from+glyphs[0].RunesCount()] {
		if !unicode.Is(unicode.Bidi_Control, c) {
			s.Text += string(c)
		}
	}
	s.Key = s.Text
	for i, g := range drawn {
		s.Advance += float64(g.Advance) / 64 * r.scale
		s.Key += fmt.Sprintf("\x00%d %d %d", g.GlyphID, g.XOffset, g.YOffset)
		if i < len(drawn)-1 {
			s.Key += fmt.Sprint(" ", g.Advance)
		}
	}
	return s
}

func (r *run) outline(p *vg.Path, g shaping.Glyph, x float64) {
	o, ok := r.face.GlyphData(g.GlyphID).(font.GlyphOutline)
	if !ok {
		return // an image, as in fonts of emoji
	}
	dx, dy := x+float64(g.XOffset)/64*r.scale, float64(g.YOffset)/64*r.scale
	at := func(q opentype.SegmentPoint) vg.Point {
		return vg.Point{X: vg.Length(dx + float64(q.X)*r.scale), Y: vg.Length(dy + float64(q.Y)*r.scale)}
	}
	open := false
	for _, s := range o.Segments {
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			if open {
				p.Close()
			}
			p.Move(at(s.Args[0]))
			open = true
		case opentype.SegmentOpLineTo:
			p.Line(at(s.Args[0]))
		case opentype.SegmentOpQuadTo:
			p.QuadTo(at(s.Args[0]), at(s.Args[1]))
		case opentype.SegmentOpCubeTo:
			p.CubeTo(at(s.Args[0]), at(s.Args[1]), at(s.Args[2]))
		}
	}
	if open {
		p.Close()
	}
}

// Add adds the counts of another line.
func (m Missing) Add(other Missing) {
	for lack, n := range other {
		m[lack] += n
	}
}

// String counts the missing characters of each script and suggests a fix; "" where nothing is missing.
func (m Missing) String() string {
	if len(m) == 0 {
		return ""
	}
	order := func(a, b Lack) int { return cmp.Compare(a.Script, b.Script) }
	var pull, install []string
	for _, lack := range slices.SortedFunc(maps.Keys(m), order) {
		what := fmt.Sprintf("%s (%d)", lack.Script, m[lack])
		if lack.Pull {
			pull = append(pull, what)
		} else {
			install = append(install, what)
		}
	}
	text := "Characters left out because no font has them:"
	if len(pull) > 0 {
		text += " " + strings.Join(pull, ", ") + "; `antipode data pull " + manifest.Fonts + "` downloads one."
	}
	if len(install) > 0 {
		text += " " + strings.Join(install, ", ") + "; install one on this system."
	}
	return text + " The SVG and HTML forms have them."
}

// scriptName returns the Unicode name of a character's script, or "symbol".
func scriptName(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return strings.ReplaceAll(name, "_", " ")
		}
	}
	return "symbol"
}
