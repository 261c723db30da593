package archipelago

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"git.sr.ht/~sbinet/gg"
)

// pen draws in unit coordinates: the image is [0,1]², y down, at any size in pixels.
type pen struct {
	*gg.Context
	im    *image.RGBA
	r     *rand.Rand
	scale float64 // pixels per unit of line width
}

func newPen(im *image.RGBA, r *rand.Rand) *pen {
	size := float64(im.Rect.Dx())
	p := &pen{Context: gg.NewContextForRGBA(im), im: im, r: r, scale: size}
	p.Scale(size, size)
	p.SetLineCapRound()
	p.SetLineJoinRound()
	return p
}

// between samples a number from [a,b).
func (p *pen) between(a, b float64) float64 { return a + (b-a)*p.r.Float64() }

// chance is true with probability q.
func (p *pen) chance(q float64) bool { return p.r.Float64() < q }

// place maps the box [-½,½]² to a box of side s with center (x,y), rotated by angle and optionally mirrored, until the
// returned function is called.
func (p *pen) place(x, y, s, angle float64, mirrored bool) func() {
	p.Push()
	old := p.scale
	p.Translate(x, y)
	p.Rotate(angle)
	if mirrored {
		p.Scale(-s, s)
	} else {
		p.Scale(s, s)
	}
	p.scale *= s
	return func() { p.Pop(); p.scale = old }
}

func (p *pen) paint(c color.Color) {
	p.SetColor(c)
	p.Fill()
}

// poly fills the polygon x0,y0,x1,y1,…
func (p *pen) poly(c color.Color, xy ...float64) {
	p.trace(xy)
	p.ClosePath()
	p.paint(c)
}

// line strokes the polyline x0,y0,x1,y1,… with round ends.
func (p *pen) line(c color.Color, width float64, xy ...float64) {
	p.trace(xy)
	p.stroke(c, width)
}

func (p *pen) stroke(c color.Color, width float64) {
	p.SetLineWidth(math.Max(width*p.scale, 0.3))
	p.SetColor(c)
	p.Stroke()
}

func (p *pen) trace(xy []float64) {
	p.MoveTo(xy[0], xy[1])
	for i := 2; i < len(xy); i += 2 {
		p.LineTo(xy[i], xy[i+1])
	}
}

// blob fills the closed curve whose control polygon is x0,y0,x1,y1,… (quadratic segments through the middles of its
// sides).
func (p *pen) blob(c color.Color, xy ...float64) {
	n := len(xy) / 2
	at := func(i int) (float64, float64) { i %= n; return xy[2*i], xy[2*i+1] }
	x0, y0 := at(n - 1)
	x1, y1 := at(0)
	p.MoveTo((x0+x1)/2, (y0+y1)/2)
	for i := range n {
		x0, y0 = at(i)
		x1, y1 = at(i + 1)
		p.QuadraticTo(x0, y0, (x0+x1)/2, (y0+y1)/2)
	}
	p.ClosePath()
	p.paint(c)
}

func (p *pen) oval(c color.Color, x, y, rx, ry float64) {
	p.DrawEllipse(x, y, rx, ry)
	p.paint(c)
}

func (p *pen) box(c color.Color, x, y, w, h float64) {
	p.DrawRectangle(x, y, w, h)
	p.paint(c)
}

// pill fills a rectangle with corners of radius r.
func (p *pen) pill(c color.Color, x, y, w, h, r float64) {
	p.DrawRoundedRectangle(x, y, w, h, r)
	p.paint(c)
}

// fade fills the rows from y0 to y1 with a vertical gradient, over the whole width.
func (p *pen) fade(top, low color.NRGBA, y0, y1 float64) {
	size := p.im.Rect.Dy()
	from, to := int(y0*float64(size)), int(math.Ceil(y1*float64(size)))
	for y := max(from, 0); y < min(to, size); y++ {
		c := mix(top, low, float64(y-from)/math.Max(float64(to-from-1), 1))
		row := p.im.Pix[y*p.im.Stride : y*p.im.Stride+4*size]
		for x := 0; x < len(row); x += 4 {
			row[x], row[x+1], row[x+2], row[x+3] = c.R, c.G, c.B, 255
		}
	}
}

// ridge fills from a wavy line about height y down to the bottom: amplitude a, about n waves, jagged (0 = smooth
// hills).
func (p *pen) ridge(c color.Color, y, a float64, n int, jagged bool) {
	shift := p.r.Float64()
	p.MoveTo(-0.1, 1.1)
	p.LineTo(-0.1, y)
	step := 1.2 / float64(n)
	px, py := -0.1, y
	for i := 0; i <= n; i++ {
		x := -0.1 + (float64(i)+shift*0.8)*step
		up := y - a*p.between(0.3, 1)
		if i%2 == 1 {
			up = y + a*p.between(0, 0.5)
		}
		if jagged {
			p.LineTo(x, up)
		} else {
			p.QuadraticTo(px, py, (px+x)/2, (py+up)/2)
		}
		px, py = x, up
	}
	p.LineTo(1.2, py)
	p.LineTo(1.2, 1.1)
	p.ClosePath()
	p.paint(c)
}

// hsl returns the opaque color of a hue in degrees (any real number), saturation and lightness in [0,1] (clamped).
func hsl(h, s, l float64) color.NRGBA {
	s, l = clamp(s), clamp(l)
	h = math.Mod(h, 360)
	if h < 0 {
		h += 360
	}
	a := s * math.Min(l, 1-l)
	channel := func(n float64) uint8 {
		k := math.Mod(n+h/30, 12)
		v := l - a*math.Max(-1, math.Min(math.Min(k-3, 9-k), 1))
		return uint8(v*255 + 0.5)
	}
	return color.NRGBA{channel(0), channel(8), channel(4), 255}
}

func clamp(v float64) float64 { return math.Max(0, math.Min(1, v)) }

// mix interpolates between a (t = 0) and b (t = 1).
func mix(a, b color.NRGBA, t float64) color.NRGBA {
	m := func(a, b uint8) uint8 { return uint8(float64(a)*(1-t) + float64(b)*t + 0.5) }
	return color.NRGBA{m(a.R, b.R), m(a.G, b.G), m(a.B, b.B), m(a.A, b.A)}
}

// clear returns a color with an alpha in [0,1].
func clear(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(clamp(alpha)*255 + 0.5)
	return c
}

func darker(c color.NRGBA, t float64) color.NRGBA  { return mix(c, color.NRGBA{20, 16, 34, 255}, t) }
func lighter(c color.NRGBA, t float64) color.NRGBA { return mix(c, color.NRGBA{255, 252, 240, 255}, t) }
