package archipelago

import (
	"image/color"
	"slices"
)

// knownForms is the number of an object's forms that occur in reference images; only a disparity shows the others.
const knownForms = 4

// thing is an object class. It is drawn in the box [-½,½]² with its foot at y = ½.
type thing struct {
	name  string
	forms []string  // the first knownForms occur in reference images
	hues  []float64 // of the body in reference images
	flies bool      // placed anywhere in the image, without a shadow
	draw  func(*pen, *look)
}

var things = []thing{
	{"lantern", []string{"round", "barrel", "hexagonal", "bell", "star", "stacked"}, []float64{4, 32, 354}, false,
		drawLantern},
	{"boat", []string{"lateen", "square-rigged", "two-masted", "cabin", "tub", "crescent"}, []float64{14, 24, 210},
		false, drawBoat},
	{"kite", []string{"diamond", "delta", "six-sided", "sled", "ring", "fish"}, []float64{350, 50, 210}, true,
		drawKite},
	{"kettle", []string{"round", "squat", "tall", "faceted", "cubic", "gourd"}, []float64{200, 20, 150}, false,
		drawKettle},
	{"umbrella", []string{"dome", "flat", "pagoda", "bell", "square", "inverted"}, []float64{340, 220, 40}, false,
		drawUmbrella},
	{"drum", []string{"tall", "wide", "goblet", "barrel", "cubic", "double-cone"}, []float64{12, 30, 355}, false,
		drawDrum},
	{"mushroom", []string{"capped", "broad", "pointed", "clustered", "funnel", "tiered"}, []float64{2, 24, 40}, false,
		drawMushroom},
	{"windmill", []string{"tapered", "post", "wheel", "domed", "twin", "disc"}, []float64{20, 40, 200}, false,
		drawWindmill},
}

func findThing(name string) *thing {
	for i := range things {
		if things[i].name == name {
			return &things[i]
		}
	}
	return nil
}

// form returns the index of a form's name, -1 for an unknown form.
func (t *thing) form(name string) int {
	return slices.Index(t.forms, name)
}

// look holds the form and the colors of one object.
type look struct {
	form                     int
	body, dark, pale         color.NRGBA // the body, its shaded and its lit side
	trim, trimDark           color.NRGBA // cloth, bands
	wood, ink                color.NRGBA // sticks, outlines
	count                    int         // of repeated details: ribs, spots, bands
	wide                     float64     // about 1: stretches the form
	bright, patterned, extra bool        // optional details
}

func newLook(p *pen, t *thing, isl *island, form int) *look {
	hue := t.hues[p.r.IntN(len(t.hues))] + p.between(-7, 7)
	sat, light := p.between(0.55, 0.80)*(0.55+0.45*isl.vivid), p.between(0.46, 0.60)
	if form >= knownForms { // these forms also have a color that no reference image of the object has
		hue, sat, light = hue+p.between(75, 110), 0.80, p.between(0.42, 0.62)
	}
	k := &look{form: form, body: hsl(hue, sat, light)}
	k.dark, k.pale = darker(k.body, 0.34), lighter(k.body, 0.42)
	k.trim = hsl(isl.accent+p.between(-10, 10), 0.30+0.3*isl.vivid, p.between(0.70, 0.84))
	k.trimDark = darker(k.trim, 0.32)
	k.wood = hsl(28+p.between(-8, 8), 0.36, p.between(0.30, 0.44))
	k.ink = darker(k.body, 0.66)
	k.count = 3 + p.r.IntN(3)
	k.wide = p.between(0.90, 1.10)
	k.bright, k.patterned, k.extra = p.chance(0.5), p.chance(0.5), p.chance(0.5)
	return k
}

func drawLantern(p *pen, k *look) {
	p.DrawEllipse(0, -0.43, 0.07, 0.07)
	p.stroke(k.ink, 0.025)
	w := 0.32 * k.wide
	glow := hsl(46, 1, 0.80)
	switch k.form {
	case 0:
		p.oval(k.body, 0, 0.03, w, 0.33)
		p.oval(k.pale, -w*0.25, -0.03, w*0.45, 0.22)
		for i := range k.count {
			u := (float64(i)+0.5)/float64(k.count)*2 - 1
			p.MoveTo(u*w*0.35, -0.28)
			p.QuadraticTo(u*w*1.7, 0.03, u*w*0.35, 0.34)
			p.stroke(k.dark, 0.018)
		}
	case 1:
		p.pill(k.body, -w*0.85, -0.30, w*1.7, 0.66, 0.12)
		p.pill(glow, -w*0.5, -0.16, w, 0.38, 0.08)
		for i := range k.count {
			y := -0.22 + 0.52*float64(i)/float64(k.count-1)
			p.line(k.dark, 0.02, -w*0.85, y, w*0.85, y)
		}
	case 2:
		p.poly(k.body, -w*0.55, -0.30, w*0.55, -0.30, w*1.1, 0.03, w*0.55, 0.36, -w*0.55, 0.36, -w*1.1, 0.03)
		p.poly(glow, -w*0.25, -0.22, w*0.25, -0.22, w*0.36, 0.03, w*0.25, 0.28, -w*0.25, 0.28, -w*0.36, 0.03)
		p.line(k.dark, 0.02, -w*0.55, -0.30, -w*0.36, 0.03, -w*0.55, 0.36)
		p.line(k.dark, 0.02, w*0.55, -0.30, w*0.36, 0.03, w*0.55, 0.36)
		p.line(k.dark, 0.02, -w*1.1, 0.03, w*1.1, 0.03)
	case 3:
		p.blob(k.body, -w*0.5, -0.36, w*0.5, -0.36, w*0.7, 0.05, w*1.5, 0.44, -w*1.5, 0.44, -w*0.7, 0.05)
		p.blob(glow, -w*0.2, -0.18, w*0.2, -0.18, w*0.6, 0.32, -w*0.6, 0.32)
		p.line(k.dark, 0.025, -w*1.05, 0.30, w*1.05, 0.30)
	case 4:
		p.star(k.body, 5, 0, 0.05, 0.46, 0.20)
		p.star(k.dark, 5, 0, 0.05, 0.26, 0.12)
		p.oval(glow, 0, 0.05, 0.09, 0.09)
	default:
		for i := range 3 {
			y := -0.24 + 0.27*float64(i)
			p.poly(k.body, 0, y-0.17, 0.34, y, 0, y+0.17, -0.34, y)
			p.poly(k.dark, 0, y-0.17, 0.34, y, 0, y+0.17)
			p.oval(glow, 0, y, 0.07, 0.06)
		}
	}
	if k.form < knownForms {
		p.pill(k.trimDark, -w*0.6, -0.37, w*1.2, 0.09, 0.03)
		p.pill(k.trimDark, -w*0.6, 0.34, w*1.2, 0.08, 0.03)
		if k.extra {
			for i := range 3 {
				x := (float64(i) - 1) * 0.06
				p.line(k.trim, 0.022, x, 0.42, x, 0.5)
			}
		}
	}
}

func drawBoat(p *pen, k *look) {
	hull := func(bow float64) {
		p.blob(k.body, -0.52, 0.14, -0.50, 0.12, 0.50, 0.12, 0.56, 0.12-bow, 0.42, 0.52, -0.34, 0.52)
		p.line(k.trim, 0.035, -0.46, 0.20, 0.46, 0.20-bow*0.5)
		if k.patterned {
			p.line(k.dark, 0.03, -0.38, 0.33, 0.40, 0.33)
		}
	}
	sail := k.trim
	if k.bright {
		sail = hsl(46, 0.45, 0.92)
	}
	switch k.form {
	case 0:
		p.line(k.wood, 0.035, -0.04, 0.16, -0.04, -0.48)
		p.blob(sail, -0.02, -0.50, 0.02, -0.50, 0.46*k.wide, 0.10, 0.40, 0.10, -0.02, 0.10)
		p.poly(darker(sail, 0.12), -0.08, -0.40, -0.08, 0.08, -0.36*k.wide, 0.08)
		hull(0.05)
	case 1:
		p.line(k.wood, 0.035, 0, 0.16, 0, -0.50)
		p.pill(sail, -0.30*k.wide, -0.42, 0.60*k.wide, 0.48, 0.05)
		for i := range k.count {
			if i%2 == 0 {
				p.box(k.body, -0.30*k.wide+0.60*k.wide*float64(i)/float64(k.count), -0.42, 0.60*k.wide/float64(k.count),
					0.48)
			}
		}
		hull(0)
	case 2:
		for i, x := range []float64{-0.20, 0.14} {
			h := 0.44 - 0.12*float64(i)
			p.line(k.wood, 0.03, x, 0.16, x, 0.10-h-0.06)
			p.poly(sail, x+0.02, 0.08, x+0.02, 0.08-h, x+0.27*k.wide, 0.08)
			p.poly(darker(sail, 0.15), x-0.02, 0.08, x-0.02, 0.12-h, x-0.16*k.wide, 0.08)
		}
		hull(0.03)
	case 3:
		p.pill(k.trim, -0.28, -0.16, 0.46*k.wide, 0.34, 0.03)
		p.pill(k.trimDark, -0.32, -0.20, 0.54*k.wide, 0.07, 0.03)
		for i := range 2 {
			p.oval(hsl(200, 0.4, 0.35), -0.18+0.2*float64(i), -0.02, 0.05, 0.05)
		}
		p.poly(k.dark, 0.02, -0.20, 0.03, -0.42, 0.13, -0.42, 0.14, -0.20)
		hull(0.06)
	case 4:
		p.blob(k.body, -0.44, 0.02, 0.44, 0.02, 0.40, 0.56, -0.40, 0.56)
		for i := range 4 {
			x := -0.24 + 0.16*float64(i)
			p.line(k.dark, 0.02, x, 0.08, x*0.8, 0.48)
		}
		p.line(k.wood, 0.03, 0, 0.06, 0, -0.36)
		p.oval(sail, 0, -0.26, 0.22, 0.22)
		p.oval(k.dark, 0, -0.26, 0.12, 0.12)
	default:
		p.blob(k.body, -0.50, -0.36, -0.46, -0.36, -0.34, 0.22, 0, 0.30, 0.34, 0.22, 0.46, -0.36, 0.50, -0.36, 0.46,
			0.54, 0, 0.50, -0.46, 0.54)
		p.oval(k.pale, 0, 0.02, 0.13, 0.20)
		p.oval(k.dark, 0, -0.24, 0.09, 0.09)
	}
}

func drawKite(p *pen, k *look) {
	tail := func(x, y float64) {
		p.MoveTo(x, y)
		p.CubicTo(x+0.14, y+0.06, x-0.16, y+0.14, x+0.02, 0.5)
		p.stroke(k.ink, 0.016)
		for i := range k.count {
			t := (float64(i) + 1) / float64(k.count)
			ty := y + (0.48-y)*t
			p.poly(k.trim, x, ty, x-0.07, ty-0.035, x-0.07, ty+0.035)
			p.poly(k.trimDark, x, ty, x+0.07, ty-0.035, x+0.07, ty+0.035)
		}
	}
	w := 0.33 * k.wide
	switch k.form {
	case 0:
		tail(0, 0.22)
		p.poly(k.body, 0, -0.50, w, -0.14, 0, 0.26, -w, -0.14)
		p.poly(k.trim, 0, -0.50, w, -0.14, 0, -0.14)
		p.poly(k.pale, 0, -0.14, -w, -0.14, 0, 0.26)
	case 1:
		tail(0, 0.10)
		p.poly(k.body, 0, -0.46, 0.50*k.wide, 0.16, 0.10, 0.08, 0, 0.16, -0.10, 0.08, -0.50*k.wide, 0.16)
		p.poly(k.trim, 0, -0.46, 0.20, 0.10, 0.10, 0.08, 0, 0.16)
		p.poly(k.dark, 0, -0.46, -0.50*k.wide, 0.16, -0.30, 0.12)
	case 2:
		tail(0, 0.28)
		p.poly(k.body, 0, -0.48, w, -0.28, w, 0.10, 0, 0.30, -w, 0.10, -w, -0.28)
		p.oval(k.trim, 0, -0.09, 0.17, 0.17)
		p.oval(k.dark, 0, -0.09, 0.08, 0.08)
		p.line(k.ink, 0.014, 0, -0.48, 0, 0.30)
	case 3:
		tail(-0.18, 0.22)
		tail(0.18, 0.22)
		p.poly(k.body, -0.22, -0.42, 0.22, -0.42, 0.44*k.wide, -0.16, 0.22, 0.26, -0.22, 0.26, -0.44*k.wide, -0.16)
		p.box(k.trim, -0.22, -0.42, 0.13, 0.68)
		p.box(k.trim, 0.09, -0.42, 0.13, 0.68)
		p.box(k.pale, -0.09, -0.42, 0.18, 0.2)
	case 4:
		p.DrawEllipse(0, 0, 0.34, 0.34)
		p.stroke(k.body, 0.22)
		p.DrawEllipse(0, 0, 0.34, 0.34)
		p.stroke(k.dark, 0.05)
		for i := range 6 {
			p.star(k.pale, 4, 0.34*cosTurn(i, 6), 0.34*sinTurn(i, 6), 0.08, 0.03)
		}
	default:
		p.blob(k.body, -0.50, 0, -0.30, -0.26, 0.10, -0.30, 0.28, 0, 0.10, 0.30, -0.30, 0.26)
		p.poly(k.dark, 0.14, 0, 0.50, -0.28, 0.40, 0, 0.50, 0.28)
		for i := range 3 {
			x := -0.20 + 0.13*float64(i)
			p.MoveTo(x, -0.18)
			p.QuadraticTo(x+0.10, 0, x, 0.18)
			p.stroke(k.pale, 0.03)
		}
		p.oval(hsl(50, 0.5, 0.95), -0.31, -0.05, 0.06, 0.06)
		p.oval(k.ink, -0.31, -0.05, 0.03, 0.03)
	}
}
