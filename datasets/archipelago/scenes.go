package archipelago

import "image/color"

// scene is a kind of background.
type scene struct {
	name  string
	where string // for captions
	draw  func(*pen, *light)
}

// The order is that of island.mix.
var scenes = []scene{
	{"shore", "on the shore", drawShore},
	{"meadow", "in a meadow", drawMeadow},
	{"forest", "in the forest", drawForest},
	{"peaks", "below the peaks", drawPeaks},
	{"street", "in the street", drawStreet},
	{"room", "in a room", drawRoom},
}

func findScene(name string) *scene {
	for i := range scenes {
		if scenes[i].name == name {
			return &scenes[i]
		}
	}
	return nil
}

// light holds a background's time of day and colors on an island.
type light struct {
	*island
	hour     float64 // 0 = noon, 1 = dusk
	top, low color.NRGBA
	tint     color.NRGBA // mixed into every color at dusk
	jitter   float64     // a hue shift of this one image
}

func newLight(p *pen, isl *island) *light {
	l := &light{island: isl, hour: p.r.Float64(), jitter: p.between(-9, 9)}
	l.hour *= l.hour
	noonTop, noonLow := hsl(isl.sky+l.jitter, 0.62*isl.vivid, 0.66), hsl(isl.sky+l.jitter, 0.5*isl.vivid, 0.90)
	duskTop, duskLow := hsl(isl.sky+40+l.jitter, 0.42*isl.vivid, 0.40), hsl(24+isl.accent/30+l.jitter, 0.85*isl.vivid,
		0.72)
	l.top, l.low = mix(noonTop, duskTop, l.hour), mix(noonLow, duskLow, l.hour)
	l.tint = hsl(isl.sky+60, 0.35, 0.30)
	return l
}

// lit returns a color in this light: with the island's saturation, darker and bluer at dusk.
func (l *light) lit(h, s, v float64) color.NRGBA {
	return mix(hsl(h+l.jitter, s*l.vivid, v), l.tint, 0.42*l.hour)
}

// far returns a color behind the fraction t of the island's haze.
func (l *light) far(c color.NRGBA, t float64) color.NRGBA { return mix(c, l.low, t*(0.4+0.6*l.haze)) }

// heaven draws the sky above the horizon with a sun and clouds.
func (l *light) heaven(p *pen, horizon float64) {
	p.fade(l.top, l.low, 0, horizon)
	if p.chance(0.6) {
		x, y, r := p.between(0.08, 0.92), p.between(0.06, 0.2)+l.hour*(horizon-0.25), p.between(0.05, 0.085)
		sun := mix(hsl(48, 1, 0.88), hsl(18, 1, 0.70), l.hour)
		p.oval(clear(sun, 0.25), x, y, r*1.7, r*1.7)
		p.oval(sun, x, y, r, r)
	}
	for range p.r.IntN(4) {
		x, y, s := p.between(0, 1), p.between(0.05, horizon*0.7), p.between(0.05, 0.12)
		c := clear(mix(lighter(l.low, 0.6), l.top, 0.35*l.hour), 0.85)
		p.oval(c, x, y, s*1.5, s*0.38)
		p.oval(c, x-s*0.4, y-s*0.25, s*0.7, s*0.42)
		p.oval(c, x+s*0.45, y-s*0.18, s*0.6, s*0.34)
	}
}

func drawShore(p *pen, l *light) {
	horizon := p.between(0.36, 0.52)
	l.heaven(p, horizon)
	if p.chance(0.6) {
		x, s := p.between(0.05, 0.95), p.between(0.12, 0.28)
		p.blob(l.far(l.lit(l.land, 0.35, 0.42), 0.6), x-s, horizon, x-s*0.5, horizon-s*0.4, x+s*0.1, horizon-s*0.65,
			x+s*0.6, horizon-s*0.25, x+s, horizon, x, horizon+0.01)
	}
	beach := p.between(0.64, 0.80)
	p.fade(l.far(l.lit(l.sea, 0.6, 0.5), 0.3), l.lit(l.sea-8, 0.65, 0.58), horizon, beach+0.1)
	foam := lighter(l.lit(l.sea, 0.4, 0.8), 0.5)
	for range 7 + p.r.IntN(8) {
		y := p.between(horizon+0.02, beach-0.02)
		x, w := p.between(-0.1, 0.95), p.between(0.05, 0.16)*(0.4+(y-horizon)*2)
		p.line(clear(foam, 0.6), 0.008, x, y, x+w*0.5, y-0.008, x+w, y)
	}
	sand := l.lit(l.earth, 0.52, 0.74)
	tilt := p.between(-0.07, 0.07)
	p.shoreline(clear(foam, 0.9), beach-0.02, tilt)
	p.shoreline(darker(sand, 0.14), beach, tilt)
	p.shoreline(sand, beach+0.03, tilt)
	for range 8 + p.r.IntN(10) {
		x, y, s := p.r.Float64(), p.between(beach+0.08, 1), p.between(0.006, 0.016)
		c := darker(sand, p.between(0.12, 0.4))
		if p.chance(0.25) {
			c = l.lit(l.accent, 0.6, 0.7)
		}
		p.oval(c, x, y, s*1.3, s*0.8)
	}
	if p.chance(0.55) {
		l.palm(p, p.edge(), p.between(0.78, 0.95), p.between(0.45, 0.65))
	}
}

// edge returns an x near the left or right border, where tall decoration covers little of an object.
func (p *pen) edge() float64 {
	if p.chance(0.5) {
		return p.between(0.02, 0.14)
	}
	return p.between(0.86, 0.98)
}

// shoreline fills from a gently curved line down.
func (p *pen) shoreline(c color.Color, y, tilt float64) {
	p.MoveTo(-0.1, y+tilt)
	p.CubicTo(0.3, y-0.05+tilt, 0.6, y+0.06-tilt, 1.1, y-tilt)
	p.LineTo(1.1, 1.1)
	p.LineTo(-0.1, 1.1)
	p.ClosePath()
	p.paint(c)
}

// palm draws a palm of height h with its foot at (x,y).
func (l *light) palm(p *pen, x, y, h float64) {
	bend := p.between(-0.12, 0.12)
	tx, ty := x+bend, y-h
	p.MoveTo(x, y)
	p.QuadraticTo(x, y-h*0.6, tx, ty)
	p.stroke(l.lit(l.earth-10, 0.35, 0.38), 0.028)
	for i := range 7 {
		a := float64(i-3) / 3
		c := l.lit(l.land, 0.55, 0.30+0.05*float64(i%3))
		ex, ey := tx+a*0.24, ty-0.06+0.17*a*a
		p.blob(c, tx, ty, tx+a*0.09, ty-0.10+0.05*a*a, ex, ey, ex, ey, tx+a*0.10, ty-0.01+0.04*a*a)
	}
}

func drawMeadow(p *pen, l *light) {
	horizon := p.between(0.40, 0.56)
	l.heaven(p, horizon+0.05)
	for i := range 3 {
		t := float64(i) / 2
		y := horizon + 0.16*t
		c := l.far(l.lit(l.land+10*t, 0.48, 0.50-0.06*t), 0.7*(1-t))
		p.ridge(c, y, 0.10*(1-0.5*t), 3+p.r.IntN(3), false)
		if i < 2 {
			for range 2 + p.r.IntN(4) {
				x, s := p.r.Float64(), p.between(0.016, 0.03)*(1+t)
				tree := darker(c, p.between(0.18, 0.4))
				p.line(tree, 0.008, x, y+0.02, x, y-s)
				p.oval(tree, x, y-s*1.5, s, s*1.2)
			}
		}
	}
	grass := l.lit(l.land+12, 0.52, 0.42)
	for range 26 {
		x, y := p.r.Float64(), p.between(horizon+0.26, 1.0)
		p.line(darker(grass, p.between(0.05, 0.3)), 0.007, x, y, x+p.between(-0.015, 0.015), y-p.between(0.015, 0.045))
	}
	if p.chance(0.45) {
		wood, y := l.lit(l.earth, 0.3, 0.62), p.between(horizon+0.14, horizon+0.22)
		p.line(wood, 0.012, -0.1, y, 1.1, y+0.01)
		p.line(wood, 0.012, -0.1, y+0.035, 1.1, y+0.045)
		for x := p.between(0, 0.1); x < 1; x += 0.13 {
			p.line(wood, 0.018, x, y-0.025, x, y+0.075)
		}
	}
	petal := l.lit(l.accent, 0.75, 0.68)
	for range p.r.IntN(26) {
		x, y := p.r.Float64(), p.between(horizon+0.28, 1.0)
		s := 0.006 + 0.012*(y-horizon)
		p.oval(petal, x, y, s, s)
		p.oval(hsl(48, 0.9, 0.8), x, y, s*0.4, s*0.4)
	}
}

func drawForest(p *pen, l *light) {
	p.fade(l.far(l.lit(l.land+14, 0.35, 0.62), 0.5), l.lit(l.land+6, 0.38, 0.46), 0, 0.8)
	floor := p.between(0.66, 0.76)
	for layer := range 3 {
		t := float64(layer) / 2
		bark := l.far(l.lit(l.earth-14, 0.28, 0.44-0.18*t), 0.75*(1-t))
		for range 7 - 2*layer {
			x, w := p.r.Float64(), p.between(0.018, 0.034)*(1+1.2*t)
			lean := p.between(-0.03, 0.03)
			p.poly(bark, x-w, floor+0.05+0.06*t, x-w*0.6+lean, -0.02, x+w*0.6+lean, -0.02, x+w, floor+0.05+0.06*t)
		}
		leaf := l.far(l.lit(l.land+8*t, 0.45, 0.42-0.12*t), 0.6*(1-t))
		for range 7 {
			p.oval(leaf, p.r.Float64(), p.between(-0.05, 0.14-0.05*t), p.between(0.1, 0.2), p.between(0.05, 0.11))
		}
	}
	moss := l.lit(l.land-14, 0.40, 0.34)
	p.ridge(moss, floor+0.04, 0.04, 5, false)
	for range 12 {
		p.oval(darker(moss, p.between(0, 0.35)), p.r.Float64(), p.between(floor+0.1, 1), p.between(0.03, 0.08),
			p.between(0.008, 0.018))
	}
	if p.chance(0.5) { // shafts of light
		x := p.between(0.1, 0.7)
		for i := range 3 {
			d := float64(i) * 0.13
			p.poly(clear(hsl(52, 0.8, 0.86), 0.13), x+d, 0, x+d+0.07, 0, x+d-0.06, floor+0.12, x+d-0.18, floor+0.12)
		}
	}
	for range 2 + p.r.IntN(3) {
		x, y, s := p.edge(), p.between(0.84, 1), p.between(0.06, 0.12)
		fern := l.lit(l.land+4, 0.5, p.between(0.3, 0.42))
		for i := range 5 {
			a := float64(i-2) / 2
			p.blob(fern, x, y, x+a*s*0.3, y-s*0.9, x+a*s, y-s*(1.1-0.5*a*a), x+a*s*0.6, y-s*0.3)
		}
	}
}
