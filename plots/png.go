package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/text/unicode/bidi"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// canvasFonts are the two faces that PNG text is painted with.
var canvasFonts = sync.OnceValue(func() *font.Cache {
	var faces font.Collection
	for weight, ttf := range map[stdfont.Weight][]byte{stdfont.WeightNormal: liberationsansregular.TTF, stdfont.WeightBold: liberationsansbold.TTF} {
		if f, err := opentype.Parse(ttf); err == nil {
			faces = append(faces, font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, Face: f})
		}
	}
	return font.NewCache(faces)
})

// png paints the scene. A character that the font lacks is left out, and a line at the foot names its script.
func (s *scene) png(dpi int) ([]byte, error) {
	lacking := s.lacking()
	height := s.height
	if lacking != "" {
		height += 1.6 * s.theme.Small
	}
	// One unit of the canvas is one CSS pixel: 1/72 of its "inch", which has dpi·72/96 dots.
	const largest = 20000
	if w, h := s.width*float64(dpi)/96, height*float64(dpi)/96; w > largest || h > largest {
		return nil, fmt.Errorf("the picture would be %.0f × %.0f dots; give fewer dots per inch", w, h)
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(s.width), vg.Length(height)), vgimg.UseDPI(dpi*72/96), vgimg.UseBackgroundColor(s.theme.Paper))
	at := func(p pt) vg.Point { return vg.Point{X: vg.Length(p.x), Y: vg.Length(height - p.y)} }
	fillAndStroke := func(p vg.Path, fill, stroke color.NRGBA, width float64, dash bool) {
		if fill.A > 0 {
			c.SetColor(fill)
			c.Fill(p)
		}
		if stroke.A > 0 && width > 0 {
			c.SetColor(stroke)
			c.SetLineWidth(vg.Length(width))
			c.SetLineDash(nil, 0)
			if dash {
				c.SetLineDash([]vg.Length{5, 4}, 0)
			}
			c.Stroke(p)
		}
	}
	shapes := s.shapes
	if lacking != "" {
		shapes = append(slices.Clone(shapes), label{at: pt{margin, height - 0.5*s.theme.Small}, size: s.theme.Small, color: s.theme.Outline, anchor: start,
			text: "This picture lacks a font for " + lacking + " text: it is left out here; the SVG and HTML forms have it."})
	}
	for _, shape := range shapes {
		switch v := shape.(type) {
		case path:
			var p vg.Path
			for i, q := range v.points {
				if i == 0 {
					p.Move(at(q))
				} else {
					p.Line(at(q))
				}
			}
			if v.closed {
				p.Close()
			}
			fillAndStroke(p, v.fill, v.stroke, v.width, v.dash)
		case disc:
			var p vg.Path
			p.Move(at(pt{v.at.x + v.radius, v.at.y}))
			p.Arc(at(v.at), vg.Length(v.radius), 0, 2*math.Pi)
			p.Close()
			fillAndStroke(p, v.fill, v.stroke, v.width, false)
		case label:
			v.paint(c, at)
		case picture:
			corner := at(pt{v.at.x, v.at.y + v.height})
			c.DrawImage(vg.Rectangle{Min: corner, Max: corner.Add(vg.Point{X: vg.Length(v.width), Y: vg.Length(v.height)})}, opaque(v.image))
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, c.Image()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (v label) paint(c *vgimg.Canvas, at func(pt) vg.Point) {
	text := strings.Map(func(r rune) rune {
		if !covers(r) {
			return -1
		}
		return r
	}, visual(oneLine(v.text)))
	if text == "" {
		return
	}
	weight := stdfont.WeightNormal
	if v.bold {
		weight = stdfont.WeightBold
	}
	f := canvasFonts().Lookup(font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, vg.Length(v.size))
	shift := map[anchor]float64{start: 0, middle: -0.5, end: -1}[v.anchor] * exact(text, v.size, v.bold)
	c.Push()
	defer c.Pop()
	c.SetColor(v.color)
	c.Translate(at(v.at))
	if v.turn != 0 {
		c.Rotate(-v.turn * math.Pi / 180)
	}
	c.FillString(f, vg.Point{X: vg.Length(shift)}, text)
}

// visual puts text into the order in which it is painted, left to right: Hebrew turns round.
func visual(text string) string {
	var p bidi.Paragraph
	if _, err := p.SetString(text, bidi.DefaultDirection(bidi.LeftToRight)); err != nil {
		return text
	}
	order, err := p.Order()
	if err != nil {
		return text
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}

// opaque lays an image on white, as the canvas wants it.
func opaque(img image.Image) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, img.Bounds().Min, draw.Over)
	return out
}

// lacking names the scripts of the scene's text that the built-in font does not have; "" = none.
func (s *scene) lacking() string {
	found := map[string]bool{}
	for _, shape := range s.shapes {
		v, ok := shape.(label)
		if !ok {
			continue
		}
		for _, r := range oneLine(v.text) {
			if covers(r) || unicode.In(r, unicode.Cf, unicode.Zs) {
				continue
			}
			found[scriptOf(r)] = true
		}
	}
	var out []string
	for name := range found {
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if name != "Common" && name != "Inherited" && unicode.Is(table, r) {
			return name
		}
	}
	return "symbol"
}
