package plots

import (
	"image"
	"image/color"
	"math"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// scene is a drawing: shapes in paint order, in CSS pixels from the top left corner.
type scene struct {
	width, height float64
	title, about  string
	theme         Theme
	shapes        []any // path, disc, label, raster
	areas         []area
}

// area is where a click opens the images behind a row of the figure's table.
type area struct {
	x, y, w, h float64
	row        int
}

// behind adds the area of a row that the panel has.
func (sc *scene) behind(p *panel, k [2]string, x, y, w, h float64) {
	if row, known := p.rows[k]; known {
		sc.areas = append(sc.areas, area{x, y, w, h, row})
	}
}

// description is the scene in one line: its title and its caption.
func (sc *scene) description() string {
	title := oneLine(sc.title)
	if title != "" && sc.about != "" && !strings.ContainsAny(title[len(title)-1:], ".!?:") {
		title += "."
	}
	return strings.TrimSpace(title + " " + oneLine(sc.about))
}

type pt struct{ x, y float64 }

// path is a line or, where it has a fill, an area. An alpha of 0 means not stroked or not filled.
type path struct {
	points []pt
	closed bool
	stroke color.NRGBA
	width  float64
	dash   bool
	fill   color.NRGBA
}

// disc is a circle.
type disc struct {
	at     pt
	radius float64
	stroke color.NRGBA
	width  float64
	fill   color.NRGBA
}

type anchor string

const (
	start  anchor = "start"
	middle anchor = "middle"
	end    anchor = "end"
)

// label is one line of text; at is on its baseline. turn is in degrees, clockwise.
type label struct {
	at     pt
	text   string
	size   float64
	bold   bool
	color  color.NRGBA
	anchor anchor
	turn   float64
}

// raster is an image in a box. data is its file (JPEG or PNG) and mime its type.
type raster struct {
	at            pt
	width, height float64
	data          []byte
	mime          string
	image         image.Image
	alt           string
}

func (sc *scene) add(shapes ...any) { sc.shapes = append(sc.shapes, shapes...) }

func (sc *scene) line(c color.NRGBA, width float64, points ...pt) {
	sc.add(path{points: points, stroke: c, width: width})
}

func (sc *scene) box(x, y, w, h float64, fill color.NRGBA) {
	sc.add(path{points: []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, closed: true, fill: fill})
}

// text adds a line of text; y is the middle of its x-height, so that text is level with a mark at y.
func (sc *scene) text(x, y float64, text string, size float64, c color.NRGBA, a anchor) {
	sc.add(label{at: pt{x, y + 0.36*size}, text: text, size: size, color: c, anchor: a})
}

// heading adds the title below the upper margin and returns the y below it.
func (sc *scene) heading() float64 {
	if sc.theme.Bare {
		return 6
	}
	return sc.paragraph(margin, 6, sc.width-2*margin, sc.title, sc.theme.Title, true, sc.theme.Ink)
}

// finish adds the caption below y and sets the height.
func (sc *scene) finish(y float64) *scene {
	if !sc.theme.Bare {
		y = sc.paragraph(margin, y, sc.width-2*margin, sc.about, sc.theme.Small, false, sc.theme.Muted)
	}
	sc.height = math.Ceil(y + 6)
	return sc
}

// paragraph adds wrapped text below y and returns the y below it.
func (sc *scene) paragraph(x, y, width float64, text string, size float64, bold bool, c color.NRGBA) float64 {
	for _, line := range wrap(text, size, bold, width) {
		sc.add(label{at: pt{x, y + size}, text: line, size: size, bold: bold, color: c, anchor: start})
		y += 1.35 * size
	}
	return y
}

// marks are the shapes of points, in series order: a series is known by its color and by its shape.
const markKinds = 6

func (sc *scene) mark(kind int, at pt, r float64, fill, stroke color.NRGBA) {
	poly := func(xy ...float64) {
		p := path{closed: true, fill: fill, stroke: stroke, width: 1.2}
		for i := 0; i < len(xy); i += 2 {
			p.points = append(p.points, pt{at.x + r*xy[i], at.y + r*xy[i+1]})
		}
		sc.add(p)
	}
	switch kind % markKinds {
	case 0:
		sc.add(disc{at: at, radius: r, fill: fill, stroke: stroke, width: 1.2})
	case 1:
		poly(-.9, -.9, .9, -.9, .9, .9, -.9, .9)
	case 2:
		poly(0, -1.2, 1.1, .8, -1.1, .8)
	case 3:
		poly(0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0)
	case 4:
		poly(0, 1.2, 1.1, -.8, -1.1, -.8)
	default:
		poly(-.4, -1.1, .4, -1.1, .4, -.4, 1.1, -.4, 1.1, .4, .4, .4, .4, 1.1, -.4, 1.1, -.4, .4, -1.1, .4, -1.1, -.4,
			-.4, -.4)
	}
}

// cross draws the mark of an exception.
func (sc *scene) cross(at pt, r float64, c color.NRGBA) {
	sc.line(c, 2, pt{at.x - r, at.y - r}, pt{at.x + r, at.y + r})
	sc.line(c, 2, pt{at.x - r, at.y + r}, pt{at.x + r, at.y - r})
}

// hatch fills a box with thin slanted lines, which mean "no data".
func (sc *scene) hatch(x, y, w, h float64) {
	c := mix(sc.theme.Rule, sc.theme.Muted, 0.3)
	sc.add(path{points: []pt{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, closed: true,
		fill: mix(sc.theme.Paper, sc.theme.Rule, .35), stroke: sc.theme.Rule, width: 0.6})
	for d := 5.0; d < w+h; d += 6 {
		a, b := pt{x + min(d, w), y + max(0, d-w)}, pt{x + max(0, d-h), y + min(d, h)}
		sc.line(c, 0.6, a, b)
	}
}

// measure returns the width to reserve for a line of text: more than its width in Liberation Sans, since a reader's
// font can be wider (DejaVu Sans is, by an eighth, and by a quarter in bold).
func measure(text string, size float64, bold bool) float64 {
	if bold {
		return 1.25 * exact(text, size, bold)
	}
	return 1.125 * exact(text, size, bold)
}

// exact returns the width of a line of text in Liberation Sans. In scripts that it lacks, ideographs count as one em,
// marks as nothing, letters of Tamil, Telugu and Malayalam as 0.8 em, others as 0.62 em: the layout is the same on
// every machine, whatever its fonts.
func exact(text string, size float64, bold bool) float64 {
	f := fonts[bold]
	w := 0.0
	for _, r := range text {
		w += f.advance(r)
	}
	return w * size
}

type face struct {
	font *sfnt.Font
	buf  sfnt.Buffer
	seen map[rune]float64
}

var fontsMu sync.Mutex

var fonts = map[bool]*face{false: newFace(liberationsansregular.TTF), true: newFace(liberationsansbold.TTF)}

func newFace(ttf []byte) *face {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		f = nil // widths are then estimated
	}
	return &face{font: f, seen: map[rune]float64{}}
}

func (f *face) has(r rune) bool {
	if f.font == nil {
		return false
	}
	i, err := f.font.GlyphIndex(&f.buf, r)
	return err == nil && i != 0
}

func (f *face) advance(r rune) float64 {
	fontsMu.Lock()
	defer fontsMu.Unlock()
	if w, ok := f.seen[r]; ok {
		return w
	}
	w := 0.62
	switch {
	// wider than most
	case unicode.In(r, unicode.Tamil, unicode.Telugu, unicode.Malayalam) && !unicode.In(r, unicode.Mn):
		w = 0.8
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		w = 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r >= 0xFF01 && r <= 0xFF60:
		w = 1
	case f.has(r):
		const em = 1000
		i, _ := f.font.GlyphIndex(&f.buf, r)
		if a, err := f.font.GlyphAdvance(&f.buf, i, fixed.I(em), 0); err == nil {
			w = float64(a) / 64 / em
		}
	}
	f.seen[r] = w
	return w
}

// fit shortens text to a width, with an ellipsis.
func fit(text string, size float64, bold bool, width float64) string {
	text = oneLine(text)
	if measure(text, size, bold) <= width {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 0; n-- {
		if s := strings.TrimRight(string(runes[:n]), " ") + "…"; measure(s, size, bold) <= width {
			return s
		}
	}
	return "…"
}

// wrap breaks text into lines of a width, at spaces; a word that is too long is broken after a hyphen, a slash or an
// underscore, else anywhere.
func wrap(text string, size float64, bold bool, width float64) []string {
	var lines []string
	for _, part := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(part) {
			for {
				joined := strings.TrimSpace(line + " " + word)
				if measure(joined, size, bold) <= width {
					line = joined
					break
				}
				if line != "" {
					lines, line = append(lines, line), ""
					continue
				}
				runes := []rune(word)
				n := len(runes)
				for n > 1 && measure(string(runes[:n]), size, bold) > width {
					n--
				}
				for i := n; i > 1 && n < len(runes); i-- {
					if strings.ContainsRune("-_/", runes[i-1]) {
						n = i
						break
					}
				}
				lines = append(lines, string(runes[:n]))
				if word = string(runes[n:]); word == "" {
					break
				}
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// oneLine makes text one line: white space becomes a space, control characters are removed.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return strings.Join(strings.Fields(text), " ")
}

// isolate makes right-to-left text independent of the writing direction of the sentence around it.
func isolate(text string) string {
	for _, r := range text {
		if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Cf) {
			return "\u2068" + text + "\u2069"
		}
	}
	return text
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
