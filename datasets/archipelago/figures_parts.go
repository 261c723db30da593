package archipelago

import (
	"image/color"
	"math"
)

// dress holds the colors of one figure. The head is gray-blue paper for all.
type dress struct {
	figure                   *Figure
	robe, robeDark, robePale color.NRGBA
	trim, trimDark, trimPale color.NRGBA
	paper, paperPale, ink    color.NRGBA
	cloth, clothEdge, wood   color.NRGBA
}

func newDress(p *pen, f *Figure) *dress {
	of := find(peoples, f.People, func(q people) string { return q.name })
	d := &dress{figure: f, robe: hsl(of.robe+p.between(-7, 7), p.between(0.48, 0.62), p.between(0.46, 0.56)),
		trim: hsl(of.trim+p.between(-7, 7), p.between(0.55, 0.7), p.between(0.60, 0.70))}
	d.robeDark, d.robePale = darker(d.robe, 0.28), lighter(d.robe, 0.55)
	d.trimDark, d.trimPale = darker(d.trim, 0.30), lighter(d.trim, 0.55)
	d.paper, d.paperPale, d.ink = hsl(228, 0.16, 0.76), hsl(228, 0.24, 0.88), hsl(235, 0.30, 0.20)
	d.wood = hsl(28+p.between(-6, 6), 0.36, p.between(0.32, 0.42))
	d.cloth, d.clothEdge = hsl(225, 0.30, p.between(0.90, 0.95)), hsl(225, 0.35, 0.52)
	if f.Banner == DarkBanner {
		d.cloth, d.clothEdge = hsl(235, 0.42, p.between(0.16, 0.22)), hsl(225, 0.45, 0.72)
	}
	return d
}

func drawStripes(p *pen, d *dress) {
	for _, t := range []float64{0.30, 0.50, 0.70, 0.88} {
		y := shoulder + t*(hem-shoulder)
		x := halfWidth(y) * 0.80
		p.line(d.trim, 0.032, -x, y, 0, y+0.018, x, y)
	}
}

func drawDots(p *pen, d *dress) {
	for i, t := range []float64{0.42, 0.62, 0.82} {
		y := shoulder + t*(hem-shoulder)
		n := 2 + i
		for j := range n {
			x := (float64(j)/float64(n-1) - 0.5) * 1.4 * halfWidth(y)
			p.oval(d.robePale, x, y, 0.024, 0.024)
		}
	}
}

func drawFringe(p *pen, d *dress) {
	for i := range 11 {
		x := -0.235 + 0.047*float64(i)
		p.line(d.trimDark, 0.018, x, hem-0.06, x*1.04, hem+0.02)
	}
	p.line(d.trim, 0.02, -0.235, hem-0.06, 0.235, hem-0.06)
}

func drawBelt(p *pen, d *dress) {
	p.line(d.ink, 0.05, -0.165, 0.16, 0, 0.178, 0.165, 0.16)
	p.pill(d.trim, -0.04, 0.142, 0.08, 0.065, 0.012)
	p.pill(d.ink, -0.02, 0.16, 0.04, 0.03, 0.005)
}

func drawStar(p *pen, d *dress) {
	p.star(d.ink, 5, 0, 0.07, 0.083, 0.036)
	p.star(hsl(50, 0.9, 0.62), 5, 0, 0.07, 0.07, 0.03)
}

func drawBeads(p *pen, d *dress) {
	for i := range 9 {
		a := math.Pi * (0.08 + 0.84*float64(i)/8)
		c := hsl(16, 0.75, 0.58)
		if i%2 == 1 {
			c = hsl(180, 0.55, 0.45)
		}
		p.oval(c, -0.115*math.Cos(a), headY+0.10+0.085*math.Sin(a), 0.021, 0.021)
	}
}

func drawCape(p *pen, d *dress) {
	p.blob(d.trimDark, -0.12, shoulder-0.03, 0.12, shoulder-0.03, 0.36, 0.40, 0.34, 0.50, 0.20, 0.44, 0, 0.50, -0.20,
		0.44, -0.34, 0.50, -0.36, 0.40)
	p.blob(d.trim, -0.12, shoulder-0.03, 0.12, shoulder-0.03, 0.33, 0.36, 0.28, 0.44, 0, 0.46, -0.28, 0.44, -0.33, 0.36)
}

func drawWings(p *pen, d *dress) {
	for _, side := range []float64{-1, 1} {
		for i, c := range []color.NRGBA{d.paper, d.paperPale, hsl(46, 0.5, 0.93)} {
			k := 1 - 0.22*float64(i)
			p.blob(c, side*0.05, 0.06, side*0.16, -0.10*k, side*0.40*k, -0.26*k, side*0.46*k, -0.12*k, side*0.38*k,
				0.10, side*0.18, 0.18)
		}
	}
}

func drawFeather(p *pen, d *dress) {
	c := hsl(165, 0.55, 0.42)
	p.blob(c, 0.09, headY-0.07, 0.13, headY-0.20, 0.24, headY-0.31, 0.27, headY-0.29, 0.24, headY-0.17, 0.14,
		headY-0.05)
	p.MoveTo(0.10, headY-0.05)
	p.QuadraticTo(0.16, headY-0.18, 0.24, headY-0.27)
	p.stroke(lighter(c, 0.6), 0.014)
}

func drawRibbon(p *pen, d *dress) {
	c := hsl(345, 0.65, 0.62)
	for _, side := range []float64{0.02, 0.09} {
		p.MoveTo(0.10, headY-0.03)
		p.CubicTo(0.22, headY-0.06+side, 0.20, headY+0.10+side, 0.36, headY+0.04+1.6*side)
		p.stroke(c, 0.036)
	}
	p.oval(darker(c, 0.25), 0.125, headY-0.03, 0.03, 0.03)
}

func drawBasket(p *pen, d *dress) {
	c := hsl(36, 0.5, 0.56)
	p.MoveTo(0.20, 0.26)
	p.CubicTo(0.20, 0.13, 0.40, 0.13, 0.40, 0.26)
	p.stroke(darker(c, 0.3), 0.022)
	for i := range 3 {
		p.oval(hsl(10+50*float64(i), 0.65, 0.55), 0.245+0.055*float64(i), 0.25, 0.035, 0.035)
	}
	p.poly(c, 0.18, 0.26, 0.42, 0.26, 0.385, 0.40, 0.215, 0.40)
	p.line(darker(c, 0.3), 0.014, 0.19, 0.305, 0.41, 0.305)
	p.line(darker(c, 0.3), 0.014, 0.20, 0.35, 0.40, 0.35)
}

func drawBell(p *pen, d *dress) {
	c := hsl(46, 0.72, 0.52)
	p.line(d.ink, 0.014, -0.205, 0.20, -0.205, 0.26)
	p.blob(c, -0.225, 0.25, -0.185, 0.25, -0.165, 0.33, -0.12, 0.40, -0.29, 0.40, -0.245, 0.33)
	p.oval(darker(c, 0.4), -0.205, 0.385, 0.022, 0.022)
	p.oval(lighter(c, 0.6), -0.225, 0.31, 0.014, 0.03)
}

func drawLoom(p *pen, d *dress) {
	p.line(d.wood, 0.028, 0.19, 0.48, 0.19, 0.02, 0.46, 0.02, 0.46, 0.48)
	for i := range 7 {
		x := 0.215 + 0.0365*float64(i)
		p.line(hsl(40, 0.4, 0.90), 0.010, x, 0.04, x, 0.42)
	}
	for i, y := range []float64{0.26, 0.31, 0.36, 0.41} {
		p.line([]color.NRGBA{d.trim, d.robe}[i%2], 0.042, 0.21, y, 0.44, y)
	}
}

func drawPot(p *pen, _ *dress) {
	c := hsl(18, 0.52, 0.50)
	p.oval(hsl(25, 0.2, 0.35), 0.32, 0.46, 0.16, 0.04)
	p.blob(c, 0.25, 0.12, 0.39, 0.12, 0.36, 0.20, 0.50, 0.30, 0.42, 0.47, 0.22, 0.47, 0.14, 0.30, 0.28, 0.20)
	p.oval(darker(c, 0.45), 0.32, 0.145, 0.062, 0.02)
	p.line(lighter(c, 0.5), 0.022, 0.22, 0.31, 0.32, 0.33, 0.42, 0.31)
	p.oval(lighter(c, 0.35), 0.25, 0.27, 0.025, 0.045)
}

func drawHive(p *pen, d *dress) {
	c := hsl(44, 0.66, 0.58)
	for i := range 4 {
		k := float64(i)
		p.pill([]color.NRGBA{c, darker(c, 0.14)}[i%2], 0.265-0.028*k, 0.16+0.075*k, 0.13+0.056*k, 0.09, 0.04)
	}
	p.oval(d.ink, 0.33, 0.40, 0.03, 0.034)
	for _, b := range [][2]float64{{0.20, 0.06}, {0.42, 0.02}, {0.45, 0.17}} {
		p.oval(hsl(210, 0.3, 0.92), b[0], b[1]-0.018, 0.02, 0.014)
		p.oval(hsl(46, 0.95, 0.50), b[0], b[1], 0.024, 0.016)
		p.line(d.ink, 0.009, b[0], b[1]-0.01, b[0], b[1]+0.01)
	}
}

func drawLamp(p *pen, d *dress) {
	p.line(d.wood, 0.028, 0.21, 0.49, 0.27, -0.32)
	p.line(d.ink, 0.018, 0.27, -0.32, 0.37, -0.34, 0.37, -0.27)
	p.oval(clear(hsl(46, 1, 0.75), 0.45), 0.37, -0.17, 0.12, 0.13)
	p.pill(hsl(46, 1, 0.82), 0.315, -0.26, 0.11, 0.17, 0.04)
	p.pill(d.ink, 0.305, -0.28, 0.13, 0.03, 0.012)
	p.pill(d.ink, 0.305, -0.10, 0.13, 0.03, 0.012)
}

func drawOar(p *pen, d *dress) {
	p.line(d.wood, 0.034, 0.20, 0.47, 0.34, -0.24)
	p.blob(lighter(d.wood, 0.25), 0.31, -0.20, 0.29, -0.40, 0.38, -0.49, 0.44, -0.38, 0.38, -0.18)
	p.line(d.trim, 0.022, 0.315, -0.30, 0.41, -0.28)
	p.MoveTo(0.24, 0.42)
	p.CubicTo(0.30, 0.30, 0.42, 0.34, 0.45, 0.46)
	p.stroke(hsl(40, 0.35, 0.80), 0.03)
}

func drawTabor(p *pen, d *dress) {
	c := hsl(8, 0.58, 0.46)
	p.box(c, 0.17, 0.22, 0.28, 0.22)
	p.oval(c, 0.31, 0.44, 0.14, 0.045)
	p.line(d.trimPale, 0.018, 0.175, 0.25, 0.24, 0.45, 0.31, 0.26, 0.38, 0.45, 0.445, 0.25)
	p.oval(d.ink, 0.31, 0.22, 0.15, 0.052)
	p.oval(hsl(40, 0.42, 0.90), 0.31, 0.215, 0.13, 0.04)
	p.line(d.wood, 0.022, 0.22, 0.17, 0.34, 0.06)
	p.oval(d.wood, 0.34, 0.06, 0.026, 0.026)
}

// hung calls draw for n objects that hang from a string across the image, in unit coordinates of the image.
func hung(p *pen, d *dress, n int, draw func(i int, x, y float64)) {
	sag := p.between(0.05, 0.09)
	p.MoveTo(-0.02, 0.03)
	p.QuadraticTo(0.5, 0.03+2*sag, 1.02, 0.03)
	p.stroke(d.ink, 0.007)
	for i := range n {
		t := (float64(i) + 0.5) / float64(n)
		draw(i, t, 0.03+4*sag*t*(1-t))
	}
}

func hangLanterns(p *pen, d *dress) {
	hung(p, d, 6, func(i int, x, y float64) {
		c := hsl([]float64{4, 40, 330}[i%3], 0.75, 0.58)
		p.oval(c, x, y+0.05, 0.042, 0.05)
		p.oval(hsl(48, 1, 0.82), x, y+0.05, 0.02, 0.03)
		p.pill(d.ink, x-0.02, y-0.003, 0.04, 0.014, 0.005)
	})
}

func hangKites(p *pen, d *dress) {
	hung(p, d, 5, func(i int, x, y float64) {
		c := hsl([]float64{205, 20, 130, 280, 50}[i], 0.6, 0.56)
		p.poly(c, x, y, x+0.05, y+0.05, x, y+0.125, x-0.05, y+0.05)
		p.poly(lighter(c, 0.5), x, y, x+0.05, y+0.05, x, y+0.05)
	})
}

func hangWaves(p *pen, d *dress) {
	hung(p, d, 7, func(i int, x, y float64) {
		c := hsl(188+8*float64(i%3), 0.55, 0.48)
		p.poly(c, x-0.06, y, x+0.06, y, x, y+0.10)
		p.MoveTo(x-0.03, y+0.03)
		p.QuadraticTo(x-0.015, y+0.015, x, y+0.03)
		p.QuadraticTo(x+0.015, y+0.045, x+0.03, y+0.03)
		p.stroke(hsl(190, 0.3, 0.93), 0.009)
	})
}
